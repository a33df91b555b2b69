"""
A scenario: a node, pods with demands, policies, and what goes wrong when. Read from one document into one frozen value, or refused with everything that is wrong with it.

The format is fixed (docs/simulate.md); others write scenarios of their own. Nothing here opens a file: policies and traces that stand beside a scenario come as texts from whoever
reads it. What a pod, a policy or a configuration key may say is not decided here either: their own readers are asked.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from slackwater.agent.configuration import Configuration, Layers, Setting
from slackwater.agent.configuration_file import SECTIONS, meant, taken
from slackwater.agent.configuration_keys import KEYS, Unfit
from slackwater.agent.configuration_layers import for_node
from slackwater.api import documents, quantity
from slackwater.api.documents import Document
from slackwater.api.manifests.fields import Fields, Findings
from slackwater.api.manifests.loading import Item, Loaded, Object, load, load_part
from slackwater.api.objects import Node, Pod, Policy
from slackwater.api.problems import Problem, Severity
from slackwater.api.units import Bytes, Millicores, Seconds, Wall
from slackwater.metrics.builtin import BUILTIN
from slackwater.sim import curves, mishaps, workloads
from slackwater.sim.curves import Measure, Opened
from slackwater.sim.demand import DAY
from slackwater.sim.mishaps import Fault, Known
from slackwater.sim.workloads import Workload
from slackwater.sim.world import BEGINNING, CPU, MEMORY

API_VERSION, KIND = "slackwater.dev/v1alpha1", "Scenario"
SHORTEST_TICK, LONGEST_TICK = 0.1, 3600.0
MOST_TICKS = 10_000_000


class Manifests(Struct, frozen=True):
    """Policies, actions, PodQOS objects and perhaps the node, and where they came from."""

    name: str
    items: tuple[Item, ...] = ()

    @property
    def objects(self) -> tuple[Object, ...]:
        return tuple(found for item in self.items for found in item.objects)


class Scenario(Struct, frozen=True, kw_only=True):
    name: str
    duration: Seconds
    configuration: Configuration
    seed: int
    start: Wall
    node: Node
    cpu: Millicores
    memory: Bytes
    workloads: tuple[Workload, ...]
    policies: Manifests
    faults: tuple[Fault, ...]

    @property
    def tick(self) -> Seconds:
        return self.configuration.tick_seconds

    @property
    def ticks(self) -> int:
        return int(self.duration / self.tick + 1e-9)


class Read(Struct, frozen=True):
    scenario: Scenario | None  # None: an error stands among the problems
    problems: tuple[Problem, ...]


def read(text: str, file: str, opened: Opened, seed: int | None = None) -> Read:
    """`seed` stands over the scenario's own."""
    found = list(documents.read(text, file))
    broken = tuple(one.problem for one in found if one.problem is not None)
    if broken or len(found) != 1:
        return Read(None, broken or (_not_one(file, len(found)),))
    findings = Findings()
    scenario = _Reading(found[0], findings, opened, seed).scenario()
    return Read(None if findings.errors else scenario, tuple(findings.problems))


def manifests(text: str, name: str) -> tuple[Manifests, tuple[Problem, ...]]:
    """A file of policies that is to stand in place of a scenario's own."""
    loaded = load(text, name)
    return Manifests(name, loaded.items), loaded.problems


def _not_one(file: str, number: int) -> Problem:
    found = f"holds {number} documents" if number else "holds no document"
    return documents.unread(file, found, "a scenario is one document; its policies stand below spec.policies")


class _Reading:
    """One reading of one document."""

    def __init__(self, document: Document, findings: Findings, opened: Opened, seed: int | None) -> None:
        value = document.value
        self.top = Fields(document, value if isinstance(value, dict) else {}, findings)
        self.document, self.findings, self.opened, self.seed = document, findings, opened, seed
        if not isinstance(value, dict):
            self.top.error(None, "is no scenario", f"write apiVersion: {API_VERSION} and kind: {KIND}", value)

    def scenario(self) -> Scenario | None:
        if not self._is_one():
            return None
        spec = self.top.inside("spec")
        if spec is None:
            if not self.top.has("spec"):
                self.top.error("spec", "is missing", "write spec: with duration: and workloads: below it")
            return None
        spec.known(("duration", "tickSeconds", "seed", "start", "node", "workloads", "policies", "config", "faults"))
        return self._whole(spec)

    def _is_one(self) -> bool:
        before = self.findings.errors
        for key, expected in (("apiVersion", API_VERSION), ("kind", KIND)):
            if self.top.values and self.top.get(key) != expected:
                self.top.error(
                    key, f"is not that of a {KIND}", f"write {key}: {expected}", self.top.get(key) or "nothing"
                )
        self.top.known(("apiVersion", "kind", "metadata", "spec"))
        return self.findings.errors == before and bool(self.top.values)

    def _whole(self, spec: Fields) -> Scenario:
        tick, start = self._tick(spec), self._start(spec)
        node, cpu, memory = self._node(spec)
        seed = spec.whole("seed", 1) if self.seed is None else self.seed
        midnight = Seconds(-(float(start) % DAY))
        setting = curves.Setting(midnight, tick, seed, self.opened)
        listed = workloads.read(spec, (_of_cpu(cpu), _of_memory(memory)), setting)
        policies = self._policies(spec)
        described = [one for one in policies.objects if isinstance(one, Node)]
        if described and not spec.has("node"):
            node = described[-1]
            cpu, memory = node.cpu or cpu, node.memory or memory
        metadata = self.top.inside("metadata")
        return Scenario(
            name=metadata.text("name", "scenario") if metadata is not None else "scenario",
            duration=self._duration(spec, tick),
            configuration=self._configuration(spec, tick),
            seed=seed,
            start=start,
            node=node,
            cpu=cpu,
            memory=memory,
            workloads=listed,
            policies=policies,
            faults=tuple(self._faults(spec, listed, policies)),
        )

    def _duration(self, spec: Fields, tick: Seconds) -> Seconds:
        duration = spec.duration("duration")
        if duration is None:
            if not spec.has("duration"):
                spec.error("duration", "is missing", "write how long it is to run: 2h")
            return tick
        if not 1 <= duration / tick <= MOST_TICKS:
            spec.error(
                "duration",
                f"is not from one tick to {MOST_TICKS} of them",
                f"a tick is {tick:g} s",
                spec.get("duration"),
            )
        return duration

    def _tick(self, spec: Fields) -> Seconds:
        value = spec.get("tickSeconds")
        if value is None:
            return Seconds(10.0)
        sound = isinstance(value, int | float) and not isinstance(value, bool)
        if not sound or not SHORTEST_TICK <= value <= LONGEST_TICK:
            spec.error("tickSeconds", "is no tick", f"write seconds from {SHORTEST_TICK:g} to {LONGEST_TICK:g}", value)
            return Seconds(10.0)
        return Seconds(float(value))

    def _start(self, spec: Fields) -> Wall:
        written = spec.text("start")
        if not written:
            return BEGINNING
        try:
            at = datetime.fromisoformat(written)
        except ValueError:
            at = None
        if at is None or at.tzinfo is None:
            spec.error("start", "is not a time", 'write it as "2026-03-02T08:00:00Z"', written)
            return BEGINNING
        return Wall(at.timestamp())

    def _node(self, spec: Fields) -> tuple[Node, Millicores, Bytes]:
        fields = spec.inside("node")
        if fields is None:
            return Node(name="node", cpu=CPU, memory=MEMORY), CPU, MEMORY
        fields.known(("name", "cpu", "memory", "labels", "annotations", "gocrane.io/cpu"))
        cpu, memory, elastic = (_capacity(fields, key) for key in ("cpu", "memory", "gocrane.io/cpu"))
        cores = CPU if cpu is None else quantity.millicores(cpu)
        size = MEMORY if memory is None else quantity.whole_bytes(memory)
        node = Node(
            name=fields.text("name", "node"),
            labels=fields.named_texts("labels"),
            annotations=fields.named_texts("annotations"),
            cpu=cores,
            memory=size,
            elastic_cpu=None if elastic is None else quantity.millicores(elastic),
        )
        return node, cores, size

    def _policies(self, spec: Fields) -> Manifests:
        items: list[Item] = []
        for index, entry in enumerate(spec.entries("policies")):
            items += self._manifests(spec, ("policies", index), entry).items
        for item in items:
            for found in item.objects:
                if isinstance(found, Pod):
                    spec.error("policies", "holds a Pod", "pods come by workloads", f"{item.file}:{item.line}")
        return Manifests("its own policies", tuple(items))

    def _manifests(self, around: Fields, steps: Sequence[str | int], entry: Any) -> Loaded:
        """A file beside the scenario, or a document in place; what is wrong with it is wrong with the scenario."""
        *above, last = steps
        listed = Fields(self.document, {}, self.findings, (*around.path, *above))
        if isinstance(entry, dict):
            loaded = load_part(self.document, entry, (*listed.path, last))
        elif isinstance(entry, str):
            text = self.opened(entry)
            if isinstance(text, Problem):
                listed.error(last, f"the file {text.message}", text.remedy, entry)
                return Loaded()
            loaded = load(text, entry)
        else:
            listed.error(last, "is no policy", "name a file beside this one, or write the document in place", entry)
            return Loaded()
        for problem in loaded.problems:
            self.findings.add(problem)
        return loaded

    def _configuration(self, spec: Fields, tick: Seconds) -> Configuration:
        config = spec.inside("config")
        settings = tuple(self._settings(config, "")) if config is not None else ()
        said = [one for one in settings if one.path == "tickSeconds" and one.value != tick]
        if said and config is not None:
            config.error(
                "tickSeconds",
                f"is not the scenario's, {tick:g}",
                "write spec.tickSeconds alone",
                config.get("tickSeconds"),
            )
        settings = (*settings, Setting("tickSeconds", tick, "spec.tickSeconds"))
        # Laid once, for nothing of it differs by node.
        return replace(for_node(Configuration(layers=Layers(file=settings)), {}), layers=Layers())

    def _settings(self, fields: Fields, above: str) -> Iterator[Setting]:
        for name, value in fields.values.items():
            path = above + name
            if path in SECTIONS:
                inside = fields.inside(name)
                yield from self._settings(inside, f"{path}.") if inside is not None else ()
            elif path not in KEYS:
                fields.error(name, "is no key", meant(path), value)
            elif value is not None:
                try:
                    yield Setting(path, taken(KEYS[path], value), f"{self.document.file}:{fields.line(name)}")
                except Unfit as unfit:
                    fields.error(name, "cannot be used", f"write {unfit}", value)

    def _faults(self, spec: Fields, listed: Sequence[Workload], policies: Manifests) -> Iterator[Fault]:
        known = Known(
            pods=tuple(pod.key for workload in listed for pod in workload.pods),
            policies=tuple(one.name for one in policies.objects if isinstance(one, Policy)),
            metrics=tuple(BUILTIN.metrics),
        )
        for index, fields in enumerate(spec.each("faults")):
            to = self._manifests(fields, ("to",), fields.get("to")).objects if fields.has("to") else ()
            if fields.has("to") and to and not any(isinstance(one, Policy) for one in to):
                fields.error("to", "holds no policy", "write the policy that comes in its place", f"faults[{index}]")
            fault = mishaps.read(fields, known, to)
            if fault is not None:
                yield fault


def _capacity(fields: Fields, key: str) -> quantity.Quantity | None:
    amount = fields.quantity(key)
    if amount is not None and amount <= 0:
        fields.error(key, "is not above zero", "write what the node has", fields.get(key))
        return None
    return amount


def _of_cpu(whole: Millicores) -> Measure:
    return Measure(key="cpu", factor=1000, unit="cores", whole=float(whole), example="1.5")


def _of_memory(whole: Bytes) -> Measure:
    return Measure(key="memory", factor=1, unit="bytes", whole=float(whole), example="2Gi")


def errors(problems: Sequence[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.severity is Severity.ERROR]

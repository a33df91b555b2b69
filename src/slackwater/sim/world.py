"""
A simulation: a node, its pods and a cluster in memory, and the agent's real tick over them.

This is the one door to the room. Give it manifests or objects, give each pod a demand, let ticks pass, and look at what came of it; the agent is `agent.tick` itself, with its
real start, on edges that never leave the process. The same calls give the same run: nothing here draws a number or looks at a clock.

    simulation = Simulation(cpu=Millicores(8000))
    simulation.apply(text_of_policies_and_actions)
    simulation.add(pods_in(text_of_pods)[0], constant(Millicores(4000)))
    simulation.run(ticks=30)
    simulation.decisions, simulation.throttled, simulation.usage

What can go wrong is part of it: `kill` and `faults` end the agent between any two of its writes, `clock.jump` moves the calendar, `journal.lose` and `journal.refuses` are a
bad disk, `hide_usage` and `node.hides_cpu` counters that cannot be read, `cluster.refuse_evictions` and `cluster.unreachable` a bad day of the API server.
"""

from slackwater.agent import life
from slackwater.agent.carried import Carried
from slackwater.agent.configuration import Configuration
from slackwater.agent.edges import Edges, NoPackages, Packages
from slackwater.agent.tick import tick
from slackwater.api.manifests.loading import load
from slackwater.api.objects import AvoidanceAction, Node, Pod, PodQos, Policy
from slackwater.api.units import Bytes, Millicores, Seconds, Wall
from slackwater.claims.claim import Throttled
from slackwater.decide.plan import Decision
from slackwater.metrics.builtin import BUILTIN
from slackwater.metrics.metric import Catalogue
from slackwater.sim.clock import SimulatedClock
from slackwater.sim.demand import Demand
from slackwater.sim.faults import Died, FallibleCluster, FallibleHost, FallibleJournal, Faults
from slackwater.sim.node import SimulatedNode
from slackwater.snapshot.view import View

BEGINNING = Wall(1_772_438_400.0)
"""The second of March 2026, 08:00 UTC: a simulation has a calendar of its own."""
CPU, MEMORY = Millicores(8000), Bytes(32 << 30)
OF_A_POD = Bytes(64 << 20)
TO_WAKE = Seconds(0.1)
GRACE = Seconds(30.0)  # of a pod that does not say


class Simulation:
    def __init__(
        self,
        *,
        cpu: Millicores = CPU,
        memory: Bytes = MEMORY,
        node: Node | None = None,
        configuration: Configuration | None = None,
        start: Wall = BEGINNING,
        cgroup_version: int = 1,
        marks_work: bool = True,
        catalogue: Catalogue = BUILTIN,
        packages: Packages | None = None,
    ) -> None:
        """`catalogue` and `packages`: the metrics that rules may name, and who brought those that are not built in."""
        self.configuration = configuration or Configuration()
        self.clock = SimulatedClock(start)
        self.faults = Faults()
        self.host = FallibleHost(self.clock, version=cgroup_version, cpu=cpu, memory=memory, xattrs=marks_work)
        self.cluster = FallibleCluster(wall=self.clock.wall)
        self.journal = FallibleJournal()
        self.host.faults = self.cluster.faults = self.journal.faults = self.faults
        self.node = SimulatedNode(self.clock, self.host, cpu, memory)
        self.rivals: tuple[str, ...] = ()
        self.catalogue = catalogue
        self.packages = packages or NoPackages()
        self.held: Carried | None = None  # None: no agent runs
        self._object = node or Node(name="node")
        self._policies: dict[tuple[str, str, str], Policy] = {}
        self._actions: dict[str, AvoidanceAction] = {}
        self._pod_qos: dict[tuple[str, str, str], PodQos] = {}
        self._ends: dict[str, Seconds] = {}  # when terminating pods are gone, by uid
        self._seen_evictions = 0
        self._unseen: frozenset[str] = frozenset()  # uids of pods that run, and that the cluster does not name
        self._woken_for = Seconds(0.0)  # of this interval has passed, in early wake-ups
        self._changed = True

    # What is wanted.

    def apply(self, text: str) -> None:
        """Policies, actions and PodQOS objects, in place of those of the same name; and the node. Pods come by `add`."""
        loaded = load(text, "simulation")
        for problem in loaded.problems:
            raise ValueError(str(problem))
        self.put(*loaded.objects)

    def put(self, *objects: object) -> None:
        for one in objects:
            match one:
                case Policy():
                    self._policies[one.kind, one.namespace or "", one.name] = one
                case AvoidanceAction():
                    self._actions[one.name] = one
                case PodQos():
                    self._pod_qos[one.kind, one.namespace or "", one.name] = one
                case Node():
                    self._object = one
                case _:
                    raise ValueError(f"a {type(one).__name__} is not put into a simulation; pods come by add()")
        self._changed = True

    def delete(self, name: str) -> None:
        """Every policy, action and PodQOS of this name."""
        self._policies = {key: one for key, one in self._policies.items() if one.name != name}
        self._actions = {key: one for key, one in self._actions.items() if one.name != name}
        self._pod_qos = {key: one for key, one in self._pod_qos.items() if one.name != name}
        self._changed = True

    def delete_policy(self, name: str) -> None:
        """The policies of this name, and nothing else that is called so."""
        self._policies = {key: one for key, one in self._policies.items() if one.name != name}
        self._changed = True

    # Who is there.

    def add(self, pod: Pod, demand: Demand, memory: Bytes | Demand = OF_A_POD) -> Pod:
        """It runs at once; the pod with its uid and container ids comes back."""
        self._changed = True
        return self.node.place(pod, demand, memory)

    def remove(self, key: str) -> None:
        """As by `kubectl delete --now`: it is gone before the next tick."""
        self._gone(self.pod(key).uid)

    def restart(self, key: str) -> Pod:
        """Its containers begin anew, in new groups."""
        self._changed = True
        return self.node.restart(self.pod(key).uid)

    def hide_usage(self, key: str, hidden: bool = True) -> None:
        """From now on nobody can read what it uses; or everybody again."""
        self.node.placed(self.pod(key).uid).hidden = hidden

    def lose_sight(self, key: str, unseen: bool = True) -> None:
        """From now on the cluster does not name it, though it runs; or names it again."""
        uid = self.pod(key).uid
        self._unseen = self._unseen | {uid} if unseen else self._unseen - {uid}
        self._changed = True

    def pod(self, key: str) -> Pod:
        """The newest of that namespace/name."""
        return next(pod for pod in reversed(self.node.pods) if pod.key == key)

    # What happens.

    def run(self, ticks: int) -> None:
        for _ in range(ticks):
            self.tick()

    def tick(self, *, agent: bool = True) -> None:
        """One interval passes, and the agent looks at what it brought; `agent` False: it is away."""
        self._pass(Seconds(max(0.0, self.configuration.tick_seconds - self._woken_for)))
        self._woken_for = Seconds(0.0)
        for uid in [uid for uid, at in self._ends.items() if at <= self.clock.elapsed]:
            self._gone(uid)
        self._show()
        if agent:
            self._agent(look=True)

    def wake(self) -> None:
        """The agent is woken early in the interval, as by a changed policy."""
        self._pass(TO_WAKE)
        self._woken_for = Seconds(self._woken_for + TO_WAKE)
        self._show()
        self._agent(look=False)

    def remove_pod(self, uid: str) -> None:
        """That one, whoever else bears its name."""
        self._gone(uid)

    def look_again(self) -> None:
        """After a tick that failed somewhere in the middle, as the agent's loop does."""
        if self.held is not None:
            self.held = life.looked_again(self.host, self.held)

    def kill(self) -> None:
        """As by SIGKILL between two ticks; the next tick starts another."""
        self.held = None

    def stop(self) -> bool:
        """As by SIGTERM: all is given back. Whether it could be."""
        held, self.held = self.held, None
        return held is None or life.give_back(self._edges(), held, self.configuration, "the agent ended")

    # What came of it.

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Oldest first, as the journal has them."""
        return self.journal.decisions

    @property
    def throttled(self) -> tuple[Throttled, ...]:
        return self.held.memory.throttled if self.held else ()

    @property
    def usage(self) -> Millicores:
        """Of the node, over the last interval."""
        return self.node.usage

    @property
    def view(self) -> View:
        """As the cluster shows it now."""
        return self.cluster.view(self.clock.instant())

    # Inside.

    def _edges(self) -> Edges:
        return Edges(
            host=self.host,
            cluster=self.cluster,
            journal=self.journal,
            clock=self.clock,
            rivals=lambda: self.rivals,
            packages=self.packages,
        )

    def _agent(self, *, look: bool) -> None:
        try:
            if self.held is None:
                self.held = life.begun(self.host, self.journal, self.clock.begin_life())
            self.held = tick(self._edges(), self.held, self.configuration, self.catalogue, look=look)
        except Died:
            self.held = None
        self._take_evictions()

    def _pass(self, by: Seconds) -> None:
        self.node.advance(by)
        self.clock.advance(by)

    def _take_evictions(self) -> None:
        """As kubelet would: who is asked to go has its grace."""
        for asked in self.cluster.evictions[self._seen_evictions :]:
            grace = asked.grace if asked.grace is not None else asked.pod.grace
            self._ends[asked.pod.uid] = Seconds(self.clock.elapsed + (GRACE if grace is None else grace))
            self.node.change(
                next(pod for pod in self.cluster.view(self.clock.instant()).pods if pod.uid == asked.pod.uid)
            )
        self._seen_evictions = len(self.cluster.evictions)

    def _gone(self, uid: str) -> None:
        self._ends.pop(uid, None)
        self.node.end(uid)
        self._changed = True

    def _show(self) -> None:
        if not self._changed:
            return
        self._changed = False
        self.cluster.set_view(
            View(
                complete=True,
                node=self._object,
                pods=tuple(pod for pod in self.node.pods if pod.uid not in self._unseen),
                policies=tuple(self._policies.values()),
                actions=dict(self._actions),
                pod_qos=tuple(self._pod_qos.values()),
            )
        )


def pods_in(text: str) -> tuple[Pod, ...]:
    """The pods of a text of manifests, as the API server would default them."""
    return tuple(one for one in load(text, "pods").objects if isinstance(one, Pod))

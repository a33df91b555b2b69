"""
The promises, held against what was really done: to the groups, to the pods, to the node, at every tick of a simulation.

What is looked at is the world and not the agent: writes that the host took, evictions that the cluster took, what stands in a group without a mark. Only for *how much* was to be
released are the agent's decisions read. What may be true between a fault and its repair (a dead agent's claims, a knob that the kernel refuses) is not held against anybody.
"""

from collections.abc import Sequence

from slackwater.agent.configuration import Mode
from slackwater.agent.observing import mode_of
from slackwater.api.objects import Pod, QosClass, Strategy
from slackwater.decide.plan import ActionKind, Decision
from slackwater.host.twin import Write
from slackwater.sim.node import Placed
from slackwater.sim.result import Broken
from slackwater.sim.touchable import may_touch, protected
from slackwater.sim.world import Simulation
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Knob

LIKE_ENOUGH = 1e-6  # of a gap: how far sums of fractions may be off
ONE_UNIT = {"millicores": 1.0, "percent": 0.05}  # quotas are whole millicores
MOST = 100  # broken promises that are told


class Promises:
    """Looks at a simulation after each of its ticks."""

    def __init__(self, simulation: Simulation) -> None:
        self.broken: list[Broken] = []
        self._simulation = simulation
        self._evictions = 0
        self._touched: set[GroupId] = set()  # what has been written and is not at its base again

    def look(self, decisions: Sequence[Decision], *, undisturbed: bool) -> None:
        """`undisturbed`: the agent ran this tick to its end, and nothing refused it anything."""
        host = self._simulation.host
        for write in host.writes:
            self._write(write)
        for group in {write.group for write in host.writes}:
            self._unmarked(group)
        host.writes.clear()
        for eviction in self._simulation.cluster.evictions[self._evictions :]:
            self._eviction(eviction.pod)
        self._evictions = len(self._simulation.cluster.evictions)
        for decision in decisions:
            self._amount(decision)
        if undisturbed and self._touched and not self._actions(throttles=True):
            self._all_back()

    def end(self) -> None:
        """The agent is ended as by SIGTERM, after one more tick if none runs now: all must be as kubelet had it."""
        simulation = self._simulation
        if simulation.held is None:
            simulation.tick()
        if not simulation.stop() or simulation.node.differing() or simulation.cluster.scheduling.disabled:
            left = "; ".join(simulation.node.differing()[:5]) or "the node is still closed"
            self._tell("an agent that ends gives everything back", left)

    def _all_back(self) -> None:
        for group in list(self._touched):
            self._unmarked(group)
        if self._touched:
            left = f"{len(self._touched)} groups are not at base"
            self._tell("what was throttled comes back when its cause is gone", left)

    def _tell(self, promise: str, what: str) -> None:
        if len(self.broken) < MOST:
            self.broken.append(Broken(self._simulation.clock.elapsed, promise, what))

    def failed(self, error: Exception) -> None:
        self._tell("no tick fails", f"{type(error).__name__}: {error}")

    # Who was touched.

    def _write(self, write: Write) -> None:
        group = write.group
        if not self._simulation.node.runs(group.pod):
            return
        placed = self._simulation.node.placed(group.pod)
        self._touched.add(group)
        if write.knob is Knob.WEIGHT:
            self._weight(write, placed)
            return
        base = next((one.quota for one in placed.containers if one.id == group), None)
        lowered = write.after is not None and (base is None or write.after < base)
        if lowered and not self._may(placed.pod, evict=False):
            self._tell("nothing is taken from a pod that is not eligible", f"{placed.pod.key}: quota {write.after}")

    def _weight(self, write: Write, placed: Placed) -> None:
        after, base = write.after or 0, placed.weight
        if after < base and not self._may(placed.pod, evict=False):
            self._tell("nothing is taken from a pod that is not eligible", f"{placed.pod.key}: weight {after}")
        if after > base and (placed.pod.qos_class is not QosClass.GUARANTEED or not self._actions(throttles=True)):
            self._tell("only a Guaranteed pod is lifted", f"{placed.pod.key}: weight {after}, not {base}")

    def _eviction(self, pod: Pod) -> None:
        if not self._may(pod, evict=True):
            self._tell("nothing is taken from a pod that is not eligible", f"{pod.key} was evicted")

    def _may(self, pod: Pod, *, evict: bool) -> bool:
        namespaces = self._simulation.configuration.protected_namespaces
        qos = self._simulation.view.pod_qos
        return any(
            may_touch(pod, action, qos, namespaces, evict=evict)
            for action in self._actions(throttles=not evict)
            if not protected(pod, namespaces)
        )

    def _actions(self, *, throttles: bool) -> set[str]:
        """The names that real rules on this node give of actions that throttle, or evict."""
        view = self._simulation.view
        if mode_of(view, self._simulation.configuration, self._simulation.rivals)[0] is not Mode.ACT:
            return set()
        return {
            rule.action
            for policy in view.policies
            if policy.selector is None or policy.selector.matches(view.node.labels)
            for rule in policy.rules
            if rule.strategy is Strategy.NONE and (action := view.actions.get(rule.action)) is not None
            if (action.throttles if throttles else action.eviction is not None)
        }

    def _unmarked(self, group: GroupId) -> None:
        if not self._simulation.node.runs(group.pod):
            self._touched.discard(group)
            return
        placed = self._simulation.node.placed(group.pod)
        held = self._simulation.host.groups().get(group)
        if held is None:
            self._touched.discard(group)
            return
        quota_at_base = any(one.id == group and one.quota == held.quota for one in placed.containers)
        at_base = held.weight == placed.weight if group.of_pod else quota_at_base
        if at_base and held.mark is None:
            self._touched.discard(group)
        if not at_base and held.mark is None:
            self._tell("no group is changed without a mark on it", f"{placed.pod.key}: {group}")
            self._touched.discard(group)

    # How much.

    def _amount(self, decision: Decision) -> None:
        if decision.gap is None:
            self._blind(decision)
            return
        self._widened(decision)
        expected = [one.expected or 0.0 for one in decision.operations]
        allowed = decision.gap * (1 + LIKE_ENOUGH) + ONE_UNIT.get(decision.unit, 0.0)
        if decision.action is ActionKind.THROTTLE and sum(expected) > allowed:
            self._over(decision, sum(expected))
        if decision.action is ActionKind.EVICT and sum(expected[:-1]) > allowed:
            self._over(decision, sum(expected))

    def _widened(self, decision: Decision) -> None:
        """The gap itself is no more than what is above the waterline, and the excess; what may be given back is another thing."""
        if decision.action is ActionKind.RESTORE or None in (decision.value, decision.waterline):
            return
        above = (decision.value or 0.0) - (decision.waterline or 0.0)
        excess = 1 + self._simulation.configuration.excess / 100
        if (decision.gap or 0.0) > above * excess * (1 + LIKE_ENOUGH):
            self._tell(
                "it stops at the waterline", f"a gap of {decision.gap:g} where {above:g} are above the waterline"
            )

    def _over(self, decision: Decision, released: float) -> None:
        what = f"{decision.action} for {decision.policy}/{decision.rule}: {released:g} for a gap of {decision.gap:g}"
        self._tell("it stops at the waterline", what)

    def _blind(self, decision: Decision) -> None:
        blind = decision.action is ActionKind.EVICT and decision.value is None and decision.operations
        if blind and not self._simulation.configuration.evict_on_missing_usage:
            self._tell("missing data never widen an action", f"evicted for {decision.metric}, which is missing")

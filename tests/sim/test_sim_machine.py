"""Whatever happens to a node and its agent, in whatever order: once the cause is gone, everything stands as kubelet set it, and nothing carries a mark."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sim_stories import CLOSE, COOL_DOWN, EVICT, SQUEEZE, closed, cores, node, pod, policy, unmarked, wrong

from slackwater.agent.configuration import Configuration, Mode
from slackwater.api.units import Seconds
from slackwater.decide.plan import ActionKind
from slackwater.sim.faults import death_before, refusal_of

LONGEST_WAIT = Seconds(240)
TICKS_UNTIL_CALM = 260
NAMES = ("batch-0", "batch-1", "batch-2", "batch-3")


class Node(RuleBasedStateMachine):
    @initialize(version=st.sampled_from([1, 2]))
    def begin(self, version: int) -> None:
        self.mode = Mode.ACT
        self.simulation = node(configuration=self.configured(), cgroup_version=version)
        self.strangers = 0

    def configured(self) -> Configuration:
        return Configuration(
            mode=self.mode, restore_wait_max_seconds=LONGEST_WAIT, unknown_release_seconds=Seconds(600)
        )

    @rule(ticks=st.integers(1, 12))
    def time_passes(self, ticks: int) -> None:
        self.simulation.run(ticks)

    @rule(ticks=st.integers(1, 4))
    def agent_is_away(self, ticks: int) -> None:
        self.simulation.kill()
        for _ in range(ticks):
            self.simulation.tick(agent=False)

    @rule()
    def agent_is_woken(self) -> None:
        self.simulation.wake()

    @rule(number=st.integers(1, 40))
    def agent_dies(self, number: int) -> None:
        self.simulation.faults.begin(death_before(number))
        self.simulation.tick()
        self.simulation.faults.begin()

    @rule(number=st.integers(1, 40))
    def kernel_refuses(self, number: int) -> None:
        self.simulation.faults.begin(refusal_of(number))
        self.simulation.tick()
        self.simulation.faults.begin()

    @rule(lost=st.booleans())
    def agent_starts_anew(self, lost: bool) -> None:
        # A group that refused its mark is known by the journal alone: losing both at once is more than anybody promises.
        self.simulation.kill()
        if lost and not unmarked(self.simulation):
            self.simulation.journal.lose()

    @rule(refuses=st.booleans())
    def journal_breaks_or_is_mended(self, refuses: bool) -> None:
        self.simulation.journal.refuses = refuses

    @rule(unreachable=st.booleans())
    def cluster_goes_or_comes(self, unreachable: bool) -> None:
        self.simulation.cluster.unreachable = unreachable

    @rule(hours=st.sampled_from([-1, 1]))
    def calendar_jumps(self, hours: int) -> None:
        self.simulation.clock.jump(Seconds(hours * 3600.0))

    @rule(mode=st.sampled_from(list(Mode)))
    def mode_changes(self, mode: Mode) -> None:
        self.mode = mode
        self.simulation.configuration = self.configured()
        self.simulation.run(1)
        assert mode is Mode.ACT or not self.simulation.throttled

    @rule(
        name=st.sampled_from(["waterline", "other"]),
        value=st.sampled_from([3000, 5000, 6000, 7500]),
        action=st.sampled_from(["squeeze", "evict", "close"]),
        preview=st.booleans(),
    )
    def policy_comes(self, name: str, value: int, action: str, preview: bool) -> None:
        self.simulation.put(policy(name, value=value, action=action, preview=preview), SQUEEZE, EVICT, CLOSE)

    @rule(name=st.sampled_from(["waterline", "other"]))
    def policy_goes(self, name: str) -> None:
        self.simulation.delete(name)

    @rule(
        name=st.sampled_from(NAMES), demand=st.sampled_from([0.0, 0.5, 2.0, 8.0]), limit=st.sampled_from([None, 1500])
    )
    def pod_comes(self, name: str, demand: float, limit: int | None) -> None:
        if len(self.simulation.node.pods) < 12:
            self.strangers += 1
            self.simulation.add(pod(f"{name}-{self.strangers}", limit=limit), cores(demand))

    @precondition(lambda self: len(self.simulation.node.pods) > 1)
    @rule(data=st.data())
    def pod_goes(self, data: st.DataObject) -> None:
        self.simulation.remove(data.draw(st.sampled_from([one.key for one in self.simulation.node.pods])))

    @precondition(lambda self: self.simulation.node.pods)
    @rule(data=st.data())
    def pod_restarts(self, data: st.DataObject) -> None:
        self.simulation.restart(data.draw(st.sampled_from([one.key for one in self.simulation.node.pods])))

    @precondition(lambda self: self.simulation.node.pods)
    @rule(data=st.data(), hidden=st.booleans())
    def usage_hides_or_shows(self, data: st.DataObject, hidden: bool) -> None:
        one = data.draw(st.sampled_from(self.simulation.node.pods))
        self.simulation.node.placed(one.uid).hidden = hidden

    @precondition(lambda self: self.simulation.node.pods)
    @rule(data=st.data(), unseen=st.booleans())
    def cluster_forgets_a_pod_or_remembers_it(self, data: st.DataObject, unseen: bool) -> None:
        self.simulation.lose_sight(data.draw(st.sampled_from([one.key for one in self.simulation.node.pods])), unseen)

    @rule(hidden=st.booleans())
    def metric_hides_or_shows(self, hidden: bool) -> None:
        self.simulation.node.hides_cpu = hidden

    @invariant()
    def nothing_is_released_beyond_the_gap(self) -> None:
        for one in self.simulation.decisions:
            if one.action is ActionKind.THROTTLE and one.gap is not None:
                assert sum(operation.expected or 0.0 for operation in one.operations) <= one.gap

    def teardown(self) -> None:
        """The faults end and nobody wants anything any more; first the node must hold what is claimed, then nothing may be left."""
        simulation = self.simulation
        simulation.journal.refuses = simulation.cluster.unreachable = simulation.node.hides_cpu = False
        for one in simulation.node.pods:
            simulation.hide_usage(one.key, hidden=False)
            simulation.lose_sight(one.key, unseen=False)
        simulation.run(40)
        assert not wrong(simulation)
        for one in simulation.node.pods:
            simulation.node.placed(one.uid).demand = cores(0.1)
        simulation.run(TICKS_UNTIL_CALM)
        assert simulation.node.differing() == []
        assert not simulation.throttled
        assert not closed(simulation)
        assert simulation.held is not None
        assert not simulation.held.ours.marks


TestNode = Node.TestCase
TestNode.settings = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
assert COOL_DOWN < LONGEST_WAIT

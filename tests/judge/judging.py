"""Short ways to say what a rule is and what it reads."""

from slackwater.api.objects import AvoidanceAction, CpuThrottle, Node, Policy, Rule, Strategy
from slackwater.api.units import Amount, Bytes, Instant, Millicores, Seconds
from slackwater.judge.rules import RuleInForce, rules_in_force
from slackwater.judge.states import Patience, RuleState
from slackwater.judge.verdicts import Verdict, judge
from slackwater.metrics.builtin import BUILTIN
from slackwater.metrics.reading import Element, Reading
from slackwater.metrics.samples import SampleReadings
from slackwater.snapshot.usage import Capacity
from slackwater.snapshot.view import View

CAPACITY = Capacity(Millicores(8000), Bytes(16 << 30))
SQUEEZE = AvoidanceAction(name="squeeze", cpu_throttle=CpuThrottle())
CLOSE = AvoidanceAction(name="close")
PATIENCE = Patience(stale=Seconds(300), release=Seconds(3600))
TICK = Seconds(10)


def rule(
    value: float | None = 6000,
    *,
    name: str = "cpu",
    metric: str | None = "cpu_total_usage",
    action: str = "squeeze",
    bad: int = 1,
    good: int = 1,
    preview: bool = False,
) -> Rule:
    return Rule(
        name=name,
        action=action,
        metric=metric,
        value=value,
        avoidance_threshold=bad,
        restore_threshold=good,
        strategy=Strategy.PREVIEW if preview else Strategy.NONE,
    )


def view(*rules: Rule, actions: tuple[AvoidanceAction, ...] = (SQUEEZE, CLOSE)) -> View:
    policy = Policy(kind="NodeQOS", name="waterline", rules=rules)
    return View(complete=True, node=Node(name="node"), policies=(policy,), actions={one.name: one for one in actions})


def in_force(*rules: Rule) -> tuple[RuleInForce, ...]:
    return rules_in_force(view(*rules), BUILTIN, CAPACITY)


def reads(value: float, at: float) -> SampleReadings:
    return SampleReadings({"cpu_total_usage": Reading((Element(Amount(value)),), Instant(at), TICK)})


class Judge:
    """One node's rules, judged tick after tick."""

    def __init__(self, *rules: Rule, patience: Patience = PATIENCE) -> None:
        self.rules = in_force(*rules)
        self.patience = patience
        self.states: tuple[RuleState, ...] = ()
        self.readings = SampleReadings()
        self.now = 1000.0

    def change(self, *rules: Rule) -> None:
        self.rules = in_force(*rules)

    def tick(self, value: float | None, *, seconds: float = TICK, sampled: bool = True) -> Verdict:
        """None: no newer value."""
        self.now += seconds
        if value is not None:
            self.readings = reads(value, self.now)
        verdicts = judge(self.rules, self.states, self.readings, Instant(self.now), self.patience, sampled=sampled)
        self.states = tuple(verdict.state for verdict in verdicts)
        return verdicts[0]

    def ticks(self, *values: float | None) -> Verdict:
        return [self.tick(value) for value in values][-1]

"""
Eviction: who must go so that the gap is closed, and nobody after that.

Pods that would release next to nothing come last, so that a gap does not empty a node of idle pods. Two brakes bound
it, and say so. What was refused is passed over for a while; what was accepted counts as released until its time is
over.
"""

from collections.abc import Mapping

from msgspec import Struct

from slackwater.api.objects import Pod
from slackwater.api.units import Amount, Millicores, Seconds
from slackwater.decide.act import Act, governed, who
from slackwater.decide.allowed import Allowed, sorted_out
from slackwater.decide.plan import ActionKind, Considered, Operation
from slackwater.decide.situation import Situation
from slackwater.judge.verdicts import Verdict, is_blind
from slackwater.metrics.metric import Metric

HOUR = Seconds(3600)
WORTH_EVICTING = 0.05  # of the gap
ROUNDED = 1e-6  # in any unit


class Chosen(Struct, frozen=True):
    pod: Pod
    grace: Seconds | None
    act: int  # which of the acts it belongs to


class Released(Struct, frozen=True):
    """What this tick's throttling takes already, by pod: it is not taken twice."""

    cpu: Mapping[str, Millicores]
    amounts: Mapping[str, Mapping[str, Amount]] = {}  # by pod and metric: of metrics that tell their own steps

    def of(self, pod: Pod, metric: Metric, situation: Situation) -> float:
        told = self.amounts.get(pod.uid, {}).get(metric.name, 0.0)
        cpu = self.cpu.get(pod.uid, Millicores(0))
        return metric.from_cpu(cpu, situation.capacity) if metric.from_cpu else told

    def all_of(self, metric: Metric, situation: Situation) -> float:
        if metric.from_cpu is None:
            return sum(amounts.get(metric.name, 0.0) for amounts in self.amounts.values())
        return metric.from_cpu(situation.counted(metric, self.cpu), situation.capacity)


class Evictions(Struct, frozen=True):
    chosen: tuple[Chosen, ...] = ()
    acts: tuple[Act, ...] = ()


def evict(situation: Situation, squeezed: Released) -> Evictions:
    acting = [verdict for verdict in situation.verdicts if verdict.rule.evicts and verdict.acts]
    precise = [verdict for verdict in acting if verdict.rule.metric and verdict.rule.metric.evict.quantified]
    done = Evictions()
    for metric in situation.catalogue.by_rank(v.rule.metric.name for v in precise if v.rule.metric):
        concerned = [verdict for verdict in precise if verdict.rule.metric == metric]
        done = _close(situation, metric, concerned, done, squeezed)
    for verdict in acting:
        if verdict not in precise and not done.chosen:
            done = _uncounted(situation, verdict, done)
    for verdict in situation.verdicts:
        if not done.chosen and _may_act_blind(situation, verdict):
            why = "the metric is missing and evictOnMissingUsage is set: one pod, then a cool-down"
            done = _one(situation, verdict, done, None, why)
    return done


def _uncounted(situation: Situation, verdict: Verdict, done: Evictions) -> Evictions:
    """The next pod of a metric that has candidates of its own; through another metric one, and then a cool-down."""
    own, reason = verdict.rule.metric, verdict.reason or "what an eviction releases cannot be counted in this metric"
    if own is not None and not own.indirect:
        return _one(situation, verdict, done, own, f"{reason}: one pod a tick")
    if _cools(situation, verdict):
        return done
    through = situation.through(verdict, lambda metric: metric.evict.quantified)
    return _one(situation, verdict, done, through, f"{reason}: one pod, then a cool-down")


def _close(
    situation: Situation, metric: Metric, concerned: list[Verdict], done: Evictions, squeezed: Released
) -> Evictions:
    governing, also = governed(concerned)
    candidates, considered = sorted_out(situation, metric, concerned, evicts=True)
    told: dict[str, Considered] = {}
    chosen = list(done.chosen)
    gap, stopped = Amount(0), ""
    for waterline in sorted({verdict.rule.rule.value or 0.0 for verdict in concerned}, reverse=True):
        gap = Amount(_gap(situation, metric, governing, waterline, squeezed))
        taken = sum(_release(situation, metric, one.pod, squeezed) or 0.0 for one in chosen)
        allowed, stopped = [one for one in candidates if one.waterline <= waterline], ""
        for one in _worth_first(situation, metric, allowed, gap, squeezed):
            release = _release(situation, metric, one.pod, squeezed)
            why = _passed_over(situation, one.pod, release, chosen)
            if _closed(situation, metric, gap - taken) or (stopped := _braked(situation, len(chosen))):
                break
            told.setdefault(one.pod.key, Considered(one.pod.key, taken=not why, why=why or "evicted"))
            if not why:
                chosen.append(Chosen(one.pod, _grace(one.verdicts), len(done.acts)))
                taken += release or 0.0
        stopped = stopped or (
            "gap closed" if _closed(situation, metric, gap - taken) else "nobody left who may be evicted"
        )
    here = [one.pod for one in chosen if one.act == len(done.acts)]
    act = Act(
        action=ActionKind.EVICT,
        governing=governing,
        also=also,
        metric=metric,
        gap=gap,
        considered=(
            *told.values(),
            *(_not_needed(c.pod, stopped) for c in candidates if c.pod.key not in told),
            *considered,
        ),
        operations=tuple(_operation(situation, metric, pod, squeezed) for pod in here),
        stopped=stopped,
    )
    return Evictions(tuple(chosen), (*done.acts, act))


def _not_needed(pod: Pod, stopped: str) -> Considered:
    return Considered(pod.key, taken=False, why=f"not needed: {stopped}" if stopped == "gap closed" else stopped)


def _gap(situation: Situation, metric: Metric, verdict: Verdict, waterline: float, squeezed: Released) -> float:
    throttled = squeezed.all_of(metric, situation)
    return max(0.0, situation.gap(metric, verdict.value or 0.0, waterline) - throttled)


def _closed(situation: Situation, metric: Metric, left: float) -> bool:
    """Quotas release whole millicores and sums round: nobody goes for the part of one that is left, nor for a rest."""
    return left <= ROUNDED or (metric.from_cpu is not None and situation.cpu_for(metric, left) < 1)


def _release(situation: Situation, metric: Metric, pod: Pod, squeezed: Released) -> Amount | None:
    whole = situation.released_by_going(pod, metric)
    return None if whole is None else Amount(max(0.0, whole - squeezed.of(pod, metric, situation)))


def _worth_first(
    situation: Situation, metric: Metric, allowed: list[Allowed], gap: Amount, squeezed: Released
) -> list[Allowed]:
    return sorted(
        allowed,
        key=lambda one: (_release(situation, metric, one.pod, squeezed) or 0.0) < WORTH_EVICTING * gap,
    )


def _passed_over(situation: Situation, pod: Pod, release: Amount | None, chosen: list[Chosen]) -> str:
    if any(one.pod.uid == pod.uid for one in chosen):
        return "it goes already in this tick"
    if any(one.pod == pod.uid and one.until > situation.now for one in situation.memory.backoffs):
        return "its eviction was refused a short while ago"
    return "its usage is missing" if release is None else ""


def _braked(situation: Situation, chosen: int) -> str:
    settings = situation.settings
    if settings.evictions_per_tick and chosen >= settings.evictions_per_tick:
        return f"braked: evictionsPerTick {settings.evictions_per_tick}"
    if settings.evictions_per_hour and chosen + _in_the_last_hour(situation) >= settings.evictions_per_hour:
        return f"braked: evictionsPerHour {settings.evictions_per_hour}"
    return ""


def _in_the_last_hour(situation: Situation) -> int:
    return sum(1 for at in situation.memory.evicted_at if situation.now - at < HOUR)


def _grace(verdicts: tuple[Verdict, ...]) -> Seconds | None:
    """The shortest of the actions'; None: the pod's own."""
    graces = [v.rule.action.eviction.grace for v in verdicts if v.rule.action and v.rule.action.eviction]
    return min((grace for grace in graces if grace is not None), default=None)


def _operation(situation: Situation, metric: Metric, pod: Pod, squeezed: Released) -> Operation:
    release = _release(situation, metric, pod, squeezed)
    return Operation(pod=pod.key, uid=pod.uid, expected=release, who=who(pod))


def _may_act_blind(situation: Situation, verdict: Verdict) -> bool:
    if not situation.may_be_blind or not situation.settings.evict_on_missing_usage:
        return False
    if not verdict.rule.evicts or not is_blind(verdict):
        return False
    return not _cools(situation, verdict)


def _cools(situation: Situation, verdict: Verdict) -> bool:
    """Whether an eviction is too recent for another one that cannot be computed."""
    return any(situation.now - at < verdict.rule.cool_down for at in situation.memory.evicted_at)


def _one(situation: Situation, verdict: Verdict, done: Evictions, through: Metric | None, reason: str) -> Evictions:
    """The first pod in the order of a metric; without one by class, priority and age, whether its usage is known or not."""
    candidates, considered = sorted_out(situation, through, [verdict], evicts=True)
    pods = [one.pod for one in candidates if _counts(verdict, one.pod)]
    passed = {pod.uid: _passed_over(situation, pod, _use(situation, pod, through), list(done.chosen)) for pod in pods}
    free = [pod for pod in pods if not passed[pod.uid]]
    braked = _braked(situation, len(done.chosen))
    picked = free[:1] if not braked else []
    otherwise = braked or "not yet: one pod at a time"
    left = (Considered(p.key, taken=False, why=passed[p.uid] or otherwise) for p in pods if p not in picked)
    act = Act(
        action=ActionKind.EVICT,
        governing=verdict,
        metric=verdict.rule.metric,
        considered=(*(Considered(pod.key, taken=True, why="evicted") for pod in picked), *left, *considered),
        operations=tuple(Operation(pod=pod.key, uid=pod.uid, who=who(pod)) for pod in picked),
        reason=reason,
        stopped=braked or ("one pod" if picked else "nobody left who may be evicted"),
    )
    chosen = (Chosen(pod, _grace((verdict,)), len(done.acts)) for pod in picked)
    return Evictions((*done.chosen, *chosen), (*done.acts, act))


def _counts(verdict: Verdict, pod: Pod) -> bool:
    """Whether it has a part in what the rule speaks of: not even a rule that is blind reaches beyond."""
    return verdict.rule.metric is None or verdict.rule.metric.concerns(pod)


def _use(situation: Situation, pod: Pod, through: Metric | None) -> Amount | None:
    """Without a metric nothing needs to be known of it."""
    return situation.usage_of(pod, through) if through is not None and through.of_pod else Amount(0.0)

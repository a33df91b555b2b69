"""
Recording: the journal before acting, and after it what came of it; events for those who look at the cluster; a line in
the log; the node's own status.

Whatever cannot be written here is said once and does not stop anything.
"""

import logging
from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from slackwater.agent import carried, status
from slackwater.agent.acting import Done
from slackwater.agent.carried import Carried, Given, Page
from slackwater.agent.edges import Edges
from slackwater.agent.marks import stuck
from slackwater.agent.observing import Seen
from slackwater.agent.reconcile import Report
from slackwater.api.problems import Severity
from slackwater.api.units import Wall
from slackwater.cluster.edge import Event, Unreachable
from slackwater.decide import sentence
from slackwater.decide.engine import Plan
from slackwater.decide.measuring import unmeasured
from slackwater.decide.plan import ActionKind, Answer, Decision, Measurement
from slackwater.journal.edge import Entry, Unwritable
from slackwater.judge.verdicts import Change, Verdict
from slackwater.snapshot.knobs import Knob

log = logging.getLogger(__name__)

EVENTS_A_TICK = 20
REASONS = {
    ActionKind.THROTTLE: "Throttled",
    ActionKind.RESTORE: "GivenBack",
    ActionKind.EVICT: "Evicted",
    ActionKind.DISABLE_SCHEDULING: "SchedulingDisabled",
    ActionKind.ENABLE_SCHEDULING: "SchedulingEnabled",
}
CHANGES = {
    Change.STALE: ("MetricMissing", "nothing has been known of {metric} for a while; the rule takes no new action"),
    Change.RELEASED: ("MetricMissingTooLong", "nothing has been known of {metric} for too long; the rule ends"),
}


def commit(edges: Edges, seen: Seen, held: Carried, plan: Plan) -> bool:
    """Whether the journal has it. A tick that was woken early and changes nothing is not worth a record."""
    if not seen.looked and not plan.decisions and plan.memory == held.memory:
        return held.journal_holds
    entry = Entry(
        at=seen.wall,
        instant=seen.now,
        sample=replace(seen.sample, settings=seen.looked_at) if seen.sample else None,
        view=seen.view,
        memory=carried.encoded(Page(plan.memory, _given(seen, held))),
        decisions=plan.decisions,
        measurements=plan.measurements,
    )
    return _written(lambda: edges.journal.commit(entry))


def _given(seen: Seen, held: Carried) -> Given:
    return Given(
        mode=seen.mode.value,
        mode_why=seen.mode_why,
        capacity=seen.capacity,
        settings=seen.settings,
        stuck=tuple(sorted(stuck(held.ours))),
        backend=seen.survey.backend,
    )


def _written(write: Callable[[], None]) -> bool:
    try:
        write()
    except Unwritable as error:
        log.warning("%s", error)
        return False
    return True


def record(edges: Edges, seen: Seen, held: Carried, plan: Plan, done: Done) -> Carried:
    refusals = tuple(_refusals(plan.decisions, done))
    if refusals:
        _written(lambda: edges.journal.amend(refusals))
    for decision in plan.decisions:
        log.log(logging.INFO if _is_news(decision) else logging.DEBUG, "%s", sentence.full(decision))
    held = replace(held, packages=edges.packages.known, faults=edges.packages.faults())
    for report in done.reconciled.reports:
        log.warning("%s", _words(seen, report))
    told = frozenset(_troubles(held, seen, done))
    for trouble in sorted(told - held.told):
        log.warning("%s", trouble)
    for event in _events(seen, held, plan, done, told):
        edges.cluster.emit(event)
    held = replace(
        held,
        memory=replace(done.memory, awaiting=unmeasured(done.memory.awaiting, refusals)),
        ours=done.reconciled.ours,
        last_action=next((d for d in reversed(plan.decisions) if not d.preview), held.last_action),
        told=told,
    )
    return _published(edges, seen, held, plan)


def _published(edges: Edges, seen: Seen, held: Carried, plan: Plan) -> Carried:
    shown = status.encoded(seen, held, plan)
    if shown != held.status:
        try:
            edges.cluster.publish(shown)
        except Unreachable as error:
            log.warning("the status could not be written: %s", error)
    return replace(held, status=shown)


def _refusals(decisions: Iterable[Decision], done: Done) -> Iterator[Measurement]:
    evictions = {order.pod.uid: answer.why for order, answer in done.answers if answer.answer is not Answer.ACCEPTED}
    for decision in decisions:
        if decision.preview:
            continue
        refused = tuple(
            done.reconciled.refused.get((op.uid, op.container, Knob(op.knob)), "")
            if op.knob
            else evictions.get(op.uid, "")
            for op in decision.operations
        )
        if any(refused):
            yield Measurement(decision=decision.id, refused=refused)


def _troubles(held: Carried, seen: Seen, done: Done) -> Iterator[str]:
    """What stands in the way now; each is said when it begins."""
    yield from (str(problem) for problem in seen.view.problems if problem.severity is Severity.ERROR)
    yield from (f"policy {rule.title} plays no part: {rule.error}" for rule in held.rules if rule.error)
    yield from _of_packages(held)
    yield from held.audit.drifts.values()
    yield from (f"the cluster could not be written to: {text}" for text in (done.unreachable,) if text)
    if seen.mode.value != seen.configuration.mode.value:
        yield f"mode is {seen.mode.value}: {seen.mode_why}"


def _of_packages(held: Carried) -> Iterator[str]:
    for package in held.packages:
        yield from (f"package {package.title} {package.error}" for _ in (package.error,) if package.error)
        yield from (f"metric {refused}" for refused in package.refused)
    for rule in held.rules:
        if not rule.error and (fault := held.faults.get(rule.rule.metric or "")):
            yield f"policy {rule.title}: {rule.rule.metric} counts as missing: {fault}"


def _events(seen: Seen, held: Carried, plan: Plan, done: Done, told: frozenset[str]) -> Iterator[Event]:
    node = f"Node/{seen.view.node.name}"
    for decision in plan.decisions:
        yield from told_of(decision, seen.wall, seen.view.node.name)
    for verdict in held.verdicts:
        yield from _of_changes(seen, verdict, node)
    for report in done.reconciled.reports[:EVENTS_A_TICK]:
        message = _words(seen, report)
        yield Event(
            at=seen.wall, reason=report.reason, message=message, object=f"Pod/{_pod(seen, report)}", warning=True
        )
    for trouble in sorted(told - held.told)[:EVENTS_A_TICK]:
        yield Event(at=seen.wall, reason="Problem", message=trouble, object=node, warning=True)


def _pod(seen: Seen, report: Report) -> str:
    return next((pod.key for pod in seen.view.pods if pod.uid == report.pod), report.pod)


def _words(seen: Seen, report: Report) -> str:
    where = f"{_pod(seen, report)}/{report.container}" if report.container else _pod(seen, report)
    return f"{report.knob.value} of {where}: {report.message}"


def _is_news(decision: Decision) -> bool:
    """An act that could take nothing is in the journal for `explain`; nobody wants to be told of it each tick."""
    return bool(decision.operations) or decision.action in {
        ActionKind.DISABLE_SCHEDULING,
        ActionKind.ENABLE_SCHEDULING,
    }


def told_of(decision: Decision, at: Wall, node: str) -> Iterator[Event]:
    """A decision as events, on the node and on the pods it touched."""
    if not _is_news(decision):
        return
    reason = f"{'Preview' if decision.preview else ''}{REASONS[decision.action]}"
    message = sentence.brief(decision)
    yield Event(at=at, reason=reason, message=message, object=f"Node/{node}")
    if decision.preview:
        return
    for pod in list(dict.fromkeys(operation.pod for operation in decision.operations))[:EVENTS_A_TICK]:
        yield Event(at=at, reason=reason, message=message, object=f"Pod/{pod}")


def _of_changes(seen: Seen, verdict: Verdict, node: str) -> Iterator[Event]:
    for change in verdict.changes:
        if change in CHANGES:
            reason, text = CHANGES[change]
            metric = verdict.rule.rule.metric or "its metrics"
            message = f"{verdict.rule.title}: {text.format(metric=metric)}"
            yield Event(at=seen.wall, reason=reason, message=message, object=node, warning=True)

"""What holds of every plan, whatever the node looks like."""

from random import Random

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from stories import (
    Story,
    allowing,
    annotated,
    batch,
    closing,
    decisions,
    evicting,
    policy,
    released,
    rule,
    squeezing,
)

from slackwater.api.objects import Pod, PodQos, Policy, QosClass, Rule, Strategy
from slackwater.decide import eligibility
from slackwater.decide.memory import Memory
from slackwater.decide.plan import ActionKind
from slackwater.snapshot.knobs import Knob

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine too

ACTIONS = (squeezing(), squeezing("rough", floor=40, step=25), evicting(), closing())


@st.composite
def pods(draw: st.DrawFn) -> tuple[Pod, ...]:
    """Up to five, of all kinds."""
    made = []
    for n in range(draw(st.integers(1, 5))):
        pod = batch(
            f"p{n}",
            priority=draw(st.sampled_from([None, 2_000_000_000, 5, 0, -1, -10])),
            limit=draw(st.sampled_from([None, 500, 4000])),
            elastic=draw(st.sampled_from([None, 2000])),
            containers=draw(st.sampled_from([("main",), ("main", "sidecar")])),
            owner=draw(st.sampled_from([None, "Job", "DaemonSet"])),
            started=draw(st.integers(0, 2)),
            qos_class=draw(st.sampled_from(QosClass)),
            namespace=draw(st.sampled_from(["default", "kube-system"])),
            phase=draw(st.sampled_from(["Running", "Running", "Running", "Failed"])),
            labels={"team": draw(st.sampled_from(["a", "b"]))},
            deleted_at=draw(st.sampled_from([None, None, 1000.0])),
            grace=30.0,
        )
        said = draw(st.sampled_from([{}, {}, {"level": "-1"}, {"level": "1"}, {"protected": "true"}]))
        made.append(annotated(pod, **said))
    return tuple(made)


rules = st.builds(
    lambda metric, part, action, name, bad, preview: rule(
        part * (80 if metric == "cpu_total_usage" else 1), action, name=name, metric=metric, bad=bad, preview=preview
    ),
    st.sampled_from(["cpu_total_usage", "cpu_total_utilization"]),
    st.integers(30, 95),
    st.sampled_from(["squeeze", "rough", "evict", "close"]),
    st.sampled_from("xyz"),
    st.integers(1, 2),
    st.booleans(),
)
policies = st.lists(st.lists(rules, min_size=1, max_size=2), min_size=1, max_size=3).map(
    lambda found: tuple(policy(*some, name=f"policy{n}") for n, some in enumerate(found))
)
qos = st.lists(
    st.builds(
        lambda actions, team: allowing(*actions, labels={"team": team}),
        st.sets(st.sampled_from(["squeeze", "rough", "evict"])),
        st.sampled_from("ab"),
    ),
    max_size=2,
).map(tuple)
loads = st.lists(
    st.tuples(st.none() | st.integers(3000, 9000), st.lists(st.none() | st.integers(0, 3000), min_size=5, max_size=5)),
    min_size=1,
    max_size=8,
)
Loads = list[tuple[int | None, list[int | None]]]


def told(one: tuple[Pod, ...], wanted: tuple[Policy, ...], allowed: tuple[PodQos, ...]) -> Story:
    return Story(one, policies=wanted, actions=ACTIONS, pod_qos=allowed)


def go(story: Story, load: tuple[int | None, list[int | None]]) -> None:
    node, usages = load
    usage = {f"p{n}": used for n, used in enumerate(usages)}
    story.tick(node, usage, unread=node is None)


@settings(PATIENT, max_examples=80)
@given(pods(), policies, qos, loads, st.randoms())
def test_the_same_input_gives_the_same_plan_in_whatever_order_it_comes(
    some: tuple[Pod, ...], wanted: tuple[Policy, ...], allowed: tuple[PodQos, ...], run: Loads, random: Random
) -> None:
    shuffled, mixed = list(some), list(wanted)
    random.shuffle(shuffled)
    random.shuffle(mixed)
    one, other = told(some, wanted, allowed), told(tuple(shuffled), tuple(mixed), allowed)
    for load in run:
        go(one, load)
        go(other, load)
        assert (one.plan, one.shown) == (other.plan, other.shown)
        assert msgspec.json.encode(one.plan) == msgspec.json.encode(other.plan)


@settings(PATIENT, max_examples=80)
@given(pods(), policies, qos, loads)
def test_nobody_is_touched_who_may_not_be(
    some: tuple[Pod, ...], wanted: tuple[Policy, ...], allowed: tuple[PodQos, ...], run: Loads
) -> None:
    story = told(some, wanted, allowed)
    named = {one.action for policy in wanted for one in policy.rules if one.strategy is Strategy.NONE}
    by_uid = {pod.uid: pod for pod in some}
    for load in run:
        go(story, load)
        for claim in story.plan.claims:
            if claim.knob is Knob.QUOTA:
                assert any(free(by_uid[claim.pod], action, allowed, evicts=False) for action in named)
        for order in story.plan.evictions:
            assert any(free(order.pod, action, allowed, evicts=True) for action in named)


def free(pod: Pod, action: str, allowed: tuple[PodQos, ...], *, evicts: bool) -> bool:
    """As the promise has it, said once more and differently."""
    marked, priority = pod.annotations.get("volcano.sh/qos-level"), pod.priority or 0
    daemon = pod.owner is not None and pod.owner.kind == "DaemonSet"
    out_of_everything = (
        "slackwater.dev/protected" in pod.annotations
        or marked == "1"
        or priority >= 2_000_000_000
        or pod.namespace == "kube-system"
        or pod.phase != "Running"
        or pod.deleted_at is not None
        or (evicts and daemon)
    )
    speaking = [one for one in allowed if eligibility.matches(one, pod)]
    if out_of_everything or speaking:
        return not out_of_everything and any(action in (one.allowed_actions or ()) for one in speaking)
    elastic = any(container.limits.elastic_cpu for container in pod.containers)
    offline = priority < 0 or pod.qos_class is QosClass.BEST_EFFORT or elastic
    too_dear = (daemon and marked != "-1" and priority >= 0) or (evicts and pod.owner is None)
    return not too_dear and (marked == "-1" or (priority <= 0 and offline))


@settings(PATIENT, max_examples=80)
@given(pods(), policies, qos, loads)
def test_throttling_never_releases_more_than_the_gap(
    some: tuple[Pod, ...], wanted: tuple[Policy, ...], allowed: tuple[PodQos, ...], run: Loads
) -> None:
    story = told(some, wanted, allowed)
    for load in run:
        go(story, load)
        for decision in decisions(story.plan):
            expected = sum(one.expected or 0.0 for one in decision.operations)
            blind = decision.gap is None
            assert blind or expected <= (decision.gap or 0.0) + 1e-6


@settings(PATIENT, max_examples=80)
@given(pods(), policies, qos, loads)
def test_without_the_last_pod_evicted_the_gap_would_be_open(
    some: tuple[Pod, ...], wanted: tuple[Policy, ...], allowed: tuple[PodQos, ...], run: Loads
) -> None:
    story = told(some, wanted, allowed)
    for load in run:
        go(story, load)
        for decision in decisions(story.plan, ActionKind.EVICT):
            expected = [one.expected or 0.0 for one in decision.operations]
            assert not expected or decision.gap is None or sum(expected[:-1]) < decision.gap


@settings(PATIENT, max_examples=40)
@given(pods(), policies, qos, loads)
def test_once_all_policies_are_gone_nothing_is_claimed_and_the_node_is_open(
    some: tuple[Pod, ...], wanted: tuple[Policy, ...], allowed: tuple[PodQos, ...], run: Loads
) -> None:
    story = told(some, wanted, allowed)
    for load in run:
        go(story, load)
    story.policies = ()
    plan = story.tick(seconds=1, woken=True)
    assert (plan.claims, plan.evictions, plan.scheduling.disabled) == ((), (), False)
    assert plan.memory.throttled == ()


@settings(PATIENT, max_examples=60)
@given(pods(), policies, qos, loads)
def test_when_all_has_been_calm_for_long_enough_everything_is_back(
    some: tuple[Pod, ...], wanted: tuple[Policy, ...], allowed: tuple[PodQos, ...], run: Loads
) -> None:
    story = told(some, wanted, allowed)
    for load in run:
        go(story, load)
    quiet = {f"p{n}": 0 for n in range(5)}
    for _ in range(200):
        if not story.tick(500, quiet).claims and not story.plan.scheduling.disabled:
            break
    assert (story.plan.claims, story.plan.scheduling.disabled) == ((), False)


@settings(PATIENT, max_examples=40)
@given(pods(), policies, qos, loads)
def test_what_is_remembered_survives_being_written_down(
    some: tuple[Pod, ...], wanted: tuple[Policy, ...], allowed: tuple[PodQos, ...], run: Loads
) -> None:
    story = told(some, wanted, allowed)
    story.accepted("p0", until=25)
    story.refused("p1", until=25)
    for load in run:
        go(story, load)
        assert msgspec.json.decode(msgspec.json.encode(story.memory), type=Memory) == story.memory


@settings(PATIENT, max_examples=60)
@given(pods(), policies, qos, loads)
def test_an_agent_that_starts_anew_decides_what_the_old_one_would_have(
    some: tuple[Pod, ...], wanted: tuple[Policy, ...], allowed: tuple[PodQos, ...], run: Loads
) -> None:
    one, other = told(some, wanted, allowed), told(some, wanted, allowed)
    for load in run:
        go(one, load)
        go(other, load)
        other.memory = msgspec.json.decode(msgspec.json.encode(other.memory), type=Memory)
        assert one.plan == other.plan


@settings(PATIENT, max_examples=60)
@given(pods(), policies, qos, loads, rules.map(lambda one: replace(one, name="preview")))
def test_a_preview_beside_them_changes_no_claim_no_eviction_and_no_taint(
    some: tuple[Pod, ...], wanted: tuple[Policy, ...], allowed: tuple[PodQos, ...], run: Loads, shown: Rule
) -> None:
    real = tuple(
        replace(one, rules=tuple(replace(each, strategy=Strategy.NONE) for each in one.rules)) for one in wanted
    )
    beside = policy(replace(shown, strategy=Strategy.PREVIEW), name="shown")
    one, other = told(some, real, allowed), told(some, (*real, beside), allowed)
    for load in run:
        go(one, load)
        go(other, load)
        assert (one.plan.claims, one.plan.evictions, one.plan.scheduling, one.plan.decisions) == (
            other.plan.claims,
            other.plan.evictions,
            other.plan.scheduling,
            other.plan.decisions,
        )
    assert released(one.plan) == released(other.plan)


@settings(PATIENT, max_examples=80)
@given(pods(), qos, loads)
def test_a_metric_that_no_rule_names_plays_no_part(
    some: tuple[Pod, ...], allowed: tuple[PodQos, ...], run: Loads
) -> None:
    story = told(some, (policy(rule(7200)),), allowed)
    for load in run:
        go(story, load)
        assert {decision.metric for decision in story.plan.decisions} <= {"cpu_total_usage", ""}
        assert all(one.value is None or one.value > 7200 for one in decisions(story.plan))

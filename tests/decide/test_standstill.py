"""Why nothing is done, asked of what the last tick of a simulated node left in its journal."""

import json

import msgspec
import pytest
from msgspec.structs import replace
from stories import Story, batch

from slackwater.agent import carried
from slackwater.agent.carried import Page
from slackwater.agent.configuration import Configuration, Mode
from slackwater.api.objects import Node
from slackwater.api.units import Amount, Millicores, Seconds
from slackwater.decide.obstacles import obstacles
from slackwater.decide.plan import ActionKind
from slackwater.decide.situation import Situation
from slackwater.decide.standing import RuleStanding, Standstill
from slackwater.decide.standing_words import lines, state
from slackwater.decide.standstill import Left, standstill
from slackwater.metrics.builtin import BUILTIN
from slackwater.sim.demand import Demand, constant, steps
from slackwater.sim.world import Simulation, pods_in

RULES = """
apiVersion: ensurance.crane.io/v1alpha1
kind: NodeQOSEnsurancePolicy
metadata: {name: waterline}
spec:
  objectiveEnsurances:
  - name: cpu
    avoidanceThreshold: 2
    restoreThreshold: 3
    actionName: squeeze
    metricRule: {name: cpu_total_usage, value: 6000}
"""
ACTIONS = """
apiVersion: ensurance.crane.io/v1alpha1
kind: AvoidanceAction
metadata: {name: squeeze}
spec: {coolDownSeconds: 60, throttle: {cpuThrottle: {}}}
---
apiVersion: ensurance.crane.io/v1alpha1
kind: AvoidanceAction
metadata: {name: evict}
spec: {coolDownSeconds: 60, eviction: {}}
---
apiVersion: ensurance.crane.io/v1alpha1
kind: AvoidanceAction
metadata: {name: close}
spec: {coolDownSeconds: 60}
"""


def a_node(rules: str = RULES, **keys: object) -> Simulation:
    simulation = Simulation(configuration=Configuration(**keys))  # type: ignore[arg-type] # keys of it, by name
    simulation.apply(rules)
    simulation.apply(ACTIONS)
    return simulation


def cores(number: float) -> Demand:
    return constant(Millicores(round(number * 1000)))


def add(simulation: Simulation, name: str, demand: Demand, priority: int = -10) -> None:
    (pod,) = pods_in(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "ownerReferences": [{"kind": "Job", "name": name, "controller": True}]},
                "spec": {
                    "priority": priority,
                    "containers": [{"name": "main", "resources": {"requests": {"cpu": "500m"}}}],
                },
            }
        )
    )
    simulation.add(pod, demand)


def page(simulation: Simulation) -> Page:
    """What the journal ends with."""
    kept = simulation.journal.last()
    assert kept is not None
    return carried.decoded(kept.memory)


def standing(simulation: Simulation, pod: str = "") -> Standstill:
    kept = simulation.journal.last()
    assert kept is not None
    assert kept.view is not None
    newest = page(simulation)
    assert newest.given is not None
    left = Left(
        now=kept.instant,
        wall=kept.at,
        mode=newest.given.mode,
        mode_why=newest.given.mode_why,
        settings=newest.given.settings,
        capacity=newest.given.capacity,
        view=kept.view,
        memory=newest.memory,
        decisions=simulation.decisions,
    )
    return standstill(left, BUILTIN, pod)


def told(simulation: Simulation, pod: str = "") -> str:
    return "\n".join(lines(standing(simulation, pod)))


def the_rule(simulation: Simulation) -> RuleStanding:
    (rule,) = standing(simulation).rules
    return rule


def burst(low: float, high: float, begin: int, end: int) -> Demand:
    """High from one tick to another."""
    levels = [(0, low), (begin, high), (end, low)]
    return steps([(Seconds(10.0 * tick), Millicores(round(level * 1000))) for tick, level in levels])


def just_squeezed() -> Simulation:
    """Batch that was too much beside a burst of the service, and was throttled in this tick; the burst is over."""
    simulation = a_node()
    add(simulation, "web", burst(1, 5, 2, 4), priority=100)
    add(simulation, "etl", cores(3))
    simulation.run(4)
    assert simulation.throttled
    return simulation


def test_without_a_rule_there_is_nothing_to_judge() -> None:
    simulation = Simulation()
    simulation.run(2)
    assert told(simulation).startswith("no rule is in force on this node, so nothing is judged")


def test_an_idle_rule_says_how_far_it_is_from_its_waterline() -> None:
    simulation = a_node()
    add(simulation, "etl", cores(4))
    simulation.run(3)
    rule = the_rule(simulation)
    assert (rule.state, rule.value, rule.distance) == ("idle", Amount(4000), 2000.0)
    assert state(rule) == "idle, node CPU 4 cores, 2 under its waterline of 6 (it acts after 2 ticks above)"


def test_at_its_waterline_a_metric_is_not_bad() -> None:
    simulation = a_node()
    add(simulation, "etl", cores(6))
    simulation.run(3)
    assert "at its waterline of 6, and only above it is bad" in state(the_rule(simulation))


def test_an_arming_rule_counts_its_bad_ticks() -> None:
    simulation = a_node()
    add(simulation, "etl", burst(4, 7, 4, 99))
    simulation.run(5)
    rule = the_rule(simulation)
    assert (rule.state, rule.bad_ticks, rule.bad_ticks_needed) == ("arming", 1, 2)
    assert state(rule) == "arming, node CPU 7 cores, 1 above its waterline of 6, bad for 1 of 2 ticks"


def test_an_active_rule_that_finds_nobody_says_whom_it_left_alone_and_why() -> None:
    simulation = a_node()
    add(simulation, "web", cores(7), priority=0)
    add(simulation, "db", cores(0.5), priority=100)
    simulation.run(6)
    (act,) = the_rule(simulation).last
    assert (act.taken, act.left_alone) == (0, {"not allowed: no PodQOS, and not offline work": 2})
    assert (
        "its last throttle, in this tick, took nothing: not allowed: no PodQOS, and not offline work (2 pods)"
        in told(simulation)
    )
    assert "action squeeze may throttle 0 of 2 pods; not allowed: no PodQOS, and not offline work (2 pods)" in told(
        simulation
    )


def test_a_missing_metric_is_told_with_its_age_and_its_last_value() -> None:
    simulation = a_node()
    add(simulation, "etl", cores(4))
    simulation.run(3)
    simulation.node.hides_cpu = True
    simulation.run(5)
    rule = the_rule(simulation)
    assert (rule.missing_s, rule.distance) == (Seconds(20), None)
    assert state(rule) == (
        "node CPU has been missing for 20 s (it was last 4 cores); the rule is idle, and cannot tell good from bad"
    )


def test_an_active_rule_whose_metric_is_missing_stays_and_takes_no_new_action() -> None:
    simulation = a_node()
    add(simulation, "etl", cores(7))
    simulation.run(3)
    simulation.node.hides_cpu = True
    simulation.run(4)
    assert "the rule stays active, and takes no new action" in state(the_rule(simulation))


def test_a_rule_with_an_error_says_it() -> None:
    simulation = a_node(RULES.replace("squeeze", "sqeeze"))
    simulation.run(1)
    assert "waterline/cpu: plays no part: there is no AvoidanceAction named 'sqeeze'" in told(simulation)


def test_a_preview_is_told_as_one() -> None:
    simulation = a_node(RULES.replace("name: cpu\n", "name: cpu\n    strategy: Preview\n"))
    add(simulation, "etl", cores(7))
    simulation.run(4)
    assert "waterline/cpu (preview: it would throttle): active, " in told(simulation)
    assert "would have touched 1 pod" in told(simulation)
    assert "nothing is held back" in told(simulation)


@pytest.mark.parametrize(
    ("mode", "words", "rule"),
    [
        (Mode.PREVIEW, "mode is preview (configuration): rules are judged and shown, and nothing is done", "active"),
        (Mode.OFF, "mode is off (configuration): rules are not even judged", "off"),
    ],
)
def test_a_mode_that_lets_nothing_be_done_comes_first(mode: Mode, words: str, rule: str) -> None:
    simulation = a_node(mode=mode)
    add(simulation, "etl", cores(7))
    simulation.run(4)
    assert told(simulation).splitlines()[0] == words
    assert the_rule(simulation).state == rule


def test_a_policy_for_other_nodes_says_what_it_wants_and_what_the_node_has() -> None:
    simulation = Simulation(node=Node(name="n", labels={"tier": "web"}))
    simulation.apply(RULES.replace("spec:\n", "spec:\n  selector: {matchLabels: {tier: batch, zone: a}}\n"))
    simulation.apply(ACTIONS)
    simulation.run(1)
    (elsewhere,) = standing(simulation).elsewhere
    assert elsewhere.unmet == (
        "it wants tier=batch (the node has tier=web), it wants zone=a (the node has no such label)"
    )
    assert "policy waterline is not for this node: it wants tier=batch" in told(simulation)


def test_giving_back_is_held_by_a_rule_that_is_on_its_way_out() -> None:
    simulation = just_squeezed()
    simulation.run(1)
    (obstacle,) = standing(simulation).giving_back.obstacles
    assert (obstacle.kind, obstacle.why) == ("engaged", "waterline/cpu is recovering")
    assert "in the way of giving back:\n  waterline/cpu is recovering" in told(simulation)


def test_giving_back_waits_and_says_how_long() -> None:
    simulation = just_squeezed()
    while the_rule(simulation).state != "idle":
        simulation.tick()
    (obstacle,) = standing(simulation).giving_back.obstacles
    harm = next(one.instant for one in reversed(simulation.decisions) if one.action is ActionKind.THROTTLE)
    assert (obstacle.kind, obstacle.left_s) == ("wait", 60 - (simulation.clock.instant() - harm))
    assert obstacle.why.startswith("the wait since waterline/cpu last did harm has ")
    assert obstacle.why.endswith(" of 1 min left")
    assert the_rule(simulation).cools_s == obstacle.left_s


def test_without_room_nothing_is_given_back() -> None:
    simulation = a_node()
    add(simulation, "web", cores(5.5), priority=100)
    add(simulation, "etl", cores(3))
    simulation.run(30)
    (obstacle,) = standing(simulation).giving_back.obstacles
    assert obstacle.kind == "room"
    assert "giving back stops at 5.7 (waterline 6 less 5%)" in obstacle.why


def test_room_for_less_than_the_least_grant_is_no_room() -> None:
    story = Story(pods=(batch("etl"),))
    story.ticks(2, 7000, {"etl": 3000})
    story.ticks(12, 5695, {"etl": 1000})
    (obstacle,) = obstacles(story.situation())
    assert (obstacle.kind, obstacle.metric) == ("room", "cpu_total_usage")


def test_a_window_with_a_hole_gives_nothing_back() -> None:
    simulation = just_squeezed()
    for _ in range(4):
        simulation.tick(agent=False)
    simulation.run(3)
    (obstacle,) = standing(simulation).giving_back.obstacles
    assert (obstacle.kind, obstacle.metric) == ("window", "cpu_total_usage")


def on_load(situation: Situation) -> Situation:
    """As if its rules had been on a metric that CPU is not counted in."""
    load = BUILTIN.get("cpu_load_1m")
    verdicts = tuple(replace(one, rule=replace(one.rule, metric=load)) for one in situation.verdicts)
    return replace(situation, verdicts=verdicts)


def test_a_rule_that_cannot_be_held_against_cpu_holds_what_it_squeezed_until_it_has_cooled_down() -> None:
    story = Story(pods=(batch("etl"),))
    story.ticks(2, 7000, {"etl": 3000})
    (obstacle,) = obstacles(on_load(story.situation()))
    assert (obstacle.kind, obstacle.why) == ("engaged", "waterline/cpu is active")
    story.ticks(2, 4000, {"etl": 1000})
    (obstacle,) = obstacles(on_load(story.situation()))
    assert (obstacle.kind, obstacle.rule, obstacle.left_s) == ("wait", "waterline/cpu", Seconds(40))
    story.now += 40
    assert obstacles(on_load(story.situation())) == ()


def test_what_is_said_to_stand_in_the_way_does() -> None:
    """Tick by tick: one that gave something back tells no obstacle but that the room is used up; another tells one."""
    simulation = just_squeezed()
    given = 0
    while simulation.throttled and given < 40:
        simulation.tick()
        newest = simulation.decisions[-1]
        restored = newest.action is ActionKind.RESTORE and newest.instant == simulation.clock.instant()
        kinds = {obstacle.kind for obstacle in standing(simulation).giving_back.obstacles}
        assert kinds <= {"room"} if restored else kinds
        given += restored
    assert given
    assert not simulation.throttled


def test_evictions_used_up_say_when_the_next_may_go() -> None:
    simulation = a_node(RULES.replace("squeeze", "evict"), evictions_per_hour=2, evictions_per_tick=1)
    for number in range(4):
        add(simulation, f"etl-{number}", cores(2.5))
    simulation.run(10)
    brakes = standing(simulation).brakes
    assert brakes is not None
    assert (brakes.used, brakes.per_hour) == (2, 2)
    first = next(one.instant for one in simulation.decisions if one.operations)
    assert brakes.next_s == pytest.approx(first + 3600 - simulation.clock.instant())
    assert "evictions: 2 in the last hour, of 2:\n  no more may go for 58 min" in told(simulation)


def test_what_a_rule_only_showed_is_not_told_as_done_once_it_is_real() -> None:
    simulation = a_node(RULES.replace("name: cpu\n", "name: cpu\n    strategy: Preview\n"))
    add(simulation, "etl", burst(4, 7, 2, 5))
    simulation.run(12)
    assert the_rule(simulation).last
    simulation.apply(RULES)
    simulation.run(1)
    assert not the_rule(simulation).last


def test_a_node_that_stays_closed_says_which_rule_closes_it() -> None:
    simulation = a_node(RULES.replace("squeeze", "close"))
    add(simulation, "etl", burst(4, 7, 2, 5))
    simulation.run(4)
    assert "scheduling stays disabled:\n  waterline/cpu is active" in told(simulation)
    while the_rule(simulation).state != "idle":
        simulation.tick()
    assert "scheduling stays disabled:\n  waterline/cpu is cooling down for " in told(simulation)


def test_of_a_pod_it_is_said_which_rule_may_touch_it_and_which_not() -> None:
    simulation = a_node()
    add(simulation, "web", cores(1), priority=100)
    add(simulation, "etl-1", cores(1))
    add(simulation, "etl-2", cores(1), priority=-20)
    simulation.run(3)
    assert told(simulation, "default/web").splitlines()[:2] == [
        "default/web (Burstable, 100):",
        "  waterline/cpu may not throttle it: not allowed: no PodQOS, and not offline work",
    ]
    (pod,) = standing(simulation, "etl-1").pods
    assert (pod.rules[0].place, pod.rules[0].of, pod.rules[0].why_not) == (2, 2, "")
    assert "  waterline/cpu may throttle it, as number 2 of 2; the rule is idle" in told(simulation, "etl-1")


def test_of_a_pod_the_last_decision_says_why_it_was_passed_over() -> None:
    simulation = a_node()
    add(simulation, "etl-1", cores(3.5))
    add(simulation, "etl-2", cores(3.5), priority=-20)
    simulation.run(3)
    assert "the rule is active; in this tick: not needed: the gap is closed" in told(simulation, "etl-1")
    assert "held back: default/etl-2/main at 2." in told(simulation, "etl-2")
    assert "held back" not in told(simulation, "etl-1")


def test_a_pod_that_is_not_here_is_said_not_to_be() -> None:
    simulation = a_node()
    simulation.run(1)
    assert told(simulation, "nobody").startswith("there is no pod nobody on this node\nrules:")


def test_a_standstill_that_is_asked_twice_is_the_same_and_survives_the_journal() -> None:
    simulation = just_squeezed()
    found = standing(simulation, "etl")
    assert found == standing(simulation, "etl")
    assert msgspec.json.decode(msgspec.json.encode(found), type=Standstill) == found


def test_a_farewell_is_marked_as_one() -> None:
    simulation = just_squeezed()
    assert simulation.stop()
    assert page(simulation).given is None


def test_the_same_memory_is_the_same_bytes_whatever_order_its_sets_have() -> None:
    simulation = a_node()
    simulation.run(1)
    newest = page(simulation)
    given = newest.given
    assert given is not None
    names = [f"namespace-{number}" for number in range(20)]

    def with_order(order: list[str]) -> bytes:
        settings = replace(given.settings, protected_namespaces=frozenset(order))
        return carried.encoded(replace(newest, given=replace(given, settings=settings)))

    assert with_order(names) == with_order(names[::-1])
    assert b'["namespace-0","namespace-1","namespace-10"' in with_order(names)

"""cgroup v1 and v2, each as its own files tell it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.api.units import HIGHEST_SHARES, LOWEST_SHARES, Microseconds, Shares
from slackwater.host import cgroup1, cgroup2
from slackwater.host.driver import Driver
from slackwater.host.groups import parse_what_can_be
from slackwater.host.weights import v1_weight, v2_weight
from slackwater.snapshot.counters import GroupCounters
from slackwater.snapshot.knobs import Knob, Quota, Settings

V1 = cgroup1.Cgroup1("/c/cpu", "/c/cpuacct", "/c/memory", "/c/unified")
V2 = cgroup2.Cgroup2("/c")
PRESSURE = b"some avg10=0.00 avg60=0.00 avg300=0.00 total=42\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
SEEN = GroupCounters(5_000_000, 10, 3, 700, 42)  # type: ignore[arg-type] # bare numbers read better here
V1_FILES = [
    b"nr_periods 10\nnr_throttled 3\nthrottled_time 99\nnr_bursts 0\nburst_time 0\n",
    b"5000000\n",
    b"1000\n",
    b"cache 9\ninactive_file 1\ntotal_cache 9\ntotal_inactive_file 300\ntotal_active_file 2\n",
    PRESSURE,
]
V2_FILES = [
    b"usage_usec 5000\nuser_usec 1\nsystem_usec 2\nnr_periods 10\nnr_throttled 3\nthrottled_usec 9\n",
    b"1000\n",
    b"anon 700\nfile 300\ninactive_anon 8\ninactive_file 300\n",
    PRESSURE,
]


@pytest.mark.parametrize(("driver", "files"), [(V1, V1_FILES), (V2, V2_FILES)])
def test_both_versions_tell_the_same_of_a_container(driver: Driver, files: list[bytes]) -> None:
    assert driver.parse(*files) == SEEN


@pytest.mark.parametrize("driver", [V1, V2])
def test_nothing_readable_is_nothing_known(driver: Driver) -> None:
    assert driver.parse(*[b""] * len(driver.counter_files("x"))) == GroupCounters()


def test_a_group_without_the_cpu_controller_has_usage_and_no_periods() -> None:
    seen = cgroup2.parse(b"usage_usec 5000\nuser_usec 1\nsystem_usec 2\n", b"", b"", b"")
    assert (seen.cpu, seen.periods, seen.throttled) == (5_000_000, None, None)


@pytest.mark.parametrize(("driver", "files"), [(V1, V1_FILES), (V2, V2_FILES)])
@pytest.mark.parametrize("broken", range(4))
def test_a_file_that_holds_nonsense_costs_its_own_counters_only(
    driver: Driver, files: list[bytes], broken: int
) -> None:
    torn = [b"total=nr_periods usage_usec x\n" if at == broken else text for at, text in enumerate(files)]
    seen = parse_what_can_be(driver, torn)
    known = {name: getattr(seen, name) for name in seen.__struct_fields__ if getattr(seen, name) is not None}
    assert known
    assert known.items() <= {name: getattr(SEEN, name) for name in SEEN.__struct_fields__}.items()


def test_a_quota_reads_as_time_and_period() -> None:
    unlimited, half = (Settings(quota=Quota(time, Microseconds(100_000))) for time in (None, Microseconds(50_000)))
    assert V1.knobs[Knob.QUOTA].parse(b"-1\n", b"100000\n") == V2.knobs[Knob.QUOTA].parse(b"max 100000\n") == unlimited
    assert V1.knobs[Knob.QUOTA].parse(b"50000\n", b"100000\n") == V2.knobs[Knob.QUOTA].parse(b"50000 100000\n") == half


def test_unlimited_is_written_as_each_version_spells_it() -> None:
    assert V1.knobs[Knob.QUOTA].text(None) == b"-1"
    assert V2.knobs[Knob.QUOTA].text(None) == b"max"


@given(
    st.integers(min_value=-10, max_value=1 << 20).map(Shares), st.integers(min_value=-10, max_value=1 << 20).map(Shares)
)
def test_more_shares_are_never_less_weight_and_always_in_range(one: Shares, other: Shares) -> None:
    low, high = min(one, other), max(one, other)
    assert LOWEST_SHARES <= v1_weight(low) <= v1_weight(high) <= HIGHEST_SHARES
    assert 1 <= v2_weight(low) <= v2_weight(high) <= 10_000

"""
What is seen in the terminal while the demonstration runs, and the table at its end.

Two audiences of one protocol: a live picture where somebody looks at a terminal, and plain lines where the output goes into a file or a log. Neither computes anything that
the result does not hold as well.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from slackwater.decide.plan import ActionKind, Decision
from slackwater.demo import account, doubts, wording
from slackwater.demo.account import Telling
from slackwater.demo.calibration import Calibration
from slackwater.demo.figures import Bucket, Reading, Request, buckets
from slackwater.demo.performance import Act, Performance
from slackwater.demo.stage import Facts

COLOURS = {"alone": "grey62", "unmanaged": "red", "looking": "yellow", "slackwater": "cyan", "": "grey42"}
ACT_COLOURS = {ActionKind.THROTTLE: "yellow", ActionKind.RESTORE: "green"}
LEGEND = {"alone": "alone", "unmanaged": "off", "looking": "it looks", "slackwater": "on"}
BLANK, UNANSWERED = "-", "·"
BARS = "▁▂▃▄▅▆▇█"
MARGIN = 14  # of the panel and the words before the sparkline
MOMENTS_A_SECOND = 4
LOOK_BACK = 12  # readings: the figures shown live are those of the last three seconds
Tell = Callable[[Decision], str]


class PlainLines:
    """One line whenever something changes."""

    def __init__(self, console: Console, tell: Tell) -> None:
        self._console = console
        self._tell = tell
        self._last: Act | None = None
        self._began: float | None = None
        self._at = 0.0

    def calibrated(self, facts: Facts, calibration: Calibration) -> None:
        self._line(sized(facts, calibration))

    def act(self, act: Act) -> None:
        if act != self._last:
            self._line(title(act))
        self._last = act

    def moment(self, reading: Reading, requests: Sequence[Request]) -> None:  # noqa: ARG002 - the protocol's
        if self._began is None:
            self._began = reading.at
        self._at = reading.at - self._began

    def decided(self, decision: Decision) -> None:
        self._line(self._tell(decision))

    def _line(self, text: str) -> None:
        self._console.print(f"{self._at:6.1f} s  {text}", markup=False, highlight=False, soft_wrap=True)


class LivePicture:
    """A panel that is drawn anew four times a second: what is going on, how the service fares, what was done."""

    def __init__(self, console: Console, tell: Tell, about: float) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._tell = tell
        self._about = about
        self._act = Act("", "")
        self._size = ""
        self._began: float | None = None
        self._moments = 0
        self._readings: deque[Reading] = deque(maxlen=LOOK_BACK)
        self._recent: Bucket | None = None
        self._history: deque[tuple[str, float | None]] = deque(maxlen=max(20, console.width - MARGIN))
        self._said: deque[str] = deque(maxlen=2)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.__exit__(None, None, None)

    def calibrated(self, facts: Facts, calibration: Calibration) -> None:
        self._size = sized(facts, calibration)

    def act(self, act: Act) -> None:
        self._act = act
        self._live.update(self._picture(), refresh=True)

    def moment(self, reading: Reading, requests: Sequence[Request]) -> None:
        self._began = reading.at if self._began is None else self._began
        self._moments += 1
        self._readings.append(reading)
        self._recent = self._since(self._readings[0], requests)
        if self._moments % MOMENTS_A_SECOND == 0:
            second = self._since(self._readings[max(0, len(self._readings) - 1 - MOMENTS_A_SECOND)], requests)
            self._history.append((self._act.phase, second.wait_ms if second else None))
        self._live.update(self._picture(), refresh=True)

    def decided(self, decision: Decision) -> None:
        self._said.append(self._tell(decision))

    def _since(self, start: Reading, requests: Sequence[Request]) -> Bucket | None:
        if start is self._readings[-1]:
            return None
        first = len(requests)
        while first > 0 and requests[first - 1].due >= start.at:
            first -= 1
        made = buckets((start, self._readings[-1]), requests[max(0, first - 1) :], 0.0)
        return made[0] if made else None

    def _picture(self) -> RenderableType:
        colour = COLOURS[self._act.phase]
        passed = self._readings[-1].at - self._began if self._readings and self._began is not None else 0.0
        head = Table.grid(expand=True)
        head.add_column()
        head.add_column(justify="right")
        head.add_row(
            Text(title(self._act), style=f"bold {colour}"),
            Text(f"{passed:.0f} of about {max(passed, self._about):.0f} s"),
        )
        parts: list[RenderableType] = [
            head,
            ProgressBar(total=self._about, completed=min(passed, self._about), complete_style=colour),
            Text(),
            self._now(colour),
            Text(),
            sparkline(self._history),
            Text(),
            *(Text(said, style="italic") for said in self._said),
            Text(self._size, style="dim"),
        ]
        return Panel(Group(*parts), title="Slackwater", border_style="grey42")

    def _now(self, colour: str) -> RenderableType:
        table = Table.grid(padding=(0, 3))
        names = ("wait/request", "p90", "batch work", "node CPU")
        table.add_row(*(Text(name.ljust(12), style="dim") for name in names))
        table.add_row(*(Text(value, style=f"bold {colour}") for value in figures_of(self._recent)))
        return table


def sparkline(history: Iterable[tuple[str, float | None]]) -> RenderableType:
    """A column a second. A second in which no request that was due is answered yet has no wait, which is not none: it gets a mark of its own."""
    moments = list(history)
    highest = max((wait for _, wait in moments if wait is not None), default=0.0)
    line = Text("wait  ", style="dim")
    for phase, wait in moments:
        bar = UNANSWERED if wait is None else BARS[round(wait / (highest or 1.0) * (len(BARS) - 1))]
        line.append(bar, style=COLOURS[phase])
    legend = Text("      ", style="dim")
    for phase, words in LEGEND.items():
        legend.append("█ ", style=COLOURS[phase]).append(f"{words}  ")
    legend.append(f"{UNANSWERED} no answer yet  ")
    return Group(line, legend, Text(f"      a column a second, the highest {wording.duration(highest)}", style="dim"))


def figures_of(now: Bucket | None) -> tuple[str, ...]:
    """What is not known is blank, and nothing else is: a service that answers nobody is when the rest is interesting."""
    if now is None:
        return (BLANK,) * 4
    return (
        BLANK if now.wait_ms is None else wording.duration(now.wait_ms),
        BLANK if now.p90_ms is None else wording.duration(now.p90_ms),
        f"{wording.work(now.work)}/s",
        f"{wording.cores(now.cpu_cores)} cores",
    )


def title(act: Act) -> str:
    number = f" (round {act.round})" if act.round else ""
    return f"{act.title}{number}{', measuring' if act.measuring else ''}"


def sized(facts: Facts, calibration: Calibration) -> str:
    load, workers = calibration.load, calibration.workers
    return (
        f"{facts.cpus} CPUs, {wording.BACKENDS[facts.backend]}; service {load.rate:.0f}/s of {load.cpu_ms:.2f} ms; "
        f"{workers.count} batch workers; waterline {calibration.waterline}m; "
        f"others use {wording.cores(calibration.reached.others)} cores"
    )


def print_result(console: Console, performance: Performance) -> None:
    console.print()
    for name, text in wording.header(performance):
        console.print(Text.assemble((f"{name:10}", "dim"), text))
    console.print(_table(performance))
    console.print()
    for note in wording.notes(performance):
        console.print(Text(note, style="dim"))
    console.print("\n[bold]What was done, and why[/]")
    for telling in account.tellings(performance):
        console.print(_tree(telling))
    console.print(Text(account.left_out(performance)))
    for text in account.closing(performance):
        console.print(Text(f"- {text}"))
    for warning in doubts.warnings(performance):
        console.print(Text(f"warning: {warning}", style="yellow"))
    console.print(Text(f"\n{wording.headline(performance)}", style="bold"))


def _tree(telling: Telling) -> Tree:
    """As `slackwater explain` shows it."""
    top = Tree(Text(telling.action.value, style=ACT_COLOURS.get(telling.action, "")), guide_style="dim")
    top.add(Text(telling.cause))
    for deed in telling.deeds:
        top.add(Text(deed, style="bold"))
    for rest in telling.rest:
        top.add(Text(rest, style="dim"))
    return top


def _table(performance: Performance) -> Table:
    """Fits into 80 columns; the report has room for the requests and for longer names."""
    above = 1 if performance.options.rounds > 1 else 0
    table = Table(box=None, padding=(above, 1, 0, 0), pad_edge=False)
    for number, column in enumerate(wording.COLUMNS[:-1]):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    for line in wording.table(performance.phases):
        colour = COLOURS[line.phase]
        cells = ((line.phase, ""), *line.cells[1:-1])
        table.add_row(
            *(Text.assemble((figure, colour), ("\n" + over if over else "", "dim")) for figure, over in cells)
        )
    return table

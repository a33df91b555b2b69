"""
What is seen in the terminal while the demonstration runs, and the table at its end.

Two audiences of one protocol: a live picture where somebody looks at a terminal, and plain lines where the output goes into a file or a log. Neither computes anything that
the result does not hold as well.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from slackwater.decide.plan import Decision
from slackwater.demo import doubts, wording
from slackwater.demo.calibration import Calibration
from slackwater.demo.figures import Bucket, Reading, Request, buckets
from slackwater.demo.performance import Act, Performance
from slackwater.demo.stage import Facts

COLOURS = {"alone": "grey62", "unmanaged": "red", "looking": "yellow", "slackwater": "cyan", "": "grey42"}
BARS = " ▁▂▃▄▅▆▇█"
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
        for warning in calibration.warnings:
            self._line(f"warning: {warning}")

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
        self._history: deque[tuple[str, float]] = deque(maxlen=max(20, console.width - MARGIN))
        self._said: deque[str] = deque(maxlen=2)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.__exit__(None, None, None)

    def calibrated(self, facts: Facts, calibration: Calibration) -> None:
        self._size = sized(facts, calibration)
        for warning in calibration.warnings:
            self._live.console.print(Text(f"warning: {warning}", style="yellow"))

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
            self._history.append((self._act.phase, (second.wait_ms if second else None) or 0.0))
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
        head.add_row(Text(title(self._act), style=f"bold {colour}"), Text(f"{passed:.0f} of about {self._about:.0f} s"))
        parts: list[RenderableType] = [
            head,
            ProgressBar(total=self._about, completed=min(passed, self._about), complete_style=colour),
            Text(),
            self._now(colour),
            Text(),
            self._spark(),
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

    def _spark(self) -> RenderableType:
        highest = max((wait for _, wait in self._history), default=0.0) or 1.0
        line = Text("wait  ", style="dim")
        for phase, wait in self._history:
            line.append(BARS[min(8, round(wait / highest * 8))], style=COLOURS[phase])
        return line


def figures_of(now: Bucket | None) -> tuple[str, ...]:
    if now is None or now.wait_ms is None or now.p90_ms is None:
        return ("-", "-", "-", "-")
    return (
        f"{wording.ms(now.wait_ms)} ms",
        f"{wording.ms(now.p90_ms)} ms",
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
        f"{workers.count} batch workers; waterline {calibration.waterline}m"
    )


def print_result(console: Console, performance: Performance) -> None:
    console.print()
    for name, text in wording.header(performance):
        console.print(Text.assemble((f"{name:10}", "dim"), text))
    console.print(_table(performance))
    console.print()
    for note in (*wording.NOTES, wording.requests(performance.phases)):
        console.print(Text(note, style="dim"))
    console.print("\n[bold]What was done, and why[/]")
    for said in wording.sentences(performance):
        console.print(Text(f"- {said}"))
    console.print()
    for text in wording.closing(performance):
        console.print(Text(f"- {text}"))
    for warning in doubts.warnings(performance):
        console.print(Text(f"warning: {warning}", style="yellow"))
    console.print(Text(f"\n{wording.headline(performance)}", style="bold"))


def _table(performance: Performance) -> Table:
    """Fits into 80 columns; the report has room for the requests and for longer names."""
    table = Table(box=None, padding=(1, 1, 0, 0), pad_edge=False)
    for number, column in enumerate(wording.COLUMNS[:-1]):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    for line in wording.table(performance.phases):
        colour = COLOURS[line.phase]
        cells = ((line.phase, ""), *line.cells[1:-1])
        table.add_row(*(Text.assemble((figure, colour), ("\n" + over, "dim")) for figure, over in cells))
    return table

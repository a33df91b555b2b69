"""
Simulated runs as one HTML file that needs nothing but itself: the table, and for each run its picture and its timeline.

It holds nothing of the machine and of the moment it was made, so the same runs make the same file.
"""

from collections.abc import Iterator, Sequence
from html import escape

from slackwater.cli import simulate_told
from slackwater.demo.report import STYLE
from slackwater.sim import chart
from slackwater.sim.result import Result

LONGEST_TIMELINE = 400


def html(results: Sequence[Result]) -> str:
    first = results[0]
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">',
            f"<title>{escape(first.name)}</title><style>{STYLE}</style></head><body><main>",
            f"<h1>{escape(first.name)}</h1>",
            f'<p class="quiet">{escape(simulate_told.title(first))}. Simulated: nothing here was measured on a machine.</p>',
            *_table(results),
            *(line for result in results for line in _run(result)),
            "</main></body></html>",
            "",
        )
    )


def _table(results: Sequence[Result]) -> Iterator[str]:
    yield '<div class="card"><table><thead><tr><th></th>'
    yield "".join(f"<th>{escape(result.policies)}</th>" for result in results)
    yield "</tr></thead><tbody>"
    for name, cells in simulate_told.table(results):
        yield f"<tr><td>{escape(name)}</td>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
    yield "</tbody></table></div>"


def _run(result: Result) -> Iterator[str]:
    yield f"<h2>Under {escape(result.policies)}</h2>"
    yield f'<div class="card">{chart.svg(result)}</div>'
    yield '<div class="card"><dl>'
    for moment in result.moments[:LONGEST_TIMELINE]:
        yield f"<dt>{simulate_told.clock(moment.at)}</dt><dd>{escape(moment.text)}</dd>"
    yield "</dl>"
    more = len(result.moments) - LONGEST_TIMELINE
    yield f'<p class="quiet">and {more} more</p></div>' if more > 0 else "</div>"
    for broken in result.promises_broken:
        yield f'<p class="warning">{escape(f"{broken.promise}: {broken.what}")}</p>'

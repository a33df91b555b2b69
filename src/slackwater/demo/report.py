"""
The result as one HTML file that needs nothing but itself: headline, picture, table, what was done and why, and the machine it was done on.

No script, no font and no image from elsewhere, so that it can be mailed, kept and opened in ten years.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from html import escape

from slackwater.api.units import Wall
from slackwater.demo import account, chart, doubts, wording
from slackwater.demo.performance import Performance

STYLE = """
:root{color-scheme:light dark;--paper:#f8fafc;--card:#fff;--ink:#0f172a;--quiet:#64748b;--rule:#e2e8f0;--bad:#dc2626;--good:#0d9488}
@media (prefers-color-scheme:dark){
:root{--paper:#010409;--card:#0d1117;--ink:#e6edf3;--quiet:#8b949e;--rule:#30363d;--bad:#f87171;--good:#2dd4bf}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1100px;margin:0 auto;padding:36px 24px 60px}
h1{font-size:26px;line-height:1.3;margin:0 0 6px;max-width:40em}
h2{font-size:17px;margin:34px 0 10px}
.quiet{color:var(--quiet)}
.card{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:18px;overflow-x:auto}
.card svg{display:block;width:100%;height:auto;min-width:640px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th{font-weight:600;color:var(--quiet);text-align:right;padding:4px 6px;border-bottom:1px solid var(--rule)}
td{text-align:right;padding:8px 6px;border-bottom:1px solid var(--rule);white-space:nowrap}
td small{display:block;color:var(--quiet);font-size:12px}
th:first-child,td:first-child{text-align:left;white-space:normal}
.notes{font-size:13px;margin:10px 0}
tr:last-child td{border-bottom:0}
tr.unmanaged td:nth-child(2){color:var(--bad);font-weight:700}
tr.slackwater td:nth-child(2){color:var(--good);font-weight:700}
ol,ul{margin:0;padding-left:22px}
li{margin:6px 0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:6px 18px;margin:0}
dt{color:var(--quiet)}
dd{margin:0}
.warning{border-left:4px solid #d97706;padding:8px 14px;margin:14px 0;background:var(--card)}
""".replace("\n", "")


def html(performance: Performance, at: Wall) -> str:
    when = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">',
            f"<title>Slackwater: what it does on this machine</title><style>{STYLE}</style></head><body><main>",
            f"<h1>{escape(wording.headline(performance))}</h1>",
            f'<p class="quiet">{"Computed" if performance.facts.backend == "simulated" else "Measured"} {when} by <code>{escape(wording.command(performance))}</code></p>',
            *_warnings(performance),
            f'<div class="card">{chart.svg(performance, titled=False)}</div>',
            "<h2>Figures</h2>",
            *_table(performance),
            "<h2>What was done, and why</h2>",
            *_acts(performance),
            "<h2>How it went</h2>",
            *_list("ul", account.closing(performance)),
            "<h2>Measured on</h2>",
            *_header(performance),
            "</main></body></html>",
        ]
    )


def _warnings(performance: Performance) -> Iterator[str]:
    warnings = doubts.warnings(performance)
    if performance.facts.backend == "simulated":
        yield '<p class="warning">SIMULATED: no process ran and no cgroup was touched; a model of a fair scheduler stood for the machine.</p>'
    for warning in warnings:
        yield f'<p class="warning">{escape(warning)}</p>'


def _table(performance: Performance) -> Iterator[str]:
    yield '<div class="card"><table><thead><tr>'
    yield from (f"<th>{escape(column)}</th>" for column in wording.COLUMNS)
    yield "</tr></thead><tbody>"
    for line in wording.table(performance.phases):
        cells = "".join(f"<td>{escape(figure)}{_over(over)}</td>" for figure, over in line.cells)
        yield f'<tr class="{line.phase}">{cells}</tr>'
    yield "</tbody></table></div>"
    yield from _list("ul", wording.notes(performance), "quiet notes")


def _over(text: str) -> str:
    return f"<small>{escape(text)}</small>" if text else ""


def _acts(performance: Performance) -> Iterator[str]:
    yield '<div class="card"><ol>'
    for telling in account.tellings(performance):
        deeds = "".join(f"<li>{escape(deed)}</li>" for deed in telling.deeds)
        rest = "".join(f'<li class="quiet">{escape(said)}</li>' for said in telling.rest)
        yield f"<li><b>{escape(telling.action)}</b>: {escape(telling.cause)}<ul>{deeds}{rest}</ul></li>"
    yield f'</ol><p class="quiet">{escape(account.left_out(performance))}</p></div>'


def _list(kind: str, texts: Iterable[str], style: str = "card") -> Iterator[str]:
    yield f'<div class="{style}"><{kind}>'
    yield from (f"<li>{escape(text)}</li>" for text in texts)
    yield f"</{kind}></div>"


def _header(performance: Performance) -> Iterator[str]:
    yield '<div class="card"><dl>'
    yield from (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in wording.header(performance))
    yield "</dl></div>"

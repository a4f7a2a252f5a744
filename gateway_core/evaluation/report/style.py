"""The page's style sheet: light or dark as the reader likes, light on paper, any width."""

from typing import Final

CSS: Final = """
:root { color-scheme: light dark; --page: #fff; --ink: #1a1f2b; --soft: #5b6472;
  --edge: #d9dee6; --card: #f7f8fa; --raw: #b4490b; --fit: #1f57c3; --good: #5f8fd9;
  --bad: #d97a4a; }
@media (prefers-color-scheme: dark) { :root { --page: #12151b; --ink: #e8ebf0;
  --soft: #a3adbb; --edge: #333b47; --card: #1a1f27; --raw: #ff9d5c; --fit: #86b0ff;
  --good: #5b86cc; --bad: #d07a48; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.25rem; max-width: 70rem; background: var(--page);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0 0 .25rem; }
p { margin: .25rem 0 .75rem; } .soft { color: var(--soft); font-size: .875rem; }
h2, p, th { overflow-wrap: anywhere; } tbody th { min-width: 7rem; }
.stacked thead th { overflow-wrap: normal; }
.scroll { overflow-x: auto; margin-bottom: .75rem; } figcaption { margin-bottom: .5rem; }
.keys { margin: .25rem 0 0; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .7rem; border-bottom: 1px solid var(--edge); text-align: left;
  vertical-align: top; }
thead th { color: var(--soft); font-weight: 600; white-space: nowrap; }
.number { white-space: nowrap; } .range { color: var(--soft); display: block; }
.charts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%,
  22rem), 1fr)); }
figure { margin: 0; padding: .9rem; background: var(--card); border: 1px solid var(--edge);
  border-radius: .5rem; min-width: 0; break-inside: avoid; display: flex;
  flex-direction: column; }
figure.wide { grid-column: 1 / -1; } footer { margin-top: 1.5rem; }
svg { display: block; width: 100%; height: auto; margin-top: auto; }
svg text { fill: var(--soft); font: 11px system-ui, sans-serif; }
.grid { stroke: var(--edge); } .ideal { stroke: var(--soft); stroke-dasharray: 3 4; fill: none; }
.band { fill: none; stroke: var(--edge); stroke-width: 1.5; }
.line { fill: none; stroke-width: 2; } .line.raw { stroke: var(--raw); stroke-dasharray: 6 3; }
.line.calibrated { stroke: var(--fit); } .line.plain { stroke: var(--ink); }
.dot { stroke-width: 2; } .dot.raw { fill: var(--page); stroke: var(--raw); }
.dot.calibrated { fill: var(--fit); stroke: var(--fit); }
.right { fill: var(--good); } .wrong { fill: var(--bad); }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 .7em;
  border-radius: 50%; border: 2px solid var(--raw); }
.key.calibrated { border-color: var(--fit); background: var(--fit); }
.key.right { border-color: var(--good); background: var(--good); border-radius: 0; }
.key.wrong { border-color: var(--bad); background: var(--bad); border-radius: 0; }
tr.off td { font-weight: 600; color: var(--raw); }
.cell { text-align: right; background: color-mix(in srgb, var(--good) var(--share), transparent); }
.cell.off { background: color-mix(in srgb, var(--bad) var(--share), transparent); }
@media screen and (max-width: 42rem) { .stacked thead { display: none; }
  .stacked tr, .stacked th, .stacked td { display: block; border: 0; padding: .15rem 0; }
  .stacked tr { padding: .6rem 0; border-bottom: 1px solid var(--edge); }
  .stacked td { display: grid; grid-template-columns: 8rem 1fr; }
  .stacked td::before { content: attr(data-name); color: var(--soft); }
  .stacked .range { display: inline; margin-left: .4rem; } }
@media print { :root { color-scheme: light; --page: #fff; --ink: #000; --soft: #444;
  --edge: #bbb; --card: #fff; --raw: #b4490b; --fit: #1f57c3; --good: #5f8fd9; --bad: #d97a4a; }
  body { padding: 1px; max-width: none; font-size: 10pt; } .scroll { overflow: visible; }
  thead th, .number { white-space: normal; } tbody th { min-width: 0; } table { font-size: 8pt; }
  .range { white-space: nowrap; }
  .charts { grid-template-columns: 1fr 1fr; } h2, section > p { break-after: avoid; }
  th, td { padding: .25rem; } thead th { min-width: 5em; } figcaption { font-size: 8pt; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""

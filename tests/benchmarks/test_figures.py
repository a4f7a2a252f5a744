"""What the bench reads, computes and writes."""

import pkgutil
from importlib import import_module
from math import isnan

import pytest

import benchmarks
from benchmarks import document, load
from benchmarks.document import Goal, goals, replaced
from benchmarks.figures import Figures, Spread, rate
from benchmarks.load import Load, Measured
from benchmarks.relay import SIZES, Matrix, Run, body_of
from benchmarks.relay_report import render
from benchmarks.upstream import reply_of
from gateway_core.relay.body import read_json_body

WRK = """\
Running 3s test @ http://127.0.0.1:1/v1/systemone
  1 threads and 16 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   332.05us  250.07us   7.55ms   97.48%
  Latency Distribution
     50%  297.00us
     75%    0.35ms
     90%    1.20ms
     99%    1.01s
  148251 requests in 3.10s, 141.37MB read
  Socket errors: connect 1, read 0, write 2, timeout 0
  Non-2xx or 3xx responses: 7
Requests/sec:  47822.93
Transfer/sec:     45.60MB
"""


@pytest.mark.parametrize(
    "name", [found.name for found in pkgutil.iter_modules(benchmarks.__path__)]
)
def test_every_module_of_the_bench_can_be_imported(name: str) -> None:
    assert import_module(f"benchmarks.{name}").__doc__


def test_what_wrk_prints_is_read() -> None:
    expected = Load(rate=47822.93, p50=0.297, p90=1.2, p99=1010.0, failed=10, requests=148251)
    assert load.parse(WRK) == expected


def test_a_run_without_an_answer_has_no_latency() -> None:
    found = load.parse("0 requests in 3.00s, 0.00B read\nRequests/sec:      0.00\n")
    assert isnan(found.p50)
    assert (found.requests, found.rate) == (0, 0.0)


def run(target: str, number: int, rate: float, p50: float, connections: int = 16) -> Run:
    shown = Load(rate=rate, p50=p50, p90=p50, p99=p50, failed=0, requests=100)
    return Run(target, "1 KB", connections, number, Measured(shown, cpu_us=5.0, memory=1_000_000))


RUNS = [
    run("direct", 0, 100, 0.1),
    run("nginx", 0, 50, 0.2),
    run("s1gw", 0, 10, 0.4),
    run("direct", 1, 80, 0.2),
    run("nginx", 1, 20, 0.6),
    run("s1gw", 1, 8, 0.8),
]


def test_ratios_are_of_the_same_round() -> None:
    figures = Figures(RUNS)
    assert figures.ratio("s1gw", "nginx", "1 KB", 16, rate) == Spread(
        pytest.approx(0.3), pytest.approx(0.2), pytest.approx(0.4)
    )
    assert figures.added("nginx", "1 KB", 16, "p50") == Spread(
        pytest.approx(0.25), pytest.approx(0.1), pytest.approx(0.4)
    )


def test_what_was_not_measured_has_no_figure() -> None:
    figures = Figures(RUNS)
    assert figures.ratio("s1gw", "litellm", "1 KB", 16, rate) is None
    assert figures.across("s1gw", "1 KB", 256, 16, rate) is None


def test_the_report_shows_every_way_and_leaves_out_what_was_not_run() -> None:
    shown = render(Matrix(runs=RUNS, idle_memory={"s1gw": 41_000_000, "compiled": 43_000_000}))
    assert "| throughput over nginx's, 16 connections, 1 KB | at least 0.2 | 0.30" in shown
    assert (
        "| throughput over LiteLLM's, 16 connections, 1 KB | at least 100 | not measured" in shown
    )
    assert "| 16 s1gw | 9 (8 to 10) |" in shown
    assert "16 compiled" not in shown


def test_a_target_is_reached_or_not() -> None:
    shown = goals(Goal("a", 1.0, most=2), Goal("b", 3.0, most=2), Goal("c", 1.0, least=2))
    assert [line.split("|")[4].strip() for line in shown.splitlines()[2:]] == [
        "yes",
        "**no**",
        "**no**",
    ]


def test_only_what_is_between_the_markers_is_replaced() -> None:
    text = "a\n<!-- measured: relay -->\nold \\1\n<!-- end -->\nb\n"
    assert replaced(text, "relay", "new \\1") == text.replace("old", "new")
    with pytest.raises(ValueError, match="one place for 'scale'"):
        replaced(text, "scale", "new")


def test_the_document_has_a_place_for_every_part() -> None:
    from benchmarks.__main__ import PARTS

    text = document.DOCUMENT.read_text(encoding="utf-8")
    for name in PARTS:
        replaced(text, name, "")


@pytest.mark.parametrize("size", SIZES.values())
def test_bodies_and_replies_have_their_sizes_and_are_relayed(size: int) -> None:
    body = body_of(size)
    assert size * 0.9 < len(body) < size * 1.1
    assert read_json_body(body).model
    head, _, content = reply_of(size).partition(b"\r\n\r\n")
    assert f"content-length: {len(content)}".encode() in head
    assert size * 0.8 < len(content) < size * 1.2

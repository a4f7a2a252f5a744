"""The other parts of the bench in tables."""

from collections.abc import Mapping
from typing import Final

from benchmarks.decide import PROVIDER_S, Share
from benchmarks.document import Goal, goals, spread, table
from benchmarks.endurance import ACTIVE, IDLE, IN_FLIGHT, SLOW_S, Endurance
from benchmarks.scale import LARGE, Scale
from benchmarks.startup import Startup

_MEGABYTE: Final = 1e6


def render_endurance(found: Endurance) -> str:
    """Return the table of what a long life costs."""
    few, many = found.requests
    grown = found.memory[1] / found.memory[0]
    rows = [
        Goal(f"memory after {many:,} requests over that after {few:,}", grown, most=1.1),
        Goal(f"throughput beside {IDLE:,} idle connections ({ACTIVE} active)", found.idle_ratio),
        Goal("memory of these, MB", found.idle_memory / _MEGABYTE, digits=0),
        Goal("answered afterwards, of these", found.idle_answered, least=IDLE, digits=0),
    ]
    for size, (memory, answered) in found.waiting.items():
        what = f"{IN_FLIGHT} requests of {size // 1000} KB that wait {SLOW_S:g} s"
        rows.append(Goal(f"memory of {what}, MB", memory / _MEGABYTE, digits=0))
        rows.append(Goal("answered in the end, of these", answered, least=IN_FLIGHT, digits=0))
    return goals(*rows)


def render_scale(found: Scale) -> str:
    """Return the table of a large configuration, and of workers."""
    small, large = found.start_s
    providers = LARGE.orgs * LARGE.providers
    many = f"{LARGE.keys:,} keys, {LARGE.orgs} organizations, {providers:,} providers"
    return goals(
        Goal(f"start with {many}, s", large, most=2),
        Goal("start with one of each, s", small),
        Goal("CPU of a request over that with one of each, one key used", found.cpu, most=1.1),
        Goal("the same, all keys used in turn", found.cpu_in_turn),
        Goal("memory when all of these were used, MB", found.memory[1] / _MEGABYTE, digits=0),
        Goal("memory with one of each, MB", found.memory[0] / _MEGABYTE, digits=0),
        Goal("throughput of two workers over that of one", found.workers, least=1.8),
        Goal("CPU of a request with two workers over that with one", found.workers_cpu),
    )


def render_decide(found: Mapping[int, Share]) -> str:
    """Return the table of the decide path."""
    rows = []
    for count, share in found.items():
        (own50, own99), (whole50, whole99) = share.gateway, share.call
        rows += [
            Goal(f"the gateway's own share, {count} at once, p50 ms", own50, most=1),
            Goal(f"the gateway's own share, {count} at once, p99 ms", own99, most=5),
            Goal(f"the client's view over MCP, {count} at once, p50 ms", whole50),
            Goal(f"the client's view over MCP, {count} at once, p99 ms", whole99),
        ]
    return f"The provider takes {PROVIDER_S * 1000:.0f} ms.\n\n{goals(*rows)}"


def render_startup(found: Startup) -> str:
    """Return the tables of start-up."""
    http = found.seconds["s1gw serve --http"].middle - found.seconds["python -c pass"].middle
    limits = (
        ("s1gw --help", "import click", 3.0),
        ("s1gw plugins list", "import click", 3.0),
        ("s1gw serve --mcp", "minimal mcp server", 0.6),
    )
    rows = [
        Goal(f"`{name}` over `{other}`", found.ratio(name, other), most=most)
        for name, other, most in limits
    ]
    ready = Goal("`s1gw serve --http` ready, beyond the interpreter's start, s", http, most=0.5)
    seconds = [(f"`{name}`", spread(value)) for name, value in found.seconds.items()]
    return f"{goals(*rows, ready)}\n\n{table(('started', 'seconds'), seconds)}"

"""Checks of what a provider does to the process and to the network while it is asked.

They prove that there is no other way than the right one: all of them read what was seen on one
tour through everything that a provider is asked.
"""

from gateway_core.testing.checks.check import Needs, check, require
from gateway_core.testing.checks.subject import KEY, Subject
from gateway_core.testing.checks.tour import CALLERS_KEY, SAID, WORDS, Tour, toured
from gateway_core.testing.watch.audit import Deed
from gateway_core.testing.watch.pulse import STOPPED_S


@check(
    "Everything goes out by the host's way.",
    why="The operator's proxies, certificates and forbidden destinations hold nowhere else.",
    needs=Needs.ANSWERS,
)
def everything_goes_the_hosts_way(subject: Subject) -> None:
    """``context.post``, ``context.get`` and ``context.http``, not a client of one's own."""
    tour = toured(subject)
    others = tour.audit.of(Deed.NETWORK)
    require(not others, f"something went another way: {', '.join(others)}")
    own = tour.received - tour.sent
    require(own <= 0, f"{own} of {tour.received} requests went another way to the upstream")


@check(
    "The probe asks nobody but the configured host.",
    why="Another host was never vetted, is not the operator's, and learns that it is asked.",
    needs=Needs.ANSWERS,
)
def the_probe_stays_on_its_host(subject: Subject) -> None:
    """Whatever path it asks there; listing models asks nobody else, either."""
    elsewhere = toured(subject).probed_elsewhere
    require(not elsewhere, f"it asked {_listed(elsewhere)}")


@check(
    "Nothing holds up the event loop.",
    why="Every call of the gateway runs on it: while it stands still, everybody waits.",
    needs=Needs.ANSWERS,
)
def waiting_blocks_nobody(subject: Subject) -> None:
    """Neither waiting nor computing: what takes long belongs into a thread."""
    longest = toured(subject).longest
    place = longest.place and f" at {longest.place}"
    require(longest.seconds < STOPPED_S, f"it stood still for {longest.seconds:.2f} s{place}")


@check(
    "Asking writes no file.",
    why="What was asked would stay on a disk that nobody thinks of.",
    needs=Needs.ANSWERS,
)
def asking_writes_no_file(subject: Subject) -> None:
    """Nor makes, moves or removes one."""
    _did_not(toured(subject), Deed.FILE)


@check(
    "Asking starts no process and sends no signal.",
    why="It costs memory for every call, and sees the gateway's environment with all keys.",
    needs=Needs.ANSWERS,
)
def asking_starts_no_process(subject: Subject) -> None:
    """A thread is all right."""
    _did_not(toured(subject), Deed.PROCESS)


@check(
    "Asking changes nothing that belongs to the whole process.",
    why="Environment, signals, logging and event loops are the host's and the operator's.",
    needs=Needs.ANSWERS,
)
def asking_changes_nothing(subject: Subject) -> None:
    """Compared before and after: libraries change a variable for the moment of their import."""
    changed = toured(subject).changed
    require(not changed, f"it changed {', '.join(changed)}")


@check(
    "No error, no probe and no log line holds a key, what was asked, or what the upstream said.",
    why="They all travel further than anyone plans, and an upstream may echo anything.",
    needs=Needs.ANSWERS,
)
def errors_and_logs_tell_no_secret(subject: Subject) -> None:
    """``upstream_message`` is the one place for the upstream's words."""
    told = toured(subject).told
    for secret in (KEY.reveal(), CALLERS_KEY.reveal(), SAID, *WORDS):
        require(not any(secret in text for text in told), f"one holds {secret!r}")


def _did_not(tour: Tour, deed: Deed) -> None:
    found = tour.audit.of(deed)
    require(not found, f"it caused {', '.join(found)}")


def _listed(urls: list[str]) -> str:
    return ", ".join(sorted(set(urls)))

"""How many small faults the tests find: random mutants of five rooms, each tried by its own tests.

`make mutants` writes docs/mutants.md. A mutant is one change of the source, made by cosmic-ray: an
operator replaced, a condition negated, a number changed. The tests of the mutant's room run on a
copy of the checkout; a mutant that none of them notices has survived.
"""

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory
from typing import Final

import attrs
from cosmic_ray.commands import init
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "mutants.md"
SEED: Final = 20261201
NUMBER: Final = 200
COPIES: Final = 2
TIMEOUT_S: Final = 300
TESTS: Final[Mapping[str, Sequence[str]]] = {
    "decide": ["tests/decide", "tests/middleware", "tests/test_gateway.py"],
    "door": ["tests/door", "tests/relay", "tests/servers/http/test_tenants.py"],
    "http1": [
        *("tests/http1", "tests/outbound", "tests/door/test_bodies.py"),
        *("tests/servers/http/test_connection.py", "tests/servers/http/test_timeouts.py"),
    ],
    "outbound": ["tests/outbound", "tests/relay/test_told.py"],
    "relay": ["tests/relay", "tests/servers/http/test_paths.py"],
}
"""The tests that try a mutant, by its room."""
IGNORED: Final = ("BinaryOperator_BitOr_", "BinaryOperator_Pow_", "RemoveDecorator")
"""Operators whose mutants are unions of types, unpacked arguments, or records that are none: each
fails at import, and would only flatter the score."""

_SUMMARY: Final = (
    "Written by `make mutants`; it takes an hour or two on two processors. Each of {number} random"
    " small changes of the source is tried by the tests of its room alone: {killed} were noticed"
    " ({share:.0%})."
)


@attrs.frozen
class Verdict:
    """What came of one mutant."""

    room: str
    mutant: MutationSpec
    killed: bool

    @property
    def place(self) -> str:
        """Where it is, and what was changed."""
        row, _ = self.mutant.start_pos
        what = self.mutant.operator_name.removeprefix("core/")
        return f"`{self.mutant.module_path}:{row}` {what}"


def mutants() -> list[MutationSpec]:
    """Return `NUMBER` mutants, the same ones for the same sources."""
    modules = [path for room in TESTS for path in sorted(Path("gateway_core", room).rglob("*.py"))]
    with (
        TemporaryDirectory() as folder,
        use_db(f"{folder}/mutants.sqlite", WorkDB.Mode.create) as db,
    ):
        init(modules, db, {})
        found = [mutation for item in db.work_items for mutation in item.mutations]
    places: dict[tuple[str, tuple[int, int]], list[MutationSpec]] = {}
    for one in sorted(found, key=lambda one: (one.operator_name, one.occurrence)):
        if not any(name in one.operator_name for name in IGNORED):
            places.setdefault((str(one.module_path), one.start_pos), []).append(one)
    # A place with many operators counts once.
    chance = random.Random(SEED)
    return [chance.choice(places[at]) for at in chance.sample(sorted(places), NUMBER)]


def verdicts(chosen: Sequence[MutationSpec]) -> Iterator[Verdict]:
    """Try each mutant in one of the copies of the checkout."""
    with TemporaryDirectory() as folder, ThreadPoolExecutor(COPIES) as pool:
        free: Queue[Path] = Queue()
        for number in range(COPIES):
            free.put(_copy(Path(folder, str(number))))

        def tried(mutant: MutationSpec) -> Verdict:
            copy = free.get()
            try:
                return _tried(mutant, copy)
            finally:
                free.put(copy)

        yield from pool.map(tried, chosen)


def _copy(folder: Path) -> Path:
    ignored = shutil.ignore_patterns(".git", ".venv*", "build", "__pycache__", ".*_cache")
    return Path(shutil.copytree(ROOT, folder, ignore=ignored))


def _tried(mutant: MutationSpec, copy: Path) -> Verdict:
    room = mutant.module_path.parts[1]
    source = copy / mutant.module_path
    before = source.read_bytes()
    change = ["apply", str(mutant.module_path), mutant.operator_name, str(mutant.occurrence)]
    _run([sys.executable, "-m", "cosmic_ray.cli", *change], copy)
    try:
        tests = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *TESTS[room]]
        killed = _run(tests, copy) != 0
    finally:
        source.write_bytes(before)
    return Verdict(room, mutant, killed)


def _run(command: Sequence[str], folder: Path) -> int:
    # The copy comes before the checkout that is installed.
    environment = {
        "PATH": "/usr/bin:/bin:/usr/sbin",
        "PYTHONPATH": str(folder),
        "HOME": str(folder),
    }
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        return 1


def page(found: Sequence[Verdict]) -> str:
    """Return the page: a score a room, and the mutants that survived."""
    rows = []
    for room in TESTS:
        own = [one for one in found if one.room == room]
        rows.append(f"| `{room}` | {len(own)} | {sum(one.killed for one in own)} |")
    killed = sum(one.killed for one in found)
    survivors = [f"- {one.place}" for one in found if not one.killed]
    return "\n".join(
        [
            "# Mutants",
            "",
            _SUMMARY.format(number=len(found), killed=killed, share=killed / len(found)),
            "",
            "| room | mutants | noticed |",
            "|---|---|---|",
            *rows,
            "",
            "Not noticed:" if survivors else "None survived.",
            "",
            *survivors,
            "",
        ]
    )


def main() -> None:
    """Try the mutants and write the page."""
    found = []
    for one in verdicts(mutants()):
        found.append(one)
        print(len(found), "killed" if one.killed else "SURVIVED", one.place, flush=True)
    PAGE.write_text(page(found))


if __name__ == "__main__":
    main()

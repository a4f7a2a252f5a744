"""A new provider is complete at once, installed as a stranger's would be."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import pytest

from gateway_core.errors import ConfigError
from gateway_core.scaffold import TemplateKind, render, write_distribution
from gateway_core.testing import Received, Reply, ScriptedUpstream, standard_answer

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "s1gw-echo"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module", params=list(TemplateKind))
def installed(request, tmp_path_factory) -> tuple[TemplateKind, Path, Path]:
    """A new distribution of each kind: the kind, its folder, and where it is installed."""
    folder = write_distribution("my-own", request.param, tmp_path_factory.mktemp("new"))
    site = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--no-index", "--target", site, folder], check=True, timeout=110)
    return request.param, folder, site


@pytest.fixture
def run(installed, tmp_path: Path) -> Run:
    """Run Python with the new distribution installed, away from the checkout's configuration."""
    _, folder, site = installed

    def ran(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "PYTHONPATH": str(site)}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env={**os.environ, **home, **environ},
            capture_output=True,
            text=True,
            check=False,
            timeout=110,
        )

    return ran


def test_the_example_is_installed_like_a_strangers_package() -> None:
    echo = distribution("s1gw-echo")
    source = Path(str(echo.locate_file("s1gw_echo/provider.py")))
    assert EXAMPLE not in source.parents
    stale = "the example has changed; run: pip install ./examples/s1gw-echo"
    assert source.read_text() == (EXAMPLE / "src/s1gw_echo/provider.py").read_text(), stale


def test_its_tests_pass_at_once(run: Run) -> None:
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout


def test_it_passes_the_check_of_the_command_line(run: Run) -> None:
    done = run("-m", "gateway_core.cli", "plugins", "check", "my-own")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAIL" not in done.stdout


def test_it_is_formatted_and_typed(installed, run: Run) -> None:
    for arguments in (["ruff", "check", "."], ["ruff", "format", "--check", "."]):
        done = run("-m", *arguments)
        assert done.returncode == 0, done.stdout
    done = run("-m", "mypy", "--strict", "--cache-dir", os.devnull, "src", MYPYPATH="src")
    assert done.returncode == 0, done.stdout


def test_a_new_provider_decides_in_a_gateway(installed, run: Run, tmp_path: Path) -> None:
    kind, _, _ = installed

    def answer(received: Received) -> Reply:
        if kind is TemplateKind.CUSTOM:
            return Reply(body={"picked": received.json()["options"][-1]})
        return standard_answer(received)

    config = tmp_path / "config.toml"
    with ScriptedUpstream() as upstream:
        upstream.answer(answer)
        config.write_text(
            f'[decide]\nchain = ["mine"]\nthreshold = 0\n[providers.mine]\ndialect = "my-own"\n'
            f'base_url = "{upstream.url}"\napi_key = {{ env = "MY_KEY" }}\nmodels = ["m"]\n'
        )
        arguments = ["--config", str(config), "decide", "Which team?", "-o", "a", "-o", "b"]
        done = run("-m", "gateway_core.cli", *arguments, "--json", MY_KEY="k-1")
        (sent,) = upstream.requests
    assert done.returncode == 0, done.stdout + done.stderr
    reply = json.loads(done.stdout)
    assert (reply["status"], reply["decision"], reply["provider"]) == ("decided", "b", "mine")
    assert sent.headers["authorization"] == "Bearer k-1"


def test_the_example_is_what_the_command_writes() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "."],
        cwd=EXAMPLE,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert {path: (EXAMPLE / path).read_text() for path in listed} == render(
        "echo", TemplateKind.SYSTEMONE
    )


@pytest.mark.parametrize("name", ["Echo", "1echo", "echo_two", "echo-", "../echo", "a/b", ""])
def test_a_name_that_cannot_be_a_dialect_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="lower-case words"):
        write_distribution(name, TemplateKind.SYSTEMONE, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "reason"), [("s1gw-echo", "put before it"), ("test-x", "pytest")])
def test_a_name_that_would_not_work_is_refused(name: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=reason):
        write_distribution(name, TemplateKind.SYSTEMONE, tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "s1gw-echo").mkdir()
    with pytest.raises(ConfigError, match="exists already"):
        write_distribution("echo", TemplateKind.SYSTEMONE, tmp_path)


def test_the_command_says_what_comes_next(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gateway_core.cli", "plugins", "new", "echo"]
    arguments = ["--format", "openai", "--directory", str(tmp_path)]
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    assert "s1gw plugins check echo" in done.stdout
    assert (tmp_path / "s1gw-echo" / "src" / "s1gw_echo" / "provider.py").is_file()


def test_a_refused_name_is_an_error_of_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gateway_core.cli", "plugins", "new", "Echo"]
    done = subprocess.run(
        [*command, "--directory", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "'Echo' must be lower-case words" in done.stderr

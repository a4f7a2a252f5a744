"""s1gw as a target: organizations with keys, limits, policy and the access log on."""

import contextlib
import http.client
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from benchmarks.processes import GATEWAY_CORE, free_port, running
from benchmarks.targets import MODEL, PATH, Target, port_of
from gateway_core.door.keys.file import changing_keys
from gateway_core.door.keys.record import KeySettings, make_key

_MANY: Final = 100_000
_ROOT: Final = Path(__file__).resolve().parent.parent
_COMPILED: Final = _ROOT / "build" / "compiled"
_ADDRESS: Final = "192.0.2.1"
"""For documentation (RFC 5737); `benchmarks.gateway` says why."""
_HEAD: Final = '[log]\nformat = "json"\n'
_ORG: Final = """
[orgs.{org}.limits]
rpm = 1000000000
concurrency = 100000
"""
_PROVIDER: Final = """
[orgs.{org}.providers.{name}]
api_format = "systemone"
base_url = "http://{address}:{port}"
api_key = {{ env = "BENCHMARK_KEY" }}
models = ["{model}"]
"""


@attrs.frozen(kw_only=True)
class Size:
    """How much is configured: organizations, providers of each, keys in all."""

    orgs: int = 1
    providers: int = 1
    keys: int = 1


@attrs.frozen
class Setting:
    """One gateway's files, its environment and its keys."""

    config: Path
    state: Path
    environment: dict[str, str]
    keys: tuple[str, ...]


def write_setting(folder: Path, provider: Target, size: Size) -> Setting:
    """Write the configuration and the keys of ``size``; all providers lead to ``provider``."""
    home = folder / f"s1gw-{free_port()}"
    (home / "state").mkdir(parents=True)
    config = home / "config.toml"
    config.write_text(_config(size, port_of(provider)))
    keys = [
        make_key(KeySettings(org=_org(number % size.orgs), rpm=1_000_000_000, concurrency=_MANY))
        for number in range(size.keys)
    ]
    with changing_keys(home / "state" / "keys.json") as kept:
        kept.update((record.id, record) for record, _ in keys)
    environment = {
        "S1GW_CONFIG": str(config),
        "S1GW_STATE_DIR": str(home / "state"),
        "BENCHMARK_KEY": "benchmark-provider-key",
    }
    return Setting(config, home / "state", environment, tuple(key.reveal() for _, key in keys))


@contextlib.contextmanager
def s1gw(
    folder: Path,
    provider: Target,
    *,
    workers: int = 1,
    cores: str = GATEWAY_CORE,
    size: Size | None = None,
    compiled: bool = False,
) -> Iterator[Target]:
    """Run the gateway until it is ready, from its sources or with its hot modules compiled."""
    setting = write_setting(folder, provider, size or Size())
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.gateway", str(setting.config)]
    command += [str(port), str(workers)]
    environment = {**setting.environment, **(_compiled_first() if compiled else {})}
    with running(command, port, cores, environment) as pid:
        wait_until_ready(port)
        name = "compiled" if compiled else "s1gw"
        yield Target(name, f"http://127.0.0.1:{port}{PATH}", pid, setting.keys)


def _compiled_first() -> dict[str, str]:
    if not (_COMPILED / ".ready").exists():
        sys.exit("the bench needs the compiled gateway: make build/compiled/.ready")
    path = os.pathsep.join(map(str, (_COMPILED, _ROOT)))
    return {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"}


def wait_until_ready(port: int) -> None:
    """Wait for the answer of ``/readyz``: the port is open before the gateway is."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", "/readyz")
        if connection.getresponse().status != 200:
            sys.exit("s1gw is not ready; its configuration has faults")


def _config(size: Size, port: int) -> str:
    parts = [_HEAD]
    for number in range(size.orgs):
        org = _org(number)
        parts.append(_ORG.format(org=org))
        for index in range(size.providers):
            name, model = ("typesafe", MODEL) if index == 0 else (f"p{index}", f"m{index}")
            parts.append(
                _PROVIDER.format(org=org, name=name, model=model, address=_ADDRESS, port=port)
            )
    return "".join(parts)


def _org(number: int) -> str:
    return f"org{number}"

"""The ways from a client to the upstream: direct, nginx, LiteLLM's pass-through, s1gw."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from benchmarks.processes import GATEWAY_CORE, LOAD_CORES, free_port, need, running

PATH: Final = "/v1/systemone"
MODEL: Final = "jev-1.13.0"
_ROOT: Final = Path(__file__).resolve().parent.parent
_LITELLM: Final = _ROOT / ".venv-litellm"
_NGINX: Final = """\
worker_processes {workers};
daemon off;
pid {folder}/nginx.pid;
error_log /dev/null;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_max_body_size 32m;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  client_body_buffer_size 8m;
  proxy_buffers 64 128k;
  proxy_buffer_size 128k;
  proxy_busy_buffers_size 256k;
  keepalive_requests 100000000;
  upstream provider {{ server 127.0.0.1:{upstream}; keepalive 512; keepalive_requests 100000000; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }}
  }}
}}
"""
_LITELLM_CONFIG: Final = """\
general_settings:
  master_key: sk-benchmark-0a9f8e7d6c5b4a39281706f5e4d3
  pass_through_endpoints:
    - path: "/v1/systemone"
      target: "http://127.0.0.1:{upstream}/v1/systemone"
      headers: {{Authorization: "bearer benchmark"}}
      auth: false
"""


@attrs.frozen
class Target:
    """A running way to the upstream: its URL, its process, and the keys it wants."""

    name: str
    url: str
    pid: int
    keys: tuple[str, ...] = ("none",)


@contextlib.contextmanager
def upstream(size: int, delay_s: float = 0) -> Iterator[Target]:
    """Run the fake provider whose replies have ``size`` bytes and come after ``delay_s``."""
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.upstream", str(port), str(size), str(delay_s)]
    with running(command, port, LOAD_CORES) as pid:
        yield Target("direct", f"http://127.0.0.1:{port}{PATH}", pid)


def port_of(target: Target) -> int:
    """Return the port in a target's URL."""
    return int(target.url.split(":")[2].split("/")[0])


@contextlib.contextmanager
def nginx(folder: Path, provider: Target, workers: int = 1) -> Iterator[Target]:
    """Run nginx with `proxy_pass`: the practical limit."""
    port = free_port()
    config = folder / f"nginx-{port}.conf"
    values = {"folder": folder, "upstream": port_of(provider), "port": port, "workers": workers}
    config.write_text(_NGINX.format(**values))
    with running([need("nginx"), "-c", str(config)], port, GATEWAY_CORE) as pid:
        yield Target("nginx", f"http://127.0.0.1:{port}{PATH}", pid)


@contextlib.contextmanager
def litellm(folder: Path, provider: Target) -> Iterator[Target]:
    """Run LiteLLM proxy's pass-through endpoint, from an environment of its own."""
    if not (_LITELLM / ".ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(_LITELLM)], check=True)
        pip = [str(_LITELLM / "bin" / "pip"), "install", "--quiet"]
        subprocess.run([*pip, "-r", str(_ROOT / "benchmarks/litellm.txt")], check=True)
        (_LITELLM / ".ready").touch()
    port = free_port()
    config = folder / f"litellm-{port}.yaml"
    config.write_text(_LITELLM_CONFIG.format(upstream=port_of(provider)))
    command = [str(_LITELLM / "bin" / "litellm"), "--config", str(config)]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    # Its start would fetch a price list from the internet; the copy it ships is enough.
    environment = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with running(command, port, GATEWAY_CORE, environment) as pid:
        yield Target("litellm", f"http://127.0.0.1:{port}{PATH}", pid)

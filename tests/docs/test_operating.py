"""The page about operating: its units are sound, and what it says of settings is so."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from gateway_core.config.model import HttpConfig
from gateway_core.servers.http.checked import FIXED

PAGE: Final = (Path(__file__).parents[2] / "docs" / "operating.md").read_text(encoding="utf-8")
UNITS: Final = re.findall(r"^```ini\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_units_are_what_systemd_takes(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    assert analyze, "systemd-analyze is needed: apt-get install systemd"
    service, listener = UNITS
    # Verified is that the command exists, too.
    command = str(Path(sys.executable).parent / "s1gw")
    (tmp_path / "s1gw.service").write_text(service.replace("/usr/local/bin/s1gw", command))
    (tmp_path / "s1gw.socket").write_text(listener)
    done = subprocess.run(
        [
            analyze,
            "verify",
            "--man=no",
            str(tmp_path / "s1gw.service"),
            str(tmp_path / "s1gw.socket"),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    ours = [line for line in done.stderr.splitlines() if "s1gw" in line]
    assert (ours, done.returncode) == ([], 0)


def test_systemd_waits_longer_than_the_end_may_take() -> None:
    wait_s = int(re.search(r"TimeoutStopSec=(\d+)", UNITS[0])[1])
    assert wait_s >= HttpConfig().drain_delay_s + HttpConfig().drain_s + 10


def test_what_is_read_at_the_start_alone_is_listed() -> None:
    sentence = PAGE.partition("Read at the start alone are the keys")[2].partition(".")[0]
    assert set(re.findall(r"`(\w+)`", sentence)) == set(FIXED)

"""A body waits in memory, in a file without a name."""

import os
import sys
from pathlib import Path

import pytest

from gateway_core.relay.large.spool import new_file, read_all, write_all


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such files")
def test_a_body_is_never_written_to_a_disk() -> None:
    file = new_file()
    try:
        assert "memfd:s1gw-body" in str(Path(f"/proc/self/fd/{file}").readlink())
        write_all(file, b"told in confidence")
        assert read_all(file, 18) == b"told in confidence"
    finally:
        os.close(file)

"""What every test of this plugin shares."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"

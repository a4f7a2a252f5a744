"""What every test of the host shares."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"

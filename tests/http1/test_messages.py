"""What headers hold."""

import pytest

from gateway_core.http1.messages import header_id


@pytest.mark.parametrize(
    ("request_id", "carried"),
    [
        ("order-4711", "order-4711"),
        ("a b/c", "a b/c"),
        (" a ", "%20a%20"),
        ("a\r\nx-evil: 1", "a%0D%0Ax-evil%3A%201"),
        ("na\u00efve/1", "na%C3%AFve%2F1"),
    ],
)
def test_an_id_is_carried_as_it_is_or_percent_encoded(request_id: str, carried: str) -> None:
    assert header_id(request_id) == carried
    assert header_id(carried) == carried

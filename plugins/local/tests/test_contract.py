from s1gw_local import LocalProvider

from gateway_core.testing import ProviderContract


class TestLocalProvider(ProviderContract):
    provider_class = LocalProvider
    models = ("local-e5-small",)


def test_only_what_needs_an_upstream_is_left_out() -> None:
    assert set(TestLocalProvider.left_out.values()) == {"it answers in process"}

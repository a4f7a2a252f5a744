from s1gw_local import LocalProvider

from gateway_core.testing import ProviderContract


class TestLocalProvider(ProviderContract):
    provider_class = LocalProvider
    models = ("local-e5-small",)

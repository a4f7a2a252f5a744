"""The provider contract."""

from s1gw_laya import LayaProvider

from gateway_core.testing import ProviderContract


class TestLayaProvider(ProviderContract):
    provider_class = LayaProvider

"""The provider keeps the contract."""

from gateway_core.testing import ProviderContract

from s1gw_echo import EchoProvider


class TestEchoProvider(ProviderContract):
    provider_class = EchoProvider

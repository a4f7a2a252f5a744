"""The provider contract."""

from s1gw_generic_systemone import GenericSystemOneProvider

from gateway_core.testing import ProviderContract


class TestGenericSystemOneProvider(ProviderContract):
    provider_class = GenericSystemOneProvider

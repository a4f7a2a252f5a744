"""The provider contract."""

from s1gw_typesafe import TypeSafeProvider

from gateway_core.testing import ProviderContract


class TestTypeSafeProvider(ProviderContract):
    provider_class = TypeSafeProvider

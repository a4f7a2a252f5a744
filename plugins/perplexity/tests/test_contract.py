"""The provider contract."""

from s1gw_perplexity import PerplexityProvider

from gateway_core.testing import ProviderContract


class TestPerplexityProvider(ProviderContract):
    provider_class = PerplexityProvider

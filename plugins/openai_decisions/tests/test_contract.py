"""The provider contract."""

from s1gw_openai_decisions import OpenAIDecisionsProvider

from gateway_core.testing import ProviderContract


class TestOpenAIDecisionsProvider(ProviderContract):
    provider_class = OpenAIDecisionsProvider

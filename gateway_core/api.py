"""The plugin API by name and number, where listing plugins can read it without cost."""

from typing import Final

API_VERSION: Final = 1
PROVIDERS_GROUP: Final = f"gateway_core.providers.v{API_VERSION}"
CLAIMS_GROUP: Final = f"gateway_core.claims.v{API_VERSION}"
MIDDLEWARE_GROUP: Final = f"gateway_core.middleware.v{API_VERSION}"

HOOKS: Final = ("decide", "probe", "capabilities", "list_models", "build_url")
"""The hooks of a provider, in the order of their specification."""

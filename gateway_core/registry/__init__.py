"""Configuration and catalogue together: named providers, the chain, and what is wrong."""

from gateway_core.registry.org import OrgRegistry
from gateway_core.registry.plan import Candidate, Plan
from gateway_core.registry.registry import Registry

__all__ = ["Candidate", "OrgRegistry", "Plan", "Registry"]

"""What the gateway says of itself: its health, and what it can do."""

from gateway_core.reports.capabilities import capabilities_report
from gateway_core.reports.health import health_report
from gateway_core.reports.parts import GatewayParts

__all__ = ["GatewayParts", "capabilities_report", "health_report"]

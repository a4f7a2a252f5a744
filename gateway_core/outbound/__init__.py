"""The one outbound place: client, destinations, proxies, limits and the meaning of statuses."""

from gateway_core.outbound.outbound import Outbound
from gateway_core.outbound.policy import DestinationPolicy
from gateway_core.outbound.sender import HttpSender
from gateway_core.outbound.way_out import WayOut

__all__ = ["DestinationPolicy", "HttpSender", "Outbound", "WayOut"]

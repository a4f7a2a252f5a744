"""The calibration report: a table for the terminal and one self-contained HTML page."""

from gateway_core.evaluation.report.page import page
from gateway_core.evaluation.report.parts import Summary
from gateway_core.evaluation.report.summary import summary

__all__ = ["Summary", "page", "summary"]

"""Confidence that means what it says: calibration fits, and the thresholds in force.

Everything here is cheap enough for every call. How fits and thresholds are made, from labelled
examples and with scipy, is in ``evaluation``.
"""

from gateway_core.calibration.calibrator import Calibrated, CalibrationInfo, Calibrator
from gateway_core.calibration.temperature import bucket_of, tempered
from gateway_core.calibration.thresholds import Threshold, Thresholds
from gateway_core.calibration.weighing import Scales, Weighed

__all__ = [
    "Calibrated",
    "CalibrationInfo",
    "Calibrator",
    "Scales",
    "Threshold",
    "Thresholds",
    "Weighed",
    "bucket_of",
    "tempered",
]

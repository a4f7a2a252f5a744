"""Confidence that means what it says: fits, their application, thresholds and evidence.

Applying a fit needs nothing but the standard library and is cheap enough for every call.
Making fits and thresholds needs scipy, in the extra ``s1gw[calibration]``; those modules
(``fitting``, ``metrics``, ``budget``) are imported by the commands that use them alone.
"""

from gateway_core.calibration.calibrator import Calibrated, CalibrationInfo, Calibrator
from gateway_core.calibration.temperature import bucket_of, tempered
from gateway_core.calibration.thresholds import Threshold, Thresholds

__all__ = [
    "Calibrated",
    "CalibrationInfo",
    "Calibrator",
    "Threshold",
    "Thresholds",
    "bucket_of",
    "tempered",
]

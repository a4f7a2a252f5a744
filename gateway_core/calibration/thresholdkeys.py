"""What a measured threshold is for, and the name of the file that holds it."""

from typing import Final

FILE_NAME: Final = "thresholds.json"

QuestionKind = tuple[str, str, str]
"""Provider, question type and bucket."""
ThresholdKey = tuple[QuestionKind, str]
"""Kind of question, and the model that answered it."""

"""The sentences that explain the report to whoever has not seen one before."""

from typing import Final

LEGEND: Final = (
    "NLL, Brier and ECE measure how far off the probabilities are: the lower, the better. "
    "In grey, 95% intervals. The notes at the end say more."
)
RELIABILITY: Final = (
    "How often answers of each confidence were right. On the dotted line 90% sure is right nine "
    "times in ten; below it the provider is too sure. Larger dots are more answers."
)
RISK: Final = (
    "What share of the accepted answers is wrong, when the surest are accepted first, with the "
    "exact 95% interval at each share. The dotted line is the threshold in force."
)
CONFIDENCE: Final = (
    "How many answers were how sure, as they came.",
    "How many answers were how sure, after calibration.",
)
CLASSES: Final = (
    "How sure and how right answers were by the option they decided for, with exact 95% intervals. "
    "Where the confidence is outside (in bold), one temperature is not enough, or the option needs "
    "a threshold of its own."
)
MISTAKES: Final = "Wrong answers of which the provider was most sure; look at their labels first."
MONTHS: Final = "Which share of the labelled answers was right, by the month they were given."
LATENCY: Final = "What share of answers was there after so many milliseconds."
CONFUSION: Final = (
    "How often which option was decided where which one was right, over the questions with the "
    "most common list of options. A stronger colour is a larger share of its row."
)
NOTES: Final = """
Intervals of shares are exact (Clopper and Pearson); those of differences Newcombe's; those of the
NLL and the Brier score 95% bootstrap intervals over 1,000 resamples of the examples. NLL is the
mean negative log-likelihood of the right option, in nats; Brier the mean squared distance from
the right answer; ECE the expected calibration error over ten bins of equal width, less what
chance adds to it; p is how often exact probabilities would look as far off, and 95% of samples of
this size would show at most what stands beside it. AURC is the area under the risk-coverage
curve. All are better the lower they are. In the NLL, a 0 counts as a twentieth of the smallest
probability that the provider told, since providers round. Calibrated numbers use the fits in
force; on the examples that a fit was made from, they flatter it.
"""

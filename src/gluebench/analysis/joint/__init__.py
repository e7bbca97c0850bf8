"""Many systems on the same resamples: what is drawn is drawn for all of them together."""

from gluebench.analysis.joint.draws import FileDraws, file_draws
from gluebench.analysis.joint.suite import file_pairs, suite_draws

__all__ = ["FileDraws", "file_draws", "file_pairs", "suite_draws"]

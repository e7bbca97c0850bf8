"""What a diagnostic set says of a system: by phenomenon, by kind of error, by direction of a pair."""

from gluebench.analysis.diagnostics.diagnosis import Diagnosis, diagnose
from gluebench.analysis.diagnostics.heatmap import heatmap

__all__ = ["Diagnosis", "diagnose", "heatmap"]

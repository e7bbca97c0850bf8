"""What a diagnostic set says of a system: by phenomenon, by kind of error, by direction of a pair."""

from gluebench.analysis.diagnostics.diagnosis import Confusion, Diagnosis, SetDiagnosis, diagnose, withhold
from gluebench.analysis.diagnostics.directions import Directions, Share
from gluebench.analysis.diagnostics.heatmap import Cell, HeatMap, Line, heatmap
from gluebench.analysis.diagnostics.phenomena import Explained, explain
from gluebench.analysis.diagnostics.table5 import Table5, table5

__all__ = [
    "Cell",
    "Confusion",
    "Diagnosis",
    "Directions",
    "Explained",
    "HeatMap",
    "Line",
    "SetDiagnosis",
    "Share",
    "Table5",
    "diagnose",
    "explain",
    "heatmap",
    "table5",
    "withhold",
]

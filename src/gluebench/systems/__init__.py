"""Systems that can be evaluated: the protocols they follow, and simple ones to stand on a board."""

from gluebench.systems.protocols import Predictor, SentenceEncoder, TrainablePredictor
from gluebench.systems.registry import SYSTEMS, SystemEntry
from gluebench.systems.run import PredictionError, run

__all__ = [
    "SYSTEMS",
    "PredictionError",
    "Predictor",
    "SentenceEncoder",
    "SystemEntry",
    "TrainablePredictor",
    "run",
]

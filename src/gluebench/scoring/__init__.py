"""Exact scores with intervals: metrics as plain functions, one reader of gold, and `grade` to a Report."""

from gluebench.scoring.gold import Gold, GoldError, read_gold
from gluebench.scoring.grade import grade
from gluebench.scoring.metrics import (
    accuracy,
    f1,
    kappa,
    macro_f1,
    matthews_correlation,
    mean_absolute_error,
    measure,
    pearson,
    r_k,
    root_mean_squared_error,
    spearman,
    weighted_f1,
)
from gluebench.scoring.metrics.counts import ClassScore
from gluebench.scoring.report import SCHEMA, DiagnosticReport, Report, Score, TaskReport
from gluebench.scoring.summary import Spread, Summary, grade_runs, summarise, summarize
from gluebench.scoring.tags import Metadata
from gluebench.submission.values import SubmissionError

__all__ = [
    "SCHEMA",
    "ClassScore",
    "DiagnosticReport",
    "Gold",
    "GoldError",
    "Metadata",
    "Report",
    "Score",
    "Spread",
    "SubmissionError",
    "Summary",
    "TaskReport",
    "accuracy",
    "f1",
    "grade",
    "grade_runs",
    "kappa",
    "macro_f1",
    "matthews_correlation",
    "mean_absolute_error",
    "measure",
    "pearson",
    "r_k",
    "read_gold",
    "root_mean_squared_error",
    "spearman",
    "summarise",
    "summarize",
    "weighted_f1",
]

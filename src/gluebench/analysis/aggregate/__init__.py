"""One order of many systems out of their scores on many tasks: rules as pure functions, without numpy."""

from gluebench.analysis.aggregate.efficiency import pareto_front
from gluebench.analysis.aggregate.kemeny import Consensus, consensus
from gluebench.analysis.aggregate.profile import MISSING, Missing, Profile, filled, without
from gluebench.analysis.aggregate.rules import (
    RULES,
    Rule,
    Standing,
    kemeny,
    mean,
    mean_rank,
    median,
    standing,
)
from gluebench.analysis.aggregate.survival import Survival, Verdict, every_rule, survives

__all__ = [
    "MISSING",
    "RULES",
    "Consensus",
    "Missing",
    "Profile",
    "Rule",
    "Standing",
    "Survival",
    "Verdict",
    "consensus",
    "every_rule",
    "filled",
    "kemeny",
    "mean",
    "mean_rank",
    "median",
    "pareto_front",
    "standing",
    "survives",
    "without",
]

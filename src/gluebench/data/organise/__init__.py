"""From an organiser's CSV files to a benchmark: manifest, examples, gold folder (docs/how-to/organise.md)."""

from gluebench.data.organise.columns import Choices
from gluebench.data.organise.plan import Plan, TaskPlan, make_plan
from gluebench.data.organise.write import fresh_folder, refuse_changed, write_plan

__all__ = ["Choices", "Plan", "TaskPlan", "fresh_folder", "make_plan", "refuse_changed", "write_plan"]

"""From an organizer's CSV files to a benchmark: manifest, examples, gold folder (docs/how-to/organize.md)."""

from gluebench.data.organize.detect import Choices
from gluebench.data.organize.plan import Plan, TaskPlan, make_plan
from gluebench.data.organize.write import fresh_folder, refuse_changed, write_plan

__all__ = ["Choices", "Plan", "TaskPlan", "fresh_folder", "make_plan", "refuse_changed", "write_plan"]

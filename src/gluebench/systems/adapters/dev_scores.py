"""Dev scores of a system's answers, in which an answer that it could not give counts as wrong."""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gluebench.benchmark import Task
from gluebench.benchmark.figures import percent
from gluebench.scoring import Gold, Report, grade
from gluebench.submission import Column
from gluebench.systems.run import Answered, column, drawn


def graded(answers: Mapping[str, Answered], gold: Gold, limit: int | None = None) -> Report:
    """Grade the answers to each test file that has labels; the warnings count those that are no answer."""
    report = grade(with_wrong(answers, gold), gold)
    wrong = (f"counted as wrong: {line}" for line in unanswered(answers, limit))
    return report._replace(warnings=(*report.warnings, *wrong))


def with_wrong(answers: Mapping[str, Answered], gold: Gold) -> dict[str, Column]:
    """The predictions for each file with labels, in which an answer that could not be given is wrong.

    It becomes a label that is not the right one, or the end of the range farther from the right score.
    """
    graded = {name: answered for name, answered in answers.items() if name in gold.columns}
    return {
        name: _with_wrong(_task(gold, name), answered, gold.columns[name])
        for name, answered in graded.items()
    }


def drawn_labels(gold: Gold, limit: int) -> Gold:
    """The labels of the examples that `drawn` gives, without those of diagnostic categories."""
    columns = {}
    for name, right in gold.columns.items():
        places = drawn(len(right), limit, name)
        labels: Sequence[str | float] = right.words() if right.labels else right.numbers
        indices = array("q", (right.row_indices[place] for place in places))
        columns[name] = column(_task(gold, name), [labels[place] for place in places], indices=indices)
    return replace(gold, columns=columns, phenomena={}, metadata={})


def _task(gold: Gold, name: str) -> Task:
    return gold.benchmark.task(gold.benchmark.file(name).task)


def unanswered(answers: Mapping[str, Answered], limit: int | None = None) -> list[str]:
    """List the files with answers that the system could not give: their number, share and reasons."""
    lines = []
    for name, answered in answers.items():
        count, size = len(answered.unanswered), len(drawn(len(answered.column), limit, name))
        reasons = Counter(answered.reasons or ["not understood"] * count)
        shown = ", ".join(f"{number:,} {reason}" for reason, number in reasons.most_common())
        if count:
            lines.append(f"{name} {count:,} of {size:,} answers ({percent(count / size)} %): {shown}")
    return lines


def _with_wrong(task: Task, answered: Answered, gold: Column) -> Column:
    """Replace each answer that could not be given by a wrong value, where the right one is known."""
    given = answered.column
    if not answered.unanswered:
        return given
    labels: Sequence[str | float] = gold.words() if gold.labels else gold.numbers
    right = dict(zip(gold.row_indices, labels, strict=True))
    values: list[str | float] = [*(given.words() if given.labels else given.numbers)]
    for position in answered.unanswered:
        known = right.get(given.row_indices[position])
        if isinstance(known, str):
            values[position] = next(word for word in task.words if word != known)
        elif known is not None:
            low, high = task.score_range or (known, known)
            values[position] = low if known - low > high - known else high
    return column(task, values, indices=given.indices)

"""Dev scores of a system's answers, in which a label that it could not give counts as wrong.

A score that it could not give is the mean training score, as in the submission.
"""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gluebench.benchmark import Task
from gluebench.benchmark.figures import percent
from gluebench.scoring import Gold, Report, grade
from gluebench.scoring.tags import Metadata
from gluebench.submission import Column
from gluebench.systems.run import FileAnswers, column, draw_positions


def grade_answers(answers: Mapping[str, FileAnswers], gold: Gold, limit: int | None = None) -> Report:
    """Grade the answers to each test file that has labels; the warnings count those that are no answer."""
    report = grade(with_wrong(answers, gold), gold)
    warnings = list(report.warnings)
    for name, answered in answers.items():
        replaced = "the mean" if _task(gold, name).form == "numbers" else "wrong"
        lines = list_unanswered({name: answered}, limit)
        warnings += [f"counted as {replaced}: {line}" for line in lines]
    return replace(report, warnings=tuple(warnings))


def with_wrong(answers: Mapping[str, FileAnswers], gold: Gold) -> dict[str, Column]:
    """The predictions for each file with labels, in which a label that could not be given is wrong.

    It becomes a label that is not the right one. A score stays the mean training score that `Answered` has:
    the end of the range farther from the right score would move correlations far more than an error does.
    """
    labeled = {name: answered for name, answered in answers.items() if name in gold.columns}
    columns = {}
    for name, answered in labeled.items():
        columns[name] = _with_wrong(_task(gold, name), answered, gold.columns[name])
    return columns


def labels_of_drawn(gold: Gold, limit: int) -> Gold:
    """The labels of what `draw_positions` gives, with their groups, without diagnostic categories."""
    columns = {}
    metadata = {}
    for name, right in gold.columns.items():
        places = draw_positions(len(right), limit, name)
        labels: Sequence[str | float] = right.words() if right.labels else right.numbers
        indices = array("q", (right.row_indices[place] for place in places))
        columns[name] = column(_task(gold, name), [labels[place] for place in places], indices=indices)
        if name in gold.metadata:
            metadata[name] = Metadata.of(gold.metadata[name].groups, {}, places)
    return replace(gold, columns=columns, phenomena={}, metadata=metadata)


def _task(gold: Gold, name: str) -> Task:
    return gold.benchmark.task(gold.benchmark.file(name).task)


def list_unanswered(answers: Mapping[str, FileAnswers], limit: int | None = None) -> list[str]:
    """List the files with answers that the system could not give: their number, share and reasons."""
    lines = []
    for name, answered in answers.items():
        count = len(answered.unanswered)
        size = len(draw_positions(len(answered.column), limit, name))
        reasons = Counter(answered.reasons or ["not understood"] * count)
        shown = ", ".join(f"{number:,} {reason}" for reason, number in reasons.most_common())
        if count:
            lines.append(f"{name} {count:,} of {size:,} answers ({percent(count / size)} %): {shown}")
    return lines


def _with_wrong(task: Task, answered: FileAnswers, gold: Column) -> Column:
    """Replace each label that could not be given by a wrong one, where the right one is known."""
    given = answered.column
    if not answered.unanswered or not gold.labels:
        return given
    right = dict(zip(gold.row_indices, gold.words(), strict=True))
    values = given.words()
    for position in answered.unanswered:
        known = right.get(given.row_indices[position])
        if known is not None:
            values[position] = next(word for word in task.words if word != known)
    return column(task, values, indices=given.indices)

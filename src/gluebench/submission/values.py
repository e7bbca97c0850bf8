"""Predictions given from Python in place of files (arrays, Series, DataFrames, dicts), judged alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gluebench.benchmark import Benchmark, Role, Task, TestFile
from gluebench.benchmark.lookup import UnknownNameError, find
from gluebench.submission.check import explain, layout
from gluebench.submission.problems import Problem, listed, verdict
from gluebench.submission.submission import Column, Submission, missing_files

SOURCE = "predictions given from Python"


class SubmissionError(ValueError):
    """A submission that cannot be graded; the message has a line for each problem."""

    def __init__(
        self,
        problems: Sequence[Problem],
        *,
        source: str,
        unshown: Mapping[str, Mapping[str, int]] | None = None,
    ) -> None:
        lines = [f"{source} cannot be graded:", *listed(problems, unshown)]
        if any(problem.code == "wrong-split" for problem in problems):
            lines.append('Name the split of the predictions, as in role="dev", if it is the one you mean.')
        super().__init__("\n".join(lines))
        self.problems = list(problems)


def submission_of(predictions: Mapping[str, Any], benchmark: Benchmark, *, role: Role = "test") -> Submission:
    """A Submission of the values given for each task or test file, by name.

    A value is a sequence in index order, a dict or Series of index to label, or a DataFrame with the
    columns `index` and `prediction`. Raises UnknownNameError for a name that is neither task nor test
    file; what is wrong with the values is in the result.
    """
    if not isinstance(predictions, Mapping):
        raise TypeError(
            f"found {type(predictions).__name__} {_brief(predictions)}; expected what gluebench.check(path, "
            'benchmark) gives, or a mapping of tasks to predictions, as {"MRPC": values}'
        )
    problems: list[Problem] = []
    columns: dict[str, Column] = {}
    unshown: dict[str, Mapping[str, int]] = {}
    for name, values in predictions.items():
        file = _file(name, benchmark, role)
        if file.name in columns:
            raise ValueError(f"{name!r} is {file.name} again; expected each test file once")
        task = benchmark.task(file.task)
        try:
            data = _tsv(values, task)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        table = explain(name, data, layout(file, task, role))
        problems += [replace(problem, line=None) for problem in table.problems]
        if table.unshown:
            unshown[name] = table.unshown
        if table.column is not None:
            columns[file.name] = table.column
    missing = missing_files(benchmark, role, columns)
    judged = verdict(problems, missing=bool(missing))
    return Submission(benchmark, role, SOURCE, judged, tuple(problems), columns, missing, unshown)


def _file(name: str, benchmark: Benchmark, role: Role) -> TestFile:
    files = {file.name: file for file in benchmark.files(role)}
    if name in files:
        return files[name]
    task = find(name, benchmark.tasks, what=f"task or test file of {benchmark.name}")
    of_task = [file for file in task.files if role in file.splits]
    if len(of_task) == 1:
        return of_task[0]
    if not of_task:
        raise UnknownNameError(name, list(files), what=f"test file with a {role} split")
    listed = " and ".join(file.name for file in of_task)
    raise ValueError(f"{task.name} has {len(of_task)} test files; give the predictions for {listed}")


def _tsv(values: Any, task: Task) -> bytes:
    """The values as the file they could have been, so that one reader judges both."""
    rows = "".join(
        f"{_text(index)}\t{_text(value, number=not task.words)}\n" for index, value in _items(values)
    )
    return f"index\tprediction\n{rows}".encode("utf-8", "backslashreplace")


def _items(values: Any) -> Iterable[tuple[object, object]]:
    if isinstance(values, Column):
        indices = range(len(values)) if values.indices is None else values.indices
        return zip(indices, values.words() if values.labels else values.numbers, strict=True)
    if isinstance(values, Mapping):
        return values.items()
    if hasattr(values, "columns"):  # a DataFrame, of whichever library
        return _frame_items(values)
    shape = getattr(values, "shape", (0,))
    if len(shape) != 1:
        raise ValueError(f"found an array of shape {tuple(shape)}; expected one prediction for each example")
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ValueError(
            f"found {type(values).__name__} {_brief(values)}; expected one prediction for each example"
        )
    if hasattr(values, "index") and not callable(values.index):  # a Series: its index counts, not its order
        return zip(_plain(values.index), _plain(values), strict=True)
    return enumerate(_plain(values))


def _frame_items(frame: Any) -> Iterable[tuple[object, object]]:
    names = [*frame.columns, getattr(getattr(frame, "index", None), "name", None)]
    lacking = [name for name in ("index", "prediction") if name not in names]
    if lacking or "prediction" not in frame.columns:
        columns = ", ".join(map(str, frame.columns))
        raise ValueError(
            f"the DataFrame has the columns {columns}; expected index and prediction, or a Series of the "
            "predictions alone"
        )
    indices = frame["index"] if "index" in frame.columns else frame.index
    return zip(_plain(indices), _plain(frame["prediction"]), strict=True)


def _brief(value: object) -> str:
    return text if len(text := repr(value)) <= 60 else f"{text[:59]}…"


def _plain(values: Any) -> Iterable[object]:
    return list(values.tolist() if hasattr(values, "tolist") else values)


def _text(value: object, *, number: bool = False) -> str:
    if number and isinstance(value, int | float):
        return repr(float(value))
    if isinstance(value, float) and value.is_integer():  # NumPy and pandas make 1.0 of 1
        return str(int(value))
    text = str(value)
    return repr(text)[1:-1] if any(character in text for character in "\t\r\n") else text

"""Check predictions given from Python (arrays, Series, DataFrames, dicts) in the same way as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any

from gluebench.benchmark import Benchmark, Role, Task, TestFile
from gluebench.benchmark.lookup import UnknownNameError, find
from gluebench.reading.notation import NotationError
from gluebench.submission.answers import plain_answer
from gluebench.submission.file import read_file
from gluebench.submission.forms import cell_text, values_of
from gluebench.submission.other_benchmark import count_rows, of_other_benchmark
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
    """Build a Submission from values by task or test file.

    A value is a sequence, array, tensor or column in index order, a dict or Series of index to label, or a
    table (pandas, polars, pyarrow, `datasets`) with the columns `index` and `prediction`. True and False are
    1 and 0 where these are the labels. Raises UnknownNameError for a name that is neither task nor test
    file; problems of the values are in the result.
    """
    if not isinstance(predictions, Mapping):
        raise TypeError(
            f"found {type(predictions).__name__} {_brief(predictions)}; expected what gluebench.check(path, "
            'benchmark) gives, or a mapping of tasks to predictions, as {"MRPC": values}'
        )
    problems: list[Problem] = []
    columns: dict[str, Column] = {}
    unshown: dict[str, Mapping[str, int]] = {}
    lines: dict[str, int] = {}
    for name, values in predictions.items():
        file = file_named(name, benchmark, role)
        if file.name in columns:
            raise ValueError(f"{name!r} is {file.name} again; expected each test file once")
        task = benchmark.task(file.task)
        try:
            data = as_tsv(values, task, header="prediction", ids=file.splits[role].ids)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        lines[file.path] = count_rows(data)
        table = read_file(name, data, file, benchmark, role, plain=True).without_lines()
        problems += table.problems
        if table.unshown:
            unshown[name] = table.unshown
        if table.column is not None:
            columns[file.name] = table.column
    missing = missing_files(benchmark, role, columns)
    judged = verdict(problems, missing=bool(missing))
    if judged == "invalid" and (other := of_other_benchmark(lines, benchmark, role)):
        return Submission(benchmark, role, SOURCE, judged, (other,), {}, missing)
    return Submission(benchmark, role, SOURCE, judged, tuple(problems), columns, missing, unshown)


def file_named(name: str, benchmark: Benchmark, role: Role) -> TestFile:
    """The test file of that name, or the only one of the task of that name.

    Raises UnknownNameError, and ValueError for a task of several test files.
    """
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


def as_tsv(values: Any, task: Task, *, header: str, ids: Sequence[str] = ()) -> bytes:
    """Convert values to the content of a file, so that one reader checks both.

    `header` is the name of the value column; `ids` name values that are only in order. Raises ValueError
    unless there is one value per example.
    """
    if task.form not in ("labels", "numbers"):
        return _cells_tsv(values, task, header, ids)
    number, binary = not task.words, set(task.words) == {"0", "1"}
    rows = "".join(
        f"{_text(index)}\t{_text(value, number=number, binary=binary)}\n"
        for index, value in _items(values, header, ids, plain=plain_values)
    )
    return f"{'id' if ids else 'index'}\t{header}\n{rows}".encode("utf-8", "backslashreplace")


def _cells_tsv(values: Any, task: Task, header: str, ids: Sequence[str]) -> bytes:
    """Convert texts, sets, lists of tokens or rows of probabilities, or a mapping of index to these."""
    cells: Iterable[tuple[object, str]]
    if isinstance(values, Column):
        written = values_of(values, task, gold=header == "label")
        cells = zip(_named(values.row_indices, ids), written, strict=True)
    else:
        items = _items(values, header, ids, plain=plain_answers)
        cells = ((_text(index), _cell(index, answer, task)) for index, answer in items)
    rows = "".join(f"{index}\t{cell}\n" for index, cell in cells)
    return f"{'id' if ids else 'index'}\t{header}\n{rows}".encode("utf-8", "surrogatepass")


def _cell(index: object, answer: Any, task: Task) -> str:
    try:
        return cell_text(plain_answer(answer), task)
    except (NotationError, TypeError) as error:
        expected = error if isinstance(error, NotationError) else "texts, numbers or lists of these"
        raise ValueError(f"found {_brief(answer)} as the answer of {index}; expected {expected}") from None


def plain_answers(values: Any) -> list[Any]:
    """One column of answers of any form as a list, in which arrays, Series and scalars are plain values.

    Raises ValueError for a text, a set, or what is no column.
    """
    plain = _python(values)
    if isinstance(plain, list):
        return plain
    if isinstance(plain, str | bytes | Mapping | Set) or not isinstance(plain, Iterable):
        what = f"{type(values).__name__} {_brief(values)}"
        raise ValueError(f"found {what}; expected one answer for each example, in order")
    return [*map(_python, plain)]


def _python(value: Any) -> Any:
    """The plain value of what NumPy, pandas, polars, pyarrow or a tensor hold, at any depth."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return {key: _python(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_python, value)]
    for name in ("tolist", "to_list", "to_pylist", "as_py"):
        if hasattr(value, name):
            return _python(getattr(value, name)())
    return None if type(value).__name__ in _MISSING else value


def _named(indices: Iterable[int], ids: Sequence[str]) -> Iterable[object]:
    """The ids of the indices; an index beyond the last id stays as it is."""
    return [ids[index] if index < len(ids) else index for index in indices] if ids else indices


def _items(
    values: Any, header: str, ids: Sequence[str], *, plain: Callable[[Any], list[Any]]
) -> Iterable[tuple[object, object]]:
    """The index or id, and the value, of each example; `plain` makes a list of a column of values."""
    if isinstance(values, Column):
        return zip(_named(values.row_indices, ids), plain(values), strict=True)
    names = _column_names(values)
    if names is not None or (isinstance(values, Mapping) and header in values):
        return _frame_items(values, list(values) if names is None else names, header, plain=plain)
    if isinstance(values, Mapping):
        return zip(values, plain(list(values.values())), strict=True)
    listed = plain(values)
    if hasattr(values, "index") and not callable(values.index):  # a Series: use its index, not its order
        indices = plain_values(values.index)
        if not ids or indices != [*range(len(listed))] or not {*ids}.isdisjoint(map(str, indices)):
            return zip(indices, listed, strict=True)
    return zip(_named(range(len(listed)), ids), listed, strict=True)


def _column_names(values: Any) -> list[Any] | None:
    """The columns of a table of pandas, polars, pyarrow or `datasets`; None for anything else."""
    names = getattr(values, "column_names", getattr(values, "columns", None))
    return None if names is None or isinstance(values, Mapping) else list(names)


def _frame_items(
    frame: Any, names: list[Any], header: str, *, plain: Callable[[Any], list[Any]]
) -> Iterable[tuple[object, object]]:
    row_names = getattr(getattr(frame, "index", None), "name", None)  # the row labels of pandas
    if header not in names or ("index" not in names and row_names != "index"):
        raise ValueError(
            f"the {type(frame).__name__} has the columns {', '.join(map(str, names))}; expected index and "
            f"{header}, or one column of the {header}s alone"
        )
    indices = frame["index"] if "index" in names else frame.index
    return zip(plain_values(indices), plain(frame[header]), strict=True)


_PLAIN = {str, int, float, bool, type(None)}
_MISSING = ("NAType", "NaTType")


def plain_values(values: Any) -> list[Any]:
    """One column as a list of plain Python values, None for missing values.

    `values` is a sequence, an array, a Series, a tensor, an Arrow or `datasets` column, or a Column; tensors
    and scalars of NumPy within a list are unwrapped. Raises ValueError unless there is one value per example.
    """
    if isinstance(values, Column):
        return values.words() if values.labels else list(values.numbers)
    shape = tuple(getattr(values, "shape", (0,)))
    if len(shape) == 1 and _column_names(values) is None:
        to_list = getattr(values, "tolist", getattr(values, "to_pylist", None))
        if to_list is not None:
            values = to_list()
        unordered = isinstance(values, str | bytes | Mapping | Set)
        if not unordered and isinstance(values, Iterable):
            listed = list(values)
            if set(map(type, listed)) <= _PLAIN:
                return listed
            return [_plain(value, position) for position, value in enumerate(listed)]
        what = f"{type(values).__name__} {_brief(values)}"
    elif len(shape) == 2 and _column_names(values) is None:
        what = f"an array of shape {shape}"
        if shape[1] > 1:
            raise ValueError(
                f"found {what}; expected one prediction for each example: of scores per label take the "
                "label with the highest, as with argmax(axis=1)"
            )
    else:
        what = f"a {type(values).__name__} of shape {shape}"
    raise ValueError(f"found {what}; expected one prediction for each example")


def _plain(value: Any, position: int) -> Any:
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # a scalar of NumPy, or a tensor
        return value.item()
    if hasattr(value, "as_py"):  # a scalar of pyarrow
        return value.as_py()
    if type(value).__name__ in _MISSING:
        return None
    answer = plain_answer([value] if isinstance(value, Mapping) else value)
    if isinstance(answer, str):
        return answer
    if isinstance(value, list | tuple | Mapping | Set) or getattr(value, "shape", None):
        raise ValueError(
            f"found {type(value).__name__} {_brief(value)} at position {position}; expected one label or "
            "number for each example"
        )
    return value


def _brief(value: object) -> str:
    return text if len(text := repr(value)) <= 60 else f"{text[:59]}…"


def _text(value: object, *, number: bool = False, binary: bool = False) -> str:
    if number and isinstance(value, int | float):
        return repr(float(value))
    if binary and isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():  # NumPy and pandas may convert 1 to 1.0
        return str(int(value))
    text = str(value)
    return repr(text)[1:-1] if any(character in text for character in "\t\r\n") else text

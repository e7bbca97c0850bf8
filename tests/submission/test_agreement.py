"""Every way in says the same of a file: command line, Python, site and `--fix`, for all forms and shapes."""

from __future__ import annotations

import csv
import io
import json
import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from submission.test_forms import FAULTS, TAGS
from submission.test_shapes import FORMS, IDS, SHAPES, STRATEGIES, load

from gluebench import Benchmark, Submission, check, grade, write_submission
from gluebench.benchmark.metrics import BUILT_IN
from gluebench.cli import main
from gluebench.leaderboard.serving import grader
from gluebench.submission import fix_submission
from gluebench.submission.archive import read_members
from gluebench.submission.values import submission_of

PAIRS = [
    (form, shape) for form in FORMS for shape in SHAPES if shape != "parts" or form in ("spans", "ranking")
]
OF_PLACES = ("order", "order in csv", "order without header", "order in json", "order in json lines")
"""Shapes in which the order of the answers counts."""
SAME_GOLD = ("labels", "numbers", "sets", "open sets", "tokens", "dependencies", "spans", "relations")
"""Forms whose gold is written as predictions are."""
FEW = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MANY = settings(max_examples=3_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@cache
def benchmark_of(form: str, shape: str) -> tuple[Path, Benchmark]:
    folder = Path(tempfile.mkdtemp(prefix="agreement-"))
    return folder / "shape.toml", load(folder, form, shape)


class Case(NamedTuple):
    """Predictions and the file that holds them."""

    form: str
    shape: str
    values: list[Any]
    content: bytes

    @property
    def benchmark(self) -> Benchmark:
        return benchmark_of(self.form, self.shape)[1]

    def written(self, folder: Path, content: bytes | None = None) -> Path:
        path = folder / self.benchmark.file("T").path
        path.write_bytes(self.content if content is None else content)
        return path


@st.composite
def cases(draw: st.DrawFn) -> Case:
    form, shape = draw(st.sampled_from(PAIRS))
    values = draw(st.lists(STRATEGIES[form], min_size=4, max_size=4))
    benchmark = benchmark_of(form, shape)[1]
    with tempfile.TemporaryDirectory() as folder:
        write_submission(Path(folder, "s.zip"), {"T": values}, benchmark)
        members = read_members(Path(folder, "s.zip"), lambda _: True).members
    return Case(form, shape, values, members[benchmark.file("T").path])


def values_of(submission: Submission) -> list[Any]:
    assert submission.verdict == "valid", submission.problems
    column = submission.predictions["T"]
    return column.words() if column.labels else [*column.values]


def shuffled_rows(content: bytes, shape: str, seed: int) -> bytes:
    """The same answers in another order of lines, keys and columns."""
    order = random.Random(seed)

    def mixed(items: Any) -> list[Any]:
        listed = [*items]
        order.shuffle(listed)
        return listed

    text = content.decode()
    if shape in ("json", "json of ids", "json lines"):
        lines = text.splitlines() if shape == "json lines" else [text]
        parsed = [json.loads(line) for line in lines]
        rows = parsed if shape == "json lines" else parsed[0]
        if isinstance(rows, dict):
            return json.dumps(dict(mixed(rows.items()))).encode()
        objects = [json.dumps(dict(mixed(row.items()))) for row in mixed(rows)]
        return ("\n".join(objects) if shape == "json lines" else f"[{', '.join(objects)}]").encode()
    if shape in ("index", "ids"):
        header, *lines = text.removesuffix("\n").split("\n")
        return "\n".join([header, *mixed(lines), ""]).encode()
    mark = "\t" if shape == "tsv column" else ","
    rows = [*csv.reader(io.StringIO(text, newline=""), delimiter=mark)] if mark == "," else [
        line.split(mark) for line in text.removesuffix("\n").split("\n")
    ]  # fmt: skip
    header, *body = rows
    columns = mixed(range(len(header)))
    chosen = [[row[at] for at in columns] for row in [header, *mixed(body)]]
    if mark == "\t":
        return "".join("\t".join(row) + "\n" for row in chosen).encode()
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(chosen)
    return out.getvalue().encode()


def test_order_changes_nothing() -> None:
    unordered = [pair for pair in PAIRS if pair[1] not in OF_PLACES]

    @FEW
    @given(cases().filter(lambda case: (case.form, case.shape) in unordered), st.integers(0, 999))
    def same(case: Case, seed: int) -> None:
        # The lines of a ranking in parts may have equal scores; these are written with different ones.
        with tempfile.TemporaryDirectory() as name:
            content = shuffled_rows(case.content, case.shape, seed)
            assert values_of(check(case.written(Path(name), content), case.benchmark)) == case.values

    same()


def gold_of(case: Case) -> dict[str, list[Any]]:
    """The labels for which the predictions are the best."""
    if case.form == "text":
        return {"T": [[value] for value in case.values]}
    if case.form == "probabilities":
        labels = case.benchmark.task("T").words or case.benchmark.task("T").vocabulary
        return {"T": [labels[value.index(max(value))] for value in case.values]}
    if case.form == "ranking":
        return {"T": [{name: len(value) - at for at, name in enumerate(value)} for value in case.values]}
    return {"T": case.values}


@FEW
@given(cases())
def test_gold_against_itself_is_best(case: Case) -> None:
    task = case.benchmark.task("T")
    best = 1.0 if task.metrics[0].scale else BUILT_IN[task.metrics[0].function].highest
    values = case.values
    if case.form == "probabilities":
        values = [tuple(float(each == max(value)) for each in value) for value in values]
        values = [value if sum(value) == 1 else (1.0, 0.0, 0.0, 0.0) for value in values]
        case = case._replace(values=values)
    gold = gold_of(case)
    report = grade({"T": values}, gold, benchmark=case.benchmark, intervals=False)
    # Without anything to find, such a measure is 0.
    nothing = not any(values) or (case.form == "ranking" and not all(values))
    if case.form == "relations":
        nothing = not all(f"<{tag}>" in str(values) for tag in TAGS)
    value = report.tasks["T"].metrics[task.metrics[0].name].value
    assert value == pytest.approx(best) or nothing
    if case.form not in SAME_GOLD:
        return
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "gold").mkdir()
        content = case.content
        if case.shape in ("index", "ids", "csv"):
            content = content.replace(b"prediction", b"label", 1)
        case.written(Path(name, "gold"), content)
        again = grade(case.written(Path(name)), Path(name, "gold"), benchmark=case.benchmark, intervals=False)
        assert again.tasks["T"].metrics[task.metrics[0].name].value == value


WRONG = {name: cells for name, cells in FAULTS.items() if name in FORMS} | {
    "labels": ["Joy", "sad", "", " joy", "1", "0.5"],
    "numbers": ["nan", "x", "1e99", "", "1,5", "0x1"],
}
GOOD = {
    "labels": "joy", "numbers": "1.5", "sets": "joy|anger", "open sets": "a|b", "probabilities": "1 0 0 0",
    "tokens": "O B-A", "dependencies": "0:x 1:y", "spans": "0-5:joy", "ranking": "d1 d2", "relations": "[]",
}  # fmt: skip


def content_of(shape: str, cells: list[str]) -> str:
    """A file of this shape with four cells as they stand."""
    ids = [str(at) for at in range(4)] if shape in ("index", "csv", "json") else IDS
    rows = [*zip(ids, cells, strict=True)]
    match shape:
        case "json":
            return json.dumps([{"idx": int(at), "value": cell} for at, cell in rows])
        case "json of ids":
            return json.dumps(dict(rows))
        case "json lines":
            return "".join(json.dumps({"id": at, "label": cell}) + "\n" for at, cell in rows)
        case "order in json":
            return json.dumps({"value": cells})
        case "order in json lines":
            return "".join(json.dumps({"label": cell}) + "\n" for cell in cells)
        case "index" | "ids" | "tsv column":
            name = "value" if shape == "tsv column" else "prediction"
            head = "index" if shape == "index" else "id"
            return f"{head}\t{name}\n" + "".join(f"{at}\t{cell}\n" for at, cell in rows)
    out = io.StringIO(newline="")
    table = [["id", "value" if shape == "csv column" else "prediction"], *map(list, rows)]
    if shape == "order in csv":
        table = [["value"], *([cell] for cell in cells)]
    csv.writer(out, lineterminator="\n").writerows(table)
    return out.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("form", WRONG)
def test_every_wrong_cell_is_the_same_in_every_shape_and_in_python(form: str) -> None:
    for cell in WRONG[form]:
        same_everywhere(form, cell)


@given(st.sampled_from([*WRONG]), st.integers(0, 99))
@settings(max_examples=8, deadline=None)
def test_a_wrong_cell_is_the_same_in_every_shape_and_in_python(form: str, at: int) -> None:
    same_everywhere(form, WRONG[form][at % len(WRONG[form])])


def same_everywhere(form: str, cell: str) -> None:
    """One verdict, in the same words, whether the cell comes from a table, JSON or a list."""
    cells = [GOOD[form], GOOD[form], cell, GOOD[form]]
    told = {"Python": words_of(submission_of({"T": cells}, benchmark_of(form, "index")[1]))}
    for shape in SHAPES:
        if shape in ("parts", "order", "order without header"):
            continue  # another notation
        benchmark = benchmark_of(form, shape)[1]
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / benchmark.file("T").path
            path.write_text(content_of(shape, cells), encoding="utf-8")
            told[shape] = words_of(check(path, benchmark))
    assert told["Python"]
    assert all(each == told["Python"] for each in told.values()), (cell, told)


def words_of(submission: Submission) -> set[Any]:
    return {(each.code, each.expected, each.fix, each.value) for each in submission.errors}


def replaced_line(text: str, at: int, change: Callable[[str], str]) -> str:
    lines = text.split("\n")
    at %= max(1, len(lines) - 1)
    lines[at] = change(lines[at])
    return "\n".join(lines)


MUTATIONS: dict[str, Callable[[str, int], str]] = {
    "none": lambda text, at: text,
    "line lost": lambda text, at: "\n".join(line for no, line in enumerate(text.split("\n")) if no != at % 5),
    "line twice": lambda text, at: replaced_line(text, at, lambda line: f"{line}\n{line}"),
    "upper": lambda text, at: replaced_line(text, at, str.upper),
    "all upper": lambda text, at: text.upper(),
    "quoted": lambda text, at: replaced_line(text, at, lambda line: f'"{line}"'),
    "letter lost": lambda text, at: text[: at % (len(text) + 1)] + text[at % (len(text) + 1) + 1 :],
    "cut": lambda text, at: text[: at % (len(text) + 1)],
    "header lost": lambda text, at: text.partition("\n")[2],
    "mark": lambda text, at: "\ufeff" + text,
    "windows": lambda text, at: text.replace("\n", "\r\n"),
    "blank": lambda text, at: replaced_line(text, at, lambda line: f"{line}\n"),
    "semicolons": lambda text, at: text.replace(",", ";").replace("\t", ";"),
    "commas": lambda text, at: text.replace("\t", ","),
    "numbers": lambda text, at: text.replace("joy", "0").replace("anger", "1"),
    "spaces": lambda text, at: text.replace("joy", " joy "),
    "other ids": lambda text, at: text.replace("b-1", "c-1").replace("0", "7"),
    "null": lambda text, at: text.replace('"joy"', "null"),
    "header of others": lambda text, at: text.replace("prediction", "label", 1).replace("value", "answer", 1),
    "twice": lambda text, at: text * 2,
    "empty": lambda text, at: "",
}
ENCODINGS = ("utf-8", "utf-16", "utf-16-le")


def agree(case: Case, mutation: str, at: int, encoding: str) -> None:
    text = MUTATIONS[mutation](case.content.decode(), at)
    manifest = benchmark_of(case.form, case.shape)[0]
    with tempfile.TemporaryDirectory() as name:
        path = case.written(Path(name), text.encode(encoding))
        submission = check(path, case.benchmark)
        expected = submission.as_dict()

        words = ["check", str(path), "--benchmark", str(manifest)]
        printed = CliRunner().invoke(main, [*words, "--json"])
        assert json.loads(printed.stdout) == expected | {"fixed": []}
        assert printed.exit_code == (submission.verdict == "invalid")

        # Where the site keeps its copies.
        job = {"manifest": str(manifest), "submission": str(path), "gold": None, "fixed": f"{name}/site.zip"}
        answer = json.loads(json.dumps(grader._result(job)))
        assert answer["check"] == json.loads(json.dumps(expected | {"source": ""}))

        fixed = fix_submission(path, Path(name, "fixed.zip"), case.benchmark)
        repairable = all(problem.repair for problem in submission.errors)
        assert repairable == (not fixed.problems), (submission.errors, fixed.problems)
        assert {str(problem) for problem in fixed.problems} <= {str(each) for each in submission.errors}
        if not fixed.problems:
            again = check(Path(name, "fixed.zip"), case.benchmark)
            assert again.verdict == "valid"
            assert not again.errors
            if submission.predictions:
                assert again.predictions == submission.predictions
            if submission.verdict != "valid":
                assert answer["fixed"]["changes"] == fixed.done[:-1]
                assert answer["fixed"]["check"]["problems"] == again.as_dict()["problems"]
        said = CliRunner().invoke(main, [*words, "--fix", f"{name}/cli.zip"])
        assert ("Nothing was written" in said.output) == bool(fixed.problems)
        for step in fixed.done[:-1]:
            assert fixed.problems or f"fixed: {step}" in said.output


@FEW
@given(cases(), st.sampled_from([*MUTATIONS]), st.integers(0, 200), st.sampled_from(ENCODINGS))
def test_command_line_python_site_and_fix_agree(case: Case, mutation: str, at: int, encoding: str) -> None:
    agree(case, mutation, at, encoding)


@pytest.mark.slow
@MANY
@given(cases(), st.sampled_from([*MUTATIONS]), st.integers(0, 200), st.sampled_from(ENCODINGS))
def test_they_agree_on_many_files(case: Case, mutation: str, at: int, encoding: str) -> None:
    agree(case, mutation, at, encoding)

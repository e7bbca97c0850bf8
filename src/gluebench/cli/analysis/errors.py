"""`gluebench errors`: filter, count and list the examples that systems get wrong; also as an HTML page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.benchmark import Role
from gluebench.benchmark.figures import with_interval
from gluebench.benchmark.tables import Column, Section, Table, names_and_numbers, numeric
from gluebench.cli.common import option
from gluebench.cli.common.inputs import Inputs
from gluebench.cli.common.output import Form, Output, emit, notices

if TYPE_CHECKING:
    from gluebench.analysis.errors import Case, CaseFile, CaseFilter, Rate


def _ends(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> tuple[float | None, float | None]:
    """The ends of MIN-MAX; None for an open end. Raises BadParameter."""
    if text is None:
        return None, None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)?-(\d+(?:\.\d+)?)?", text.strip())
    if match is None or text.strip() == "-":
        raise click.BadParameter(f"{text!r} is not MIN-MAX, as 10-20, 10- or -20.", context, parameter)
    low, high = [None if end is None else float(end) for end in match.groups()]
    if low is not None and high is not None and low > high:
        raise click.BadParameter(f"{text!r} ends before it begins.", context, parameter)
    return low, high


_range = partial(option.text, metavar="MIN-MAX", callback=_ends)


@click.command
@click.argument("subs", metavar="SUB...", nargs=-1, required=True, type=click.Path(exists=True))
@option.data("Folder of the examples")
@option.hidden_gold
@option.tasks("--task", "tasks", help="These tasks only; may be repeated.")
@option.choice(
    "--show",
    of="wrong all-wrong only disagree right all",
    default="wrong",
    help="Wrong for one system, for every one, for the first alone; where they disagree; right; all.",
)
@option.text("--label LABEL", help="Examples with this gold label.")
@option.text("--answer LABEL", help="Examples that a system gave this label.")
@option.text("--phenomenon NAME", help="Examples tagged with it, or with any of a category.")
@_range("--words", help="Words of all inputs together: 10-20, 40-, -8.")
@_range("--overlap", help="Share of words that two inputs have in common: 0.8-1.")
@option.text(
    "--match REGEX",
    "pattern",
    callback=partial(option.pattern, flags=re.I),
    help="Examples with this in a text, letter case aside.",
)
@option.number("--limit", default=20, help="Examples to print of each file; 0 for all.")
@option.text(
    "--tolerance SHARE",
    type=click.FloatRange(0, 1),
    default=0.2,
    help="Numbers further from gold than this share of the range are wrong.",
)
@option.new_file("--html", help="Write a page with filters.")
@option.split
@option.named_benchmark(type=option.BenchmarkName())
@option.output
def errors(
    subs: tuple[str, ...],
    data: Path,
    gold: str | None,
    split: Role,
    benchmark: str,
    html: str | None,
    limit: int,
    form: Form,
    **options: Any,
) -> None:
    """Find the examples that systems get wrong, and what they are like.

    For splits whose labels you hold. --html writes one file that needs neither server nor network, with all
    examples of these tasks. It holds text and labels: keep it as private as they are.

    \b
    Example:
      gluebench errors mine.zip --data data/ --split dev --task RTE --overlap 0.8-1
      gluebench errors mine.zip theirs.zip --data data/ --gold gold/ --task AX --html errors.html
    """
    from gluebench.analysis.errors import rates, read_cases

    inputs = Inputs(gold, None if gold else str(data), True, split, benchmark)
    submissions = [inputs.submission(sub) for sub in subs]
    labels = inputs.labels()
    names = [Path(sub).stem or sub for sub in subs]
    if len(set(names)) < len(names):
        names = list(subs)
    files = read_cases(
        submissions,
        labels,
        data,
        tasks=options["tasks"],
        systems=names,
        tolerance=options["tolerance"],
    )
    filters = [_filter(file, options) for file in files]
    counted = {file.file: rates(file) for file in files}
    if html is not None:
        from gluebench.analysis.errors.page import page

        tasks = ", ".join(dict.fromkeys(file.task.name for file in files))
        text = page(files, title=f"Errors on {inputs.manifest.title}: {tasks}", tables=counted)
        Path(html).write_text(text, encoding="utf-8")
        notices([f"{html}: {sum(len(file.cases) for file in files):,} examples, with text and labels."])
    emit(errors_output(files, filters, counted, limit=limit or None), form)


def _filter(file: CaseFile, options: dict[str, Any]) -> CaseFilter:
    """The filter that the options describe, for one file. Raises UsageError, UnknownNameError."""
    from gluebench.analysis.errors import CaseFilter
    from gluebench.data.show import label_word, phenomena_called

    task = file.task
    labels: dict[str, str | None] = {"label": None, "answer": None}
    for name in labels:
        if options[name] is not None:
            if not task.labels:
                raise click.UsageError(f"--{name} goes with labels, and {task.name} has {task.form}.")
            labels[name] = label_word(task, options[name])
    phenomena: frozenset[str] = frozenset()
    if options["phenomenon"] is not None:
        phenomena = phenomena_called(task, options["phenomenon"])
    shortest, longest = options["words"]
    least, most = options["overlap"]
    return CaseFilter(
        options["show"],
        labels["label"],
        labels["answer"],
        phenomena,
        int(shortest or 0),
        None if longest is None else int(longest),
        least or 0.0,
        1.0 if most is None else most,
        options["pattern"],
    )


SCHEMA = "gluebench.errors/1"
WITHIN = "Compare systems within a row; rows differ in difficulty and are not to be compared with each other."
FIELDS = ("file", "index", "gold", "system", "answer", "wrong", "words", "overlap", "phenomena")


def errors_output(
    files: Sequence[CaseFile],
    filters: Sequence[CaseFilter],
    counted: Mapping[str, Sequence[Rate]],
    *,
    limit: int | None,
) -> Output:
    """Rates of each file, then the examples that the filters choose."""
    texts = max(len(file.task.columns) for file in files)
    output: dict[str, Any] = {"schema": SCHEMA, "files": {}}
    tables: list[Table] = []
    words: list[str] = []
    rows: list[tuple[Any, ...]] = []
    for file, passes in zip(files, filters, strict=True):
        cases = [case for case in file.cases if passes(case)]
        shown = cases[:limit]
        tables.append(_rates_table(file, counted[file.file]))
        if shown:
            tables.append(_cases_table(file, shown))
        sentence = f"{file.file}: {len(cases):,} of {len(file.cases):,} examples"
        if len(shown) < len(cases):
            sentence += f"; the first {len(shown):,} are shown"
        words.append(f"{sentence}.")
        for case in shown:
            rows += _records(file, case, texts)
        output["files"][file.file] = {
            "task": file.task.name,
            "split": file.split,
            "systems": list(file.systems),
            "rates": [_rate_data(file, rate) for rate in counted[file.file]],
            "found": len(cases),
            "examples": [_case_data(file, case) for case in shown],
        }
    fields = list(FIELDS)
    fields += [f"text{number}" for number in range(1, texts + 1)]  # each file has other names for its texts
    return Output(output, tables, fields, rows, words)


def _rates_table(file: CaseFile, rates: Sequence[Rate]) -> Table:
    titles = ["examples"] + [f"{system} wrong %" for system in file.systems]
    kinds: dict[str, list[list[str]]] = {}
    for rate in rates:
        row = [rate.name or rate.kind, f"{rate.n:,}"]
        for number, bar in enumerate(rate.bars):
            row.append(with_interval(rate.share(number), bar.low, bar.high))
        kinds.setdefault(rate.kind, []).append(row)
    sections = [Section(rows, kind if len(rows) > 1 else "") for kind, rows in kinds.items()]
    title = f"Errors on {file.file}, {file.split} split"
    return Table(names_and_numbers("", titles), sections=sections, title=title, notes=[WITHIN])


def _cases_table(file: CaseFile, cases: Sequence[Case]) -> Table:
    """Each example with one row per text."""
    columns: list[Column | str] = [numeric("index"), "gold"]
    columns += file.systems
    columns.append("text")
    rows: list[list[str]] = []
    for case in cases:
        cells = [str(case.index), _label_text(case.gold)]
        for answer, wrong in zip(case.answers, case.wrong, strict=True):
            cell = _label_text(answer)
            cells.append(f"{cell} (wrong)" if wrong else cell)
        for name, text in case.inputs.items():
            rows.append(cells + [f"{name}: {text}"])
            cells = [""] * len(cells)  # only the first text stands beside the answers
    return Table(columns, rows, title=f"Examples of {file.file}")


def _label_text(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.3f}"


def _records(file: CaseFile, case: Case, texts: int) -> list[tuple[Any, ...]]:
    """A row for each system, padded to `texts` text columns."""
    about_case = [case.length, case.overlap, "; ".join(case.phenomena)]
    inputs: list[str | None] = list(case.inputs.values())
    inputs += [None] * (texts - len(inputs))
    records = []
    for system, answer, wrong in zip(file.systems, case.answers, case.wrong, strict=True):
        row: list[Any] = [file.file, case.index, case.gold, system, answer, int(wrong)]
        records.append(tuple(row + about_case + inputs))
    return records


def _rate_data(file: CaseFile, rate: Rate) -> dict[str, Any]:
    systems = {}
    for number, (system, bar) in enumerate(zip(file.systems, rate.bars, strict=True)):
        systems[system] = {"wrong": rate.wrong[number], "share": rate.share(number), **bar._asdict()}
    return {"kind": rate.kind, "name": rate.name, "n": rate.n, "systems": systems}


def _case_data(file: CaseFile, case: Case) -> dict[str, Any]:
    return {
        "index": case.index,
        "inputs": dict(case.inputs),
        "gold": case.gold,
        "answers": dict(zip(file.systems, case.answers, strict=True)),
        "wrong": dict(zip(file.systems, case.wrong, strict=True)),
        "phenomena": list(case.phenomena),
        "about": dict(case.metadata),
        "words": case.length,
        "overlap": case.overlap,
    }

"""The form that draws a study, and the reader of its file of examples, which reads only texts."""

import secrets
from collections.abc import Iterator, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from gluebench.benchmark import Task
from gluebench.data import DataError, Example, Table, table_of
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.accounts.trust import require_confirmed
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.fields import fields_beside
from gluebench.leaderboard.apps.common.inputs import form_input
from gluebench.leaderboard.apps.common.kinds import Values

FIELDS = fields_beside(__file__, "study.toml")


class StudyForm(forms.Form):
    """What to draw, from what, and for whom."""

    task = forms.ChoiceField(label="Diagnostic set")
    examples = forms.FileField(label=FIELDS["examples"].label, help_text=FIELDS["examples"].help)
    pairs = form_input(FIELDS["pairs"])
    annotators = form_input(FIELDS["annotators"])
    seed = form_input(FIELDS["seed"])
    accounts = form_input(FIELDS["accounts"])

    def __init__(self, benchmark: Benchmark, data: Any = None, files: Any = None) -> None:
        super().__init__(data, files, initial={"seed": secrets.randbelow(10_000)})
        self.tasks = {task.name: task for task in benchmark.record.diagnostics if can_be_annotated(task)}
        field = self.fields["task"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(name, f"{task.title} ({name})") for name, task in self.tasks.items()]
        if len(self.tasks) == 1:
            field.widget = forms.HiddenInput()
            field.initial = next(iter(self.tasks))

    def clean_accounts(self) -> list[User]:
        """The accounts, in the order given."""
        users: list[User] = []
        unknown: list[str] = []
        for email in dict.fromkeys(self.cleaned_data["accounts"].split()):
            user = User.objects.filter(email__iexact=email, is_active=True).first()
            if user is None:
                unknown.append(email)
            elif user not in users:
                users.append(user)
        if unknown:
            shown = ", ".join(email for email in unknown if "@" in email) or "what was entered"
            raise ValidationError(f"There is no account on this site for {shown}; use a link instead.")
        require_confirmed(users)
        return users

    def clean(self) -> Values:
        """Return the fields, and `table` with the examples of the file."""
        values: Values = super().clean() or self.cleaned_data
        if len(values.get("accounts", [])) > values.get("annotators", FIELDS["annotators"].most):
            self.add_error("accounts", "There are more accounts than annotators.")
        file = values.get("examples")
        task = self.tasks.get(values.get("task", ""))
        if file is None or task is None:
            return values
        if file.size > settings.UPLOAD_BYTES:
            self.add_error("examples", f"Larger than {settings.UPLOAD_BYTES // 1024**2} MB.")
            return values
        try:
            values["table"] = read_table(file.read(), task)
        except DataError as error:
            self.add_error("examples", list(error.problems))
        return values


INDEX = "index"
RELEASED_COLUMNS = ("sentence1", "sentence2")
"""Names of the two text columns in files of GLUE's release."""
MAX_PROBLEMS = 20


def can_be_annotated(task: Task) -> bool:
    """Whether people can label its examples in both directions: pairs of texts, scored by their labels."""
    return bool(task.labels) and len(task.columns) == 2 and not task.scored


def read_table(data: bytes, task: Task) -> Table:
    """The examples of a tab-separated file with a header; labels, tags and other columns are ignored.

    The texts are in columns named as the manifest has them, or sentence1 and sentence2. Without a column
    `index`, rows are counted from 0. Raises DataError with what is wrong in which line.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError([f"line {line}: not UTF-8 text; save the file as UTF-8"]) from None
    split = task.file(task.metrics[0].file).splits["test"]
    problems: list[str] = []
    examples = list(_examples(text.removesuffix("\n").split("\n"), task, split.size, problems))
    if problems:
        shown = problems[:MAX_PROBLEMS]
        if len(problems) > MAX_PROBLEMS:
            shown.append(f"and {len(problems) - MAX_PROBLEMS:,} more of the kind")
        raise DataError(shown)
    return table_of(task, split.name, examples)


def _text_columns(header: Sequence[str], task: Task) -> Sequence[str] | None:
    """The names that the columns of texts have in this header; None if they are not there."""
    for names in (task.columns, RELEASED_COLUMNS):
        if all(name.casefold() in header for name in names):
            return names
    return None


def _examples(lines: Sequence[str], task: Task, size: int, problems: list[str]) -> Iterator[Example]:
    header = [name.strip().casefold() for name in lines[0].split("\t")]
    names = _text_columns(header, task)
    if names is None:
        raise DataError(
            f"line 1: the header has {', '.join(header)[:200] or 'nothing'}; expected the columns "
            f"{' and '.join(task.columns)} (or {' and '.join(RELEASED_COLUMNS)}), separated by tabs"
        )
    columns = {own: header.index(name.casefold()) for own, name in zip(task.columns, names, strict=True)}
    seen: set[int] = set()
    for number, line in enumerate(lines[1:], 2):
        cells = line.removesuffix("\r").split("\t")
        if len(cells) != len(header):
            problems.append(f"line {number}: {len(cells)} columns; expected {len(header)}, as the header has")
            continue
        text = str(number - 2)
        if INDEX in header:
            text = cells[header.index(INDEX)]
        index = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
        if not 0 <= index < size or index in seen:
            wrong = "it stands twice" if index in seen else f"expected a number from 0 to {size - 1}"
            problems.append(f"line {number}: index {text[:20]!r}; {wrong}: {task.name} has {size} examples")
        seen.add(index)
        yield Example(index, {name: cells[at] for name, at in columns.items()}, None)

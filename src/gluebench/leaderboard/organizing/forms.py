"""Forms of organizing."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import validate_slug

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.text import plain

Uploads = list[UploadedFile[Any]]
TABLE_ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".zip")
CHOICES = {
    "label": ("Column of the labels", "A column, as rating"),
    "inputs": ("Columns of the texts", "Columns in their order, as premise, hypothesis"),
    "index": ("Column of the ids", "A column"),
    "ignore": ("Columns to leave out", "Columns"),
    "kind": ("Kind of labels", "The word labels or scores"),
    "words": ("Labels in their order", "Words, as no, yes"),
    "score_range": ("Range of the scores", "Two numbers, as 0, 5"),
    "metrics": ("Metrics", "Names, as accuracy, f1, macro_f1, pearson, spearman"),
    "positive": ("Label that F1 counts as positive", "A word"),
    "licence": ("License of the texts", "As CC-BY-4.0"),
}
"""The options of `gluebench benchmark new`: their label and what to write."""
PARTS = ("manifest", "gold", "examples")
"""The uploads of one file each."""


class _Files(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Several files; an empty list for none."""

    widget = _Files

    def clean(self, data: Any, initial: Any = None) -> Uploads:
        """The files. Raises ValidationError for one that is empty."""
        return [super(FilesField, self).clean(file, initial) for file in data or ()]


class FilesForm(forms.Form):
    """The files of a benchmark: tables of which it is made, or its manifest with zips of data and labels."""

    tables = FilesField(
        required=False,
        label="Tables with labels",
        help_text="train, dev and test as .csv, .tsv, .json or .jsonl (test is needed, the others are not), "
        "or one zip of them; for several tasks a zip with a folder for each.",
    )
    manifest = forms.FileField(required=False, help_text="NAME.toml, as docs/reference/manifest.md explains.")
    parents = FilesField(
        required=False,
        label="Files that it extends",
        help_text="Manifests named by extends, if they are yours.",
    )
    gold = forms.FileField(
        required=False, label="Labels", help_text="A zip of the gold folder. Only the grader opens it."
    )
    examples = forms.FileField(
        required=False, label="Data", help_text="A zip of the data folder, test files without labels."
    )
    encoding = forms.CharField(required=False, initial="utf-8", max_length=30, label="Encoding of the tables")
    replace_whitespace = forms.BooleanField(
        required=False, label="Make tabs and line ends within texts a space"
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name, (label, text) in CHOICES.items():
            help_text = f"{text}. For one of several tasks TASK=…; separate several by semicolons."
            self.fields[name] = forms.CharField(
                required=False, max_length=1000, label=label, help_text=help_text
            )

    @property
    def choices(self) -> dict[str, Any]:
        """The options of the valid form, as `data.organize.Choices` takes them."""
        values = self.cleaned_data
        lists = {name: [part.strip() for part in values[name].split(";") if part.strip()] for name in CHOICES}
        return {
            **lists,
            "title": values.get("title", ""),
            "encoding": values["encoding"] or "utf-8",
            "replace_whitespace": values["replace_whitespace"],
        }

    def sections(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The inputs under their headings; options of tables are apart."""
        first = [self[name] for name in ("name", "title", "reason") if name in self.fields]
        return [
            ("", first),
            ("Either: tables", [self["tables"]]),
            ("Or: a manifest", [self[name] for name in ("manifest", "parents", "gold", "examples")]),
        ]

    def options(self) -> list[forms.BoundField]:
        """The inputs of what is detected in tables."""
        return [self[name] for name in (*CHOICES, "encoding", "replace_whitespace")]

    def clean(self) -> dict[str, Any]:
        """The values; errors for files that do not go together or are too many."""
        values = super().clean() or {}
        files = [*values.get("tables", ()), *values.get("parents", ())]
        files += [values[name] for name in PARTS if values.get(name)]
        if values.get("tables") and len(files) > len(values["tables"]):
            self.add_error("tables", "Send either tables, or a manifest with its zips.")
        elif not files:
            self.add_error("tables", "Choose files.")
        for file in values.get("tables", ()):
            if not str(file.name).lower().endswith(TABLE_ENDINGS):
                self.add_error("tables", f"{file.name}: expected {', '.join(TABLE_ENDINGS)}.")
        if sum(file.size or 0 for file in files) > settings.UPLOAD_BYTES:
            limit = settings.UPLOAD_BYTES // 1024**2
            self.add_error(None, f"The files are larger than {limit} MB together: compress them as zips.")
        return values


class NewForm(FilesForm):
    """The files of a new benchmark, and its name."""

    name = forms.CharField(
        required=False,
        max_length=80,
        validators=[validate_slug],
        help_text="Part of its address: letters, digits, - and _. With a manifest, the name is there.",
    )
    title = forms.CharField(required=False, max_length=200, validators=[plain])

    def clean(self) -> dict[str, Any]:
        """The values; errors for what a new benchmark lacks."""
        values = super().clean()
        if values.get("tables"):
            name = values.get("name", "")
            if not name and "name" not in self.errors:
                self.add_error("name", "Name the benchmark.")
            elif name and Benchmark.objects.filter(name=name).exists():
                self.add_error("name", "This name is taken.")
        elif not self.errors and not (values.get("manifest") and values.get("gold")):
            self.add_error("manifest", "A new benchmark needs a manifest and its labels, or tables.")
        return values


class ReplaceForm(FilesForm):
    """Files that replace those of a benchmark, and why."""

    reason = forms.CharField(
        max_length=200, validators=[plain], label="Why", help_text="Kept in the log and beside new scores."
    )

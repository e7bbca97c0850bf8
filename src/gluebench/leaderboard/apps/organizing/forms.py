"""Forms of organizing."""

import re
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import URLValidator, validate_slug

from gluebench.benchmark.checks import name_finding
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.accounts.trust import has_confirmed_address
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import ActForm
from gluebench.leaderboard.apps.common.fields import fields_beside
from gluebench.leaderboard.apps.common.inputs import form_input
from gluebench.leaderboard.apps.common.text import plain
from gluebench.leaderboard.apps.submissions.forms import reason_field

TABLE_ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".zip")
FIELDS = fields_beside(__file__, "files.toml")
LISTS = [name for name, field in FIELDS.items() if field.kind == "list"]
PARTS = [name for name, field in FIELDS.items() if field.kind == "file"]
"""The uploads of one file each."""


def split_list(text: str) -> list[str]:
    """The parts of a list that is entered with semicolons."""
    parts = [part.strip() for part in text.split(";")]
    return [part for part in parts if part]


class FilesForm(ActForm):
    """The files of a benchmark: tables of which it is made, or its manifest with zips of data and labels."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name, field in FIELDS.items():
            self.fields[name] = form_input(field)

    def arguments(self) -> tuple[Any, dict[str, Any]]:
        """The benchmark that they replace, or None; the values; the options for `data.organize.Choices`."""
        values = self.cleaned_data
        choices: dict[str, Any] = {name: split_list(values[name]) for name in LISTS}
        choices["encoding"] = values["encoding"] or "utf-8"
        choices["replace_whitespace"] = values["replace_whitespace"]
        return self.row, {"sent": values, "choices": choices}

    def sections(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The inputs under their headings; those of `options` are apart."""
        manifest = ("manifest", "parents", "gold", "examples")
        names = {"": self.base_fields, "Either: tables": ("tables",), "Or: a manifest": manifest}
        sections = []
        for title, own in names.items():
            sections.append((title, [self[name] for name in own]))
        return sections

    def options(self) -> list[forms.BoundField]:
        """The inputs of what is detected in tables."""
        return [self[name] for name in LISTS + ["encoding", "replace_whitespace"]]

    def clean(self) -> dict[str, Any]:
        """The values; errors for files that do not go together or are too many."""
        values = super().clean() or {}
        files = list(values.get("tables", ())) + list(values.get("parents", ()))
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


NAMED = "Part of its address: letters, digits, - and _. Needed with tables; a manifest has its own."


def new_name(name: str) -> None:
    """Raise ValidationError unless a new benchmark may have this name."""
    validate_slug(name)
    for finding in name_finding((), name):
        raise ValidationError(f"{finding.text}.")
    if Benchmark.objects.filter(name=name).exists():
        raise ValidationError("This name is taken.")


class NewForm(FilesForm):
    """The files of a new benchmark, and its name."""

    name = forms.CharField(required=False, max_length=80, validators=[new_name], help_text=NAMED)
    title = forms.CharField(
        required=False, max_length=200, validators=[plain], help_text="Shown to everybody. Empty: its name."
    )

    def clean(self) -> dict[str, Any]:
        """The values; errors for what a new benchmark lacks."""
        values = super().clean()
        if values.get("tables"):
            if values.get("name") == "":
                self.add_error("name", "Name the benchmark.")
        elif not self.errors and not (values.get("manifest") and values.get("gold")):
            self.add_error("manifest", "A new benchmark needs a manifest and its labels, or tables.")
        return values


class ReplaceForm(FilesForm):
    """Files that replace those of a benchmark, and why."""

    reason = reason_field(most=200, help_text="Kept in the log and beside new scores.")


_MARKDOWN = "Markdown: headings with ##, lists with -, links as [text](https://…). HTML is shown as text."
_PAPER = {"accent": ("light", "#fdfcfa"), "accent_dark": ("dark", "#14181a")}
"""For each accent color its theme and the background of its pages."""
CONTRAST = 4.5
"""Least contrast of text, as WCAG 2 asks for."""
LOGO_BYTES = 200_000


def _text_field(
    label: str, help_text: str = _MARKDOWN, *, rows: int = 8, required: bool = False
) -> forms.CharField:
    area = forms.Textarea(attrs={"rows": rows})
    return forms.CharField(
        label=label, required=required, max_length=20_000, widget=area, help_text=help_text
    )


class TextsForm(ActForm):
    """The title and the texts of a benchmark."""

    title = forms.CharField(max_length=200, validators=[plain])
    overview = _text_field("Overview", f"Its first paragraph is on the board. {_MARKDOWN}")
    rules = _text_field("Rules")
    dataset = _text_field("Data", f"On the Data page. {_MARKDOWN}")
    faq = _text_field("Questions and answers")

    def present(self, row: Benchmark) -> dict[str, Any]:
        """Those that it has."""
        return {**row.texts, "title": row.title}


class SiteTextForm(forms.Form):
    """The terms or the privacy page."""

    text = _text_field(
        "Text", f"The first line is its title, as # Terms. {_MARKDOWN}", rows=24, required=True
    )


class LooksForm(ActForm):
    """Logo, accent colors, links and contact of a benchmark."""

    logo = forms.FileField(
        required=False,
        help_text=f"PNG, JPEG or WebP, at most {LOGO_BYTES // 1000} kB.",
    )
    without_logo = forms.BooleanField(required=False, label="Remove the logo")
    accent = forms.CharField(required=False, label="Accent color, light pages", help_text="As #0a655c.")
    accent_dark = forms.CharField(required=False, label="Accent color, dark pages", help_text="As #74cdc0.")
    links = _text_field(
        "Links", "One a line: a text, then its address, as Paper https://example.org/paper", rows=4
    )
    contact = forms.EmailField(required=False, help_text="Shown to everybody on the board.")

    def present(self, row: Benchmark) -> dict[str, Any]:
        """Those that it has; a logo is never sent back."""
        lines = "\n".join(" ".join(link) for link in row.looks.get("links", []))
        return {**row.looks, "links": lines, "logo": None}

    def clean_logo(self) -> tuple[bytes, str] | None:
        """The picture and its content type by its first bytes; what it is called is not looked at."""
        file: UploadedFile[Any] | None = self.cleaned_data["logo"]
        if file is None:
            return None
        head = file.read(12)
        file.seek(0)
        kind = ""
        if head.startswith(b"\xff\xd8\xff"):
            kind = "jpeg"
        elif head.startswith(b"\x89PNG\r\n\x1a\n"):
            kind = "png"
        elif head.startswith(b"RIFF") and head.endswith(b"WEBP"):
            kind = "webp"
        if not kind or (file.size or 0) > LOGO_BYTES:
            raise ValidationError(f"Send a PNG, JPEG or WebP of at most {LOGO_BYTES // 1000} kB.")
        return file.read(), f"image/{kind}"

    def clean_links(self) -> list[list[str]]:
        """[Text, address] of each link."""
        links = []
        for line in filter(str.strip, self.cleaned_data["links"].splitlines()):
            text, _, address = line.strip().rpartition(" ")
            URLValidator(["http", "https"], message=f"{line}: write a text, then https://…")(address)
            plain(text)
            links.append([text.strip() or address, address])
        return links

    def clean(self) -> dict[str, Any]:
        """The values; errors for colors that are hard to read."""
        values = super().clean() or self.cleaned_data
        for name, (theme, paper) in _PAPER.items():
            color = values.get(name, "")
            if color and not re.fullmatch("#[0-9a-fA-F]{6}", color):
                self.add_error(name, "Write # and six digits, as #0a655c.")
            elif color:
                ratio = contrast(color, paper)
                if ratio < CONTRAST:
                    needed = f"text needs {CONTRAST} at least"
                    self.add_error(name, f"Its contrast on {theme} pages is {ratio:.1f}; {needed}.")
        return values


def contrast(one: str, other: str) -> float:
    """Contrast of two colors as #rrggbb, from 1 to 21 (WCAG 2)."""
    low, high = sorted([_luminance(one), _luminance(other)])
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    """The relative luminance of a color as #rrggbb, from 0 to 1 (WCAG 2)."""
    red = _linear(color[1:3])
    green = _linear(color[3:5])
    blue = _linear(color[5:7])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(digits: str) -> float:
    """A channel of sRGB, two digits, without its gamma."""
    part = int(digits, 16) / 255
    if part <= 0.04045:
        return part / 12.92
    return float(((part + 0.055) / 1.055) ** 2.4)


class RoleForm(ActForm):
    """A person who is to have a role, named by the address of a confirmed account."""

    email = forms.EmailField(label="Email address", help_text="Of an account whose address is confirmed.")
    role = forms.ChoiceField(
        choices=[
            ("organizer", "Organizer: may do everything"),
            ("reviewer", "Reviewer: approves and declines"),
        ]
    )

    def clean_email(self) -> User:
        """The account. Raises ValidationError."""
        user = User.objects.filter(email__iexact=self.cleaned_data["email"], is_active=True).first()
        if user is None or not has_confirmed_address(user):
            raise ValidationError("There is no account with this address, or it is not confirmed.")
        return user


class CopyForm(ActForm):
    """The name of a copy, and whether it has the labels."""

    name = forms.CharField(max_length=80, validators=[new_name])
    title = forms.CharField(max_length=200, validators=[plain])
    labels = forms.BooleanField(required=False, label="With the labels of the test files")


class AccountForm(ActForm):
    """The number of an account that has the role."""

    account = forms.IntegerField()

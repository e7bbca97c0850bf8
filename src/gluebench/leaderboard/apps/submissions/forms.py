"""Forms of a submission, for submitters and for organizers."""

import secrets
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.db import models
from django.db.models import Q

from gluebench.leaderboard.apps.benchmarks.organizer_pages import ActForm
from gluebench.leaderboard.apps.common.fields import FIELDS, SECTIONS
from gluebench.leaderboard.apps.common.inputs import WIDGETS
from gluebench.leaderboard.apps.common.text import plain
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import LISTED, OPEN, Kind, Status

PUBLIC = "Show it on the public board once it is graded"
PUBLIC_HELP = "Leave this off to see your score first. You can publish later on the submission's page."
ACCEPTED = ".zip,application/zip,.tsv,.csv,.txt,.json,.jsonl"
"""File types that a browser offers; tables outside a zip can be fixed."""


class UploadForm(forms.Form):
    """The file alone: enough for the free check."""

    upload = forms.FileField(
        label="Submission",
        help_text="One zip with a .tsv file for each test file; "
        f"at most {settings.UPLOAD_BYTES // 1024**2} MB.",
        widget=forms.FileInput(attrs={"accept": ACCEPTED, "data-most": settings.UPLOAD_BYTES}),
        error_messages={"required": "Choose a file."},
    )
    retry_key = forms.CharField(
        required=False, max_length=64, widget=forms.HiddenInput, initial=lambda: secrets.token_hex(16)
    )
    """Key of the page, so that a second click or a lost connection makes no second submission."""

    def clean_upload(self) -> UploadedFile[Any]:
        """Return the file; raise ValidationError if it is too large."""
        upload: UploadedFile[Any] = self.cleaned_data["upload"]
        limit = settings.UPLOAD_BYTES
        if upload.size is None or upload.size > limit:
            raise ValidationError(f"The file is larger than {limit // 1024**2} MB. Compress it as a zip.")
        return upload


def _form_field(column: models.Field[Any, Any], **options: Any) -> forms.Field | None:
    """The input of a column; an address without a scheme is taken to be one of https."""
    if isinstance(column, models.URLField):
        options["assume_scheme"] = "https"
    return column.formfield(**options)


class DetailsForm(forms.ModelForm):  # type: ignore[type-arg]
    """The fields of a submission that its author fills in and edits."""

    class Meta:
        model = Submission
        fields: list[str] = list(FIELDS)
        labels = {name: field.label for name, field in FIELDS.items()} | {"public": PUBLIC}
        help_texts = {name: field.help for name, field in FIELDS.items()} | {"public": PUBLIC_HELP}
        widgets = {name: WIDGETS[field.kind] for name, field in FIELDS.items() if field.kind in WIDGETS}
        formfield_callback = _form_field

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if "team" in self.fields and self.instance.benchmark_id and self.instance.has_team_name:
            self.fields["team"].disabled = True
            self.fields["team"].help_text = "The name of your team, which the board shows."

    def sections(self) -> list[tuple[str, list[forms.BoundField], bool]]:
        """The inputs under their headings, and whether they are short enough for two beside each other."""
        sections = []
        for title, fields in SECTIONS.items():
            inputs = [self[field.name] for field in fields]
            sections.append((title, inputs, any(field.is_numeric for field in fields)))
        return sections


class SubmissionForm(UploadForm, DetailsForm):
    """A submission and what its author says of it."""

    class Meta(DetailsForm.Meta):
        fields = list(FIELDS) + ["public"]


class ReproductionForm(UploadForm, DetailsForm):
    """Another run of a public system, and who made it."""

    team = forms.CharField(label="Who you are", help_text="Shown with the system and the date.")

    class Meta(DetailsForm.Meta):
        fields = ["team", "link"]
        help_texts = {"link": "A page about your run, such as its code."}


def reason_field(label: str | None = "Why", most: int = 400, **options: Any) -> forms.CharField:
    """The input of a reason, for the log."""
    return forms.CharField(label=label, max_length=most, validators=[plain], **options)


class ReasonForm(ActForm):
    """A reason that must be given."""

    reason = reason_field(most=200, help_text="Kept in the log, and beside the new result.")


class DeclineForm(ActForm):
    """A reason that its author reads."""

    reason = reason_field(help_text="Its author reads this; it is kept in the log.")


class ApproveForm(ActForm):
    """A reason that may be given."""

    reason = reason_field("Note", required=False, help_text="Kept in the log.")


class MarkForm(ApproveForm):
    """The kind of an entry, and whether it is verified."""

    kind = forms.ChoiceField(
        label="Kind",
        choices=Kind,
        widget=forms.RadioSelect,
        help_text="The board marks baselines and human performance.",
    )
    verified = forms.BooleanField(
        label="Verified",
        required=False,
        help_text="An organizer reproduced the result or reviewed the method.",
    )
    field_order = ["kind", "verified", "reason"]

    def present(self, row: Submission) -> dict[str, Any]:
        """Its marks."""
        return {"kind": row.kind, "verified": row.verified}


HERE = Q(withdrawn__isnull=True)
PENDING = HERE & Q(public=True, approved=False, declined="", status=Status.GRADED)
STATES: dict[str, tuple[str, Q]] = {
    "approve": ("Waiting for approval", PENDING),
    "listed": ("On the board", LISTED),
    "private": ("Private", HERE & Q(public=False)),
    "declined": ("Kept off the board", HERE & Q(approved=False) & ~Q(declined="")),
    "reproductions": ("Reproductions", Q(reproduces__isnull=False)),
    "withdrawn": ("Withdrawn", Q(withdrawn__isnull=False)),
    "open": ("Waiting or being graded", Q(status__in=OPEN)),
    "invalid": ("Not valid", Q(status=Status.INVALID)),
    "failed": ("Failed", Q(status=Status.FAILED)),
}
"""Filters of the organizer's list: for each word of the address, a title and a condition."""


class FilterForm(forms.Form):
    """Filters of the organizer's list, which are all in the address."""

    q = forms.CharField(label="Words", required=False, max_length=80)
    state = forms.ChoiceField(
        label="State",
        required=False,
        choices=[("", "All")] + [(name, title) for name, (title, _) in STATES.items()],
    )
    kind = forms.ChoiceField(
        label="Kind", required=False, choices=[("", "All")] + Kind.choices + [("verified", "Verified")]
    )

    def condition(self, *, admin: bool) -> Q:
        """The submissions that the valid filters select; only an admin's words match addresses."""
        condition = Q()
        state = self.cleaned_data["state"]
        if state:
            _, condition = STATES[state]
        kind = self.cleaned_data["kind"]
        if kind == "verified":
            condition &= Q(verified=True)
        elif kind:
            condition &= Q(kind=kind)
        words = self.cleaned_data["q"]
        if words:
            fields = ["name", "model", "team", "key"]
            if admin:
                fields.append("owner__email")
            lookups = [(f"{field}__icontains", words) for field in fields]
            condition &= Q(*lookups, _connector=Q.OR)
        return condition

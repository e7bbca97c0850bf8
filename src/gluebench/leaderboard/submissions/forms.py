"""What a submitter fills in. Fields that the site owns (status, scores, owner) are not here."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from gluebench.leaderboard.submissions.models import Regime, Submission

HELP = {
    "name": "As the board should call it: your system, your team or your paper.",
    "model": "The kind of model, in a few words: BiLSTM+ELMo+Attn.",
    "team": "Who stands behind it. Your e-mail address is never shown.",
    "link": "A paper, a repository or a page about it.",
    "description": "A few sentences on the method and its training data. Markdown works; HTML does not.",
    "regime": "One model for each task, one for all, or a fixed sentence encoder with small classifiers.",
    "parameters": "All parameters the system uses at test time, over all tasks, as a plain number.",
    "shared_parameters": "Those of them that every task uses.",
    "public": "Leave it off to see your score first; you can publish later from the submission's page.",
}
LABELS = {
    "name": "Name",
    "model": "Model",
    "link": "Link",
    "regime": "Training",
    "parameters": "Parameters in total",
    "shared_parameters": "Parameters shared by all tasks",
    "public": "Show it on the public board once it is graded",
}


class UploadForm(forms.Form):
    """The file alone: enough for the free check."""

    upload = forms.FileField(
        label="Submission",
        help_text="One zip with a .tsv file for each test file, as this page lists them; "
        f"at most {settings.UPLOAD_BYTES // 1024**2} MB.",
        widget=forms.FileInput(attrs={"accept": ".zip,application/zip", "data-most": settings.UPLOAD_BYTES}),
    )

    def clean_upload(self) -> UploadedFile[Any]:
        """The file, unless it is larger than any honest submission."""
        upload: UploadedFile[Any] = self.cleaned_data["upload"]
        limit = settings.UPLOAD_BYTES
        if upload.size is None or upload.size > limit:
            raise ValidationError(f"The file is larger than {limit // 1024**2} MB. Compress it as a zip.")
        return upload


class SubmissionForm(UploadForm, forms.ModelForm):  # type: ignore[type-arg]
    """A submission and what its author says of it."""

    link = forms.URLField(
        label=LABELS["link"], help_text=HELP["link"], required=False, max_length=300, assume_scheme="https"
    )
    regime = forms.ChoiceField(
        label=LABELS["regime"], help_text=HELP["regime"], choices=Regime, widget=forms.RadioSelect
    )
    field_order = ["upload", *HELP]

    class Meta:
        model = Submission
        fields = list(HELP)
        labels = LABELS
        help_texts = HELP
        widgets = {"description": forms.Textarea(attrs={"rows": 5})}

    def clean(self) -> dict[str, Any]:
        """The fields, unless more parameters are shared than there are."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        total, shared = values.get("parameters"), values.get("shared_parameters")
        if total is not None and shared is not None and shared > total:
            self.add_error("shared_parameters", f"More than the {total:,} parameters in total.")
        return values

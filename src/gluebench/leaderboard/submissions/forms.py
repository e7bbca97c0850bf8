"""What a submitter fills in. Fields that the site owns (status, scores, owner) are not here."""

from __future__ import annotations

import secrets
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from gluebench.leaderboard.submissions.acts import DESCRIPTIVE
from gluebench.leaderboard.submissions.models import Regime, Submission

HELP = {
    "name": "As the board should call it: your system, your team or your paper.",
    "model": "The kind of model, in a few words: BiLSTM+ELMo+Attn.",
    "team": "Who stands behind it. Your email address is never shown.",
    "link": "A page about it. The board links to it.",
    "paper": "Where the method is described.",
    "code": "Where others find what they need to do it again.",
    "description": "A few sentences on the method. Markdown works; HTML does not.",
    "regime": "One model for each task, one for all, or a fixed sentence encoder with small classifiers.",
    "training_data": "What it was trained on beyond the training sets of this benchmark: "
    "corpora, other labelled data, generated text.",
    "parameters": "All parameters the system uses at test time, over all tasks, as a plain number.",
    "shared_parameters": "Those parameters that every task uses.",
    "compute": "What the training took, in your words: 8 GPU days of H100, 60 kWh.",
    "latency_ms": "Milliseconds for one example at test time; say on what in the description.",
    "public": "Leave it off to see your score first; you can publish later from the submission's page.",
}
LABELS = {
    "name": "Name",
    "model": "Model",
    "link": "Link",
    "paper": "Paper",
    "code": "Code",
    "regime": "Training",
    "training_data": "Other training data",
    "parameters": "Parameters",
    "shared_parameters": "Shared by all tasks",
    "compute": "Compute",
    "latency_ms": "Latency",
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


def _web(name: str) -> forms.URLField:
    return forms.URLField(
        label=LABELS[name], help_text=HELP[name], required=False, max_length=300, assume_scheme="https"
    )


class DetailsForm(forms.ModelForm):  # type: ignore[type-arg]
    """What its author says of a system, when it is sent and later."""

    link, paper, code = _web("link"), _web("paper"), _web("code")
    regime = forms.ChoiceField(
        label=LABELS["regime"], help_text=HELP["regime"], choices=Regime, widget=forms.RadioSelect
    )

    class Meta:
        model = Submission
        fields: list[str] = list(DESCRIPTIVE)
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


class SubmissionForm(UploadForm, DetailsForm):
    """A submission and what its author says of it."""

    retry_key = forms.CharField(
        required=False, max_length=64, widget=forms.HiddenInput, initial=lambda: secrets.token_hex(16)
    )
    """Of the page that is sent, so that a second click or a broken line makes no second submission."""

    class Meta(DetailsForm.Meta):
        fields = [*DESCRIPTIVE, "public"]

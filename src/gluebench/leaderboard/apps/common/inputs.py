"""Inputs of forms, made from the fields that are declared for all."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from gluebench.leaderboard.apps.common.fields import LARGEST, Field
from gluebench.leaderboard.apps.common.kinds import Values


class _Files(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Several files; an empty list for none."""

    widget = _Files

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[Any]]:
        """The files. Raises ValidationError for one that is empty."""
        return [super(FilesField, self).clean(file, initial) for file in data or ()]


WIDGETS = {"text": forms.Textarea(attrs={"rows": 5}), "choice": forms.RadioSelect()}
"""Widgets of the kinds of fields that are not a single line."""


def form_input(field: Field, **options: Any) -> forms.Field:
    """The input of a field that has no column in the database; `options` are those of Django's input."""
    texts: Values = {"label": field.label, "help_text": field.help, "required": field.required}
    texts |= {"initial": field.initial, **options}
    match field.kind:
        case "choice":
            choices = list(field.choices.items())
            return forms.ChoiceField(widget=forms.RadioSelect, choices=choices, **texts)
        case "switch":
            return forms.BooleanField(**texts)
        case "day":
            day = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
            return forms.DateField(widget=day, **texts)
        case "share" | "number":
            return forms.FloatField(widget=forms.NumberInput(attrs={"step": "any"}), **texts)
        case "limit":
            return forms.IntegerField(min_value=1, **texts)
        case "count":
            most = int(field.most) if field.most < LARGEST else None
            return forms.IntegerField(min_value=int(field.least), max_value=most, **texts)
        case "file":
            return forms.FileField(**texts)
        case "files":
            return FilesField(**texts)
        case "text":
            return forms.CharField(max_length=field.length, widget=forms.Textarea(attrs={"rows": 3}), **texts)
    return forms.CharField(max_length=field.length, **texts)

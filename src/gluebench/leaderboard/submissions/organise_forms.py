"""What an organiser fills in: a reason with every act, and how to narrow the list."""

from __future__ import annotations

from typing import Any

from django import forms

from gluebench.leaderboard.submissions.models import Kind
from gluebench.leaderboard.text import plain


class ReasonForm(forms.Form):
    """A reason that must be given."""

    reason = forms.CharField(
        label="Why",
        max_length=200,
        validators=[plain],
        help_text="Kept in the log, and beside the new result.",
    )


class DeclineForm(forms.Form):
    """A reason that its author reads."""

    reason = forms.CharField(
        label="Why",
        max_length=400,
        validators=[plain],
        help_text="Its author reads this; it is kept in the log.",
    )


class ApproveForm(forms.Form):
    """A reason that may be given."""

    reason = forms.CharField(
        label="Note", max_length=400, validators=[plain], required=False, help_text="Kept in the log."
    )


class MarkForm(ApproveForm):
    """What an entry is, and whether it was looked into."""

    kind = forms.ChoiceField(
        label="Kind",
        choices=Kind,
        widget=forms.RadioSelect,
        help_text="Baselines and people are marked as such on the board.",
    )
    verified = forms.BooleanField(
        label="Verified",
        required=False,
        help_text="Somebody did it again from its code, or looked at how it was made.",
    )
    field_order = ["kind", "verified", "reason"]


class FilterForm(forms.Form):
    """How the list is narrowed; all of it is in the address."""

    q = forms.CharField(label="Words", required=False, max_length=80)
    state = forms.ChoiceField(label="State", required=False)
    kind = forms.ChoiceField(
        label="Kind", required=False, choices=[("", "All"), *Kind.choices, ("verified", "Verified")]
    )

    def __init__(self, *arguments: Any, states: list[tuple[str, str]], **options: Any) -> None:
        super().__init__(*arguments, **options)
        field = self.fields["state"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "All"), *states]

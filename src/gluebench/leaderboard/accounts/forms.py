"""Forms about one's account."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from allauth.account import forms as allauth
from django import forms
from django.http import HttpRequest

from gluebench.leaderboard.accounts.models import Scope, Token, User

LONGEST_DAYS = 365
PASSWORD_HELP = "At least 10 characters, no common password, and nothing like your address."
WORDS = {
    "login": ("Email address", None),
    "email": ("Email address", None),
    "oldpassword": ("Present password", None),
    "password1": ("New password", PASSWORD_HELP),
    "password2": ("New password again", None),
}
"""For fields of the library: the label and, where it is ours, the help."""


class Worded(forms.Form):
    """A form of the library in this site's words, without a placeholder that says the label again."""

    words = WORDS

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name, field in self.fields.items():
            field.widget.attrs.pop("placeholder", None)
            label, about = self.words.get(name, (field.label, None))
            field.label = label
            field.help_text = about or field.help_text


def _worded(form: type[forms.Form], **labels: str) -> type[forms.Form]:
    words = WORDS | {name: (label, None) for name, label in labels.items()}
    return type(form.__name__, (Worded, form), {"words": words})


LoginForm = _worded(allauth.LoginForm)
ReauthenticateForm = _worded(allauth.ReauthenticateForm)
AddEmailForm = _worded(allauth.AddEmailForm, email="New email address")
ChangePasswordForm = _worded(allauth.ChangePasswordForm)
ResetPasswordKeyForm = _worded(allauth.ResetPasswordKeyForm)


class ResetPasswordForm(Worded, allauth.ResetPasswordForm):  # type: ignore[misc]
    """Asking for the link that lets one choose a new password."""

    def clean_email(self) -> str:
        """The address. One that an account is only changing to is not its own yet, and opens nothing."""
        email: str = super().clean_email()
        users: list[User] = self.users  # type: ignore[has-type]
        self.users = [user for user in users if user.email.lower() == email.lower()]
        return email


class SignupForm(Worded, allauth.SignupForm):  # type: ignore[misc]
    """An account by email address and password."""

    words = WORDS | {"password1": ("Password", PASSWORD_HELP)}

    def try_save(self, request: HttpRequest) -> Any:
        """As its parent does, and as slow for an address that has an account as for one that has none."""
        if self.account_already_exists:
            User().set_password(self.cleaned_data["password1"])
        return super().try_save(request)


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new token."""

    scopes = forms.MultipleChoiceField(
        label="May",
        choices=Scope,
        initial=[Scope.READ, Scope.SUBMIT],
        widget=forms.CheckboxSelectMultiple,
        help_text="Give a token no more than its program needs.",
    )
    days = forms.IntegerField(
        label="Days until it expires",
        min_value=1,
        max_value=LONGEST_DAYS,
        initial=90,
        help_text=f"From 1 to {LONGEST_DAYS}.",
    )

    class Meta:
        model = Token
        fields = ["name"]
        help_texts = {"name": "What it is for: “training server”."}

    @property
    def lifetime(self) -> timedelta:
        """How long the token is good for."""
        return timedelta(days=self.cleaned_data["days"])


class DeleteForm(forms.Form):
    """The password again, before an account is deleted."""

    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    sure = forms.BooleanField(label="Delete my account and my files. I know that this cannot be undone.")

    def __init__(self, *arguments: Any, user: User, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._user = user

    def clean_password(self) -> str:
        """The password, if it is the right one."""
        password: str = self.cleaned_data["password"]
        if not self._user.check_password(password):
            raise forms.ValidationError("This is not your password.")
        return password

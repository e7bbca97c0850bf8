"""Pages of one's account: overview, tokens, export and deletion."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.core import ratelimit
from django import forms
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from gluebench.leaderboard.apps.accounts.acts import add_token, rename, revoke_token
from gluebench.leaderboard.apps.accounts.models import Scope, SignedInRequest, Token, User, teams_of
from gluebench.leaderboard.apps.accounts.trust import delete_account, export, scopes_for
from gluebench.leaderboard.apps.common.pages import account_page, redirect_with_success
from gluebench.leaderboard.keeping.folder import SiteError

LONGEST_DAYS = 365


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new token."""

    scopes = forms.MultipleChoiceField(
        label="May",
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

    def __init__(self, user: User, data: Any = None) -> None:
        super().__init__(data)
        scopes: Any = self.fields["scopes"]
        scopes.choices = [(scope.value, scope.label) for scope in scopes_for(user)]


class DeleteForm(forms.Form):
    """The password again, if the account has one, before an account is deleted."""

    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    sure = forms.BooleanField(label="Delete my account and my files. I know that this cannot be undone.")

    def __init__(self, *arguments: Any, user: User, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._user = user
        if not user.has_usable_password():
            del self.fields["password"]

    def clean_password(self) -> str:
        """The password, if it is the right one."""
        password: str = self.cleaned_data["password"]
        if not self._user.check_password(password):
            raise forms.ValidationError("This is not your password.")
        return password


class NameForm(forms.ModelForm):  # type: ignore[type-arg]
    """How a person wants to be called."""

    class Meta:
        model = User
        fields = ["name"]
        labels = {"name": "Your name"}
        help_texts = {"name": "For your team, and organizers of benchmarks that you take part in."}


@account_page
def overview(request: SignedInRequest) -> HttpResponse:
    """The account's address, name, team and roles; a POST changes the name."""
    form = NameForm(request.POST or None, instance=User.objects.get(pk=request.user.pk))
    if request.method == "POST" and form.is_valid():
        done = rename(request.user, form.cleaned_data["name"])
        return redirect_with_success(request, done, "account")
    context = {
        "organized": request.user.organized.all(),
        "teams": teams_of(request.user).values(),
        "form": form,
        "here": "account",
    }
    return render(request, "accounts/overview.html", context, status=422 if form.errors else 200)


@account_page
@reauthentication_required  # type: ignore[untyped-decorator]
def tokens(request: SignedInRequest) -> HttpResponse:
    """One's tokens, and a form for a new one, whose secret is shown only in this answer."""
    form = TokenForm(request.user, request.POST or None)
    secret = ""
    if form.is_valid():
        secret = add_token(request.user, **form.cleaned_data)
        form = TokenForm(request.user)
    context = {"form": form, "secret": secret, "tokens": request.user.tokens.order_by("-created")}
    return render(request, "accounts/tokens.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def revoke(request: SignedInRequest, pk: int) -> HttpResponse:
    """End a token."""
    token = get_object_or_404(Token, pk=pk, user=request.user)
    return redirect_with_success(request, revoke_token(token), "tokens")


@account_page
@reauthentication_required  # type: ignore[untyped-decorator]
def data(request: SignedInRequest) -> HttpResponse | FileResponse:
    """Download all data of one's account."""
    if request.method == "POST":
        return FileResponse(export(request.user), as_attachment=True, filename="gluebench-account.zip")
    return render(request, "accounts/export.html")


@account_page
def delete(request: SignedInRequest) -> HttpResponse:
    """Delete one's account, after the password or, without one, the second factor if there is one."""
    if request.user.has_usable_password():
        return _delete(request)
    answer: HttpResponse = reauthentication_required(_delete)(request)
    return answer


def _delete(request: SignedInRequest) -> HttpResponse:
    refused: HttpResponse | None = ratelimit.consume_or_429(
        request, action="reauthenticate", user=request.user
    )
    if refused:
        return refused
    form = DeleteForm(request.POST or None, user=request.user)
    if form.is_valid():
        try:
            delete_account(request.user)
        except SiteError as error:
            form.add_error(None, str(error))
        else:
            logout(request)
            message = "Your account is deleted. Its public scores stay without your name."
            return redirect_with_success(request, message, settings.ACCOUNT_LOGOUT_REDIRECT_URL)
    context = {"form": form, "count": request.user.submissions.count()}
    return render(request, "accounts/delete.html", context, status=422 if form.errors else 200)

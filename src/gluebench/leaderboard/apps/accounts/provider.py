"""Signing in with OpenID providers and GitHub. The library looks for `provider_classes` in this module.

An address is confirmed only if the provider says that it verified it, and even then opens no account that
exists: its owner signs in and connects the provider. Of a person, only the provider's number is kept.
"""

from collections.abc import Callable
from functools import wraps
from secrets import token_urlsafe
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount import forms, signals
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.github import views as github
from allauth.socialaccount.providers.github.provider import GitHubProvider
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from django.contrib import messages
from django.dispatch import receiver
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from requests import RequestException

from gluebench.leaderboard.apps.accounts.adapter import RelabeledForm
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import record


class _Leaving:
    """Leads to the provider by a page: the content policy forbids forms that end on another site."""

    def redirect(self, request: HttpRequest, process: str, **options: Any) -> HttpResponse:
        """A page that goes on to the provider, or says that it cannot be reached."""
        try:
            answer: HttpResponse = super().redirect(request, process, **options)  # type: ignore[misc]
        except (RequestException, KeyError) as error:
            answer = render_authentication_error(request, self, exception=error)
        if not isinstance(answer, HttpResponseRedirect):
            return answer
        return render(request, "socialaccount/leave.html", {"provider": self, "address": answer.url})


class OpenID(_Leaving, OpenIDConnectProvider):  # type: ignore[misc]
    """Any provider of OpenID Connect, with a nonce that binds its answer to this browser's request."""

    def redirect(self, request: HttpRequest, process: str, **options: Any) -> HttpResponse:
        """See `_Leaving`."""
        nonce = token_urlsafe()
        options["auth_params"] = {**options.get("auth_params", {}), "nonce": nonce}
        return super().redirect(request, process, nonce=nonce, **options)


class GitHub(_Leaving, GitHubProvider):  # type: ignore[misc]
    """GitHub."""


provider_classes = [OpenID, GitHub]


def _if_configured(view: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    @wraps(view)
    def view_or_404(request: HttpRequest) -> HttpResponse:
        try:
            return view(request)
        except SocialApp.DoesNotExist:
            raise Http404 from None

    return view_or_404


github_login = _if_configured(github.oauth2_login)
github_callback = _if_configured(github.oauth2_callback)


class SignInAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """The site's own rules."""

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Check the answer, keep no more of it than needed, and lead who has an account to its password."""
        account = sociallogin.account
        facts = account.extra_data
        account.extra_data = {}
        sociallogin.token = None
        if account.pk:
            account.save(update_fields=["extra_data"])
        if isinstance(sociallogin.provider, OpenID):
            _check(sociallogin, facts)
        if sociallogin.user.pk is None:
            _keep_one_address(sociallogin)
            if sociallogin.state.get("process") == AuthProcess.LOGIN:
                _lead_to_account(request, sociallogin)

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: Any) -> User:
        """The new account without the person's names."""
        user: User = sociallogin.user
        return user

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        """Save a new account. An address that was written into the form is not one the provider verified."""
        if form is not None:
            email = form.cleaned_data["email"].lower()
            sociallogin.email_addresses = [
                each for each in sociallogin.email_addresses if each.email == email
            ]
        user: User = super().save_user(request, sociallogin, form)
        return user


def _check(sociallogin: SocialLogin, facts: dict[str, Any]) -> None:
    """Raise OAuth2Error unless the token is of this provider, for this request and this person.

    The library checks audience and expiry; the token came straight from the provider, by TLS.
    """
    token = facts.get("id_token") or {}
    if token.get("iss", "").rstrip("/") != sociallogin.provider.app.settings["server_url"]:
        raise OAuth2Error("another issuer")
    if token.get("nonce") != sociallogin.state["nonce"]:
        raise OAuth2Error("another nonce")
    if facts.get("userinfo", token).get("sub") != token["sub"]:
        raise OAuth2Error("facts about another person")


def _keep_one_address(sociallogin: SocialLogin) -> None:
    """Keep the primary address; only the value true says that it is verified, not a text."""
    sociallogin.email_addresses = sociallogin.email_addresses[:1]
    for address in sociallogin.email_addresses:
        address.email = sociallogin.user.email = address.email.lower()
        address.primary = True
        address.verified = address.verified is True


def _lead_to_account(request: HttpRequest, sociallogin: SocialLogin) -> None:
    """To the owner of a verified address, say that it has an account; the library hides it from others."""
    for address in sociallogin.email_addresses:
        if address.verified and User.objects.filter(email__iexact=address.email).exists():
            name = sociallogin.provider.name
            messages.warning(
                request,
                f"An account with the address {address.email} exists. Sign in with its password, or ask for "
                f"a new one. Then connect {name} under Account, Providers.",
            )
            raise ImmediateHttpResponse(redirect("account_login"))


class ProviderSignupForm(RelabeledForm, forms.SignupForm):  # type: ignore[misc]
    """The address of a new account whose provider gave none, or one that has an account."""


@receiver(signals.social_account_added)
def record_added(sociallogin: SocialLogin, **_: Any) -> None:
    """Log that an account may be signed in to with a provider."""
    record("provider added", actor=sociallogin.user, provider=sociallogin.account.provider)


@receiver(signals.social_account_removed)
def record_removed(socialaccount: SocialAccount, **_: Any) -> None:
    """Log that an account may no longer be signed in to with a provider."""
    record("provider removed", actor=socialaccount.user, provider=socialaccount.provider)

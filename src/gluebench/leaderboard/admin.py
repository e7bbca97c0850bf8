"""The admin pages: accounts, addresses and links that confirm them, teams, tokens, benchmarks, exceptions.

Submissions and the log have theirs in their own apps.
"""

from __future__ import annotations

from typing import Any

from allauth.account.decorators import secure_admin_login
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from gluebench.leaderboard.accounts import trust
from gluebench.leaderboard.accounts.models import Team, Token, User
from gluebench.leaderboard.annotation.models import Study
from gluebench.leaderboard.audit.admin import LoggedAdmin, ReadOnlyAdmin, never
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.limits.models import Override

site = admin.site
site.login = secure_admin_login(site.login)  # type: ignore[method-assign]
site.site_header = site.site_title = "Leaderboard: admin pages"
site.index_title = "What is on this site"
admin.autodiscover()
# The pages below replace those of the libraries for these models.
site.unregister([EmailAddress, Authenticator, UserSession, Group])


class UserForm(forms.ModelForm):  # type: ignore[type-arg]
    """The form of an account."""

    def clean(self) -> dict[str, Any]:
        """Return the fields; raise ValidationError for a role or a team without a confirmed address."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if any(values.get(name) for name in {"is_superuser", "team"}.intersection(self.changed_data)):
            trust.require_confirmed([self.instance])
        return values


@admin.register(User)
class UserAdmin(LoggedAdmin):
    """Accounts. An admin can close one here; only its owner can delete it, on the account's page."""

    list_display = ["email", "team", "is_superuser", "is_active", "date_joined", "last_login"]
    list_filter = ["is_active", "is_superuser", "organised"]
    search_fields = ["email", "team__name"]
    ordering = ["email"]
    fields = ["email", "team", "is_active", "is_superuser", "date_joined", "last_login"]
    readonly_fields = ["email", "date_joined", "last_login"]
    autocomplete_fields = ["team"]
    actions = ["make_reset_link"]
    form = UserForm
    has_add_permission = has_delete_permission = never  # people sign up themselves; scores refer to accounts

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Let exactly the admins see these pages; end the tokens and sessions of a new admin."""
        obj.is_staff = obj.is_superuser
        super().save_model(request, obj, form, change)
        if obj.is_superuser and "is_superuser" in form.changed_data:
            trust.revoke(obj)

    @admin.action(description="Make a link for a new password")
    def make_reset_link(self, request: HttpRequest, chosen: QuerySet[User]) -> None:
        """Show a link for each account, for owners who forgot their password where no mail is sent."""
        for user in chosen:
            record("password link", actor=request.user, account=user.pk)
            _show_reset_link(self, request, user)


@admin.register(EmailAddress)
class AddressAdmin(LoggedAdmin):
    """Addresses; one that is not confirmed shows the link that confirms it."""

    list_display = ["email", "user", "primary", "verified", "link"]
    list_filter = ["verified", "primary"]
    list_select_related = ["user"]
    search_fields = ["email", "user__email"]
    fields = readonly_fields = ("user", "email", "primary", "verified", "link")
    actions = ["confirm"]
    has_add_permission = has_delete_permission = never  # people do it on their own page

    @admin.display(description="Link to pass on")
    def link(self, address: EmailAddress) -> str:
        """The link that the confirmation mail has."""
        path = "" if address.verified else trust.confirmation_path(address)
        return path and format_html('<a href="{0}">{0}</a>', path)

    @admin.action(description="Confirm, and make a link for a new password")
    def confirm(self, request: HttpRequest, chosen: QuerySet[Any]) -> None:
        """Confirm addresses whose owners were verified in another way: the link gives them the account."""
        for address in chosen.filter(verified=False):
            if address.can_set_verified():
                address.set_as_primary()
                trust.hand_over(address.user)
                record("address confirmed", actor=request.user, account=address.user_id)
                _show_reset_link(self, request, address.user)
            else:
                message = f"{address.email} belongs to another account already."
                self.message_user(request, message, messages.ERROR)


def _show_reset_link(page: admin.ModelAdmin, request: HttpRequest, user: User) -> None:  # type: ignore[type-arg]
    link = request.build_absolute_uri(trust.reset_path(user))
    page.message_user(request, format_html("{}: {}", user.email, link), messages.SUCCESS)


@admin.register(Team)
class TeamAdmin(LoggedAdmin):
    """Teams and who is in them."""

    list_display = ["name", "size", "created"]
    search_fields = ["name", "members__email"]
    ordering = ["name"]
    fields = ["name", "created", "people"]
    readonly_fields = ["created", "people"]

    @admin.display(description="Members")
    def size(self, team: Team) -> int:
        """How many are in it."""
        return team.members.count()

    @admin.display(description="Members")
    def people(self, team: Team) -> str:
        """Their addresses."""
        return ", ".join(team.members.values_list("email", flat=True)) or "nobody"


class BenchmarkForm(forms.ModelForm):  # type: ignore[type-arg]
    """What an admin changes about a benchmark."""

    def clean_organisers(self) -> Any:
        """The organizers; new ones have a confirmed address."""
        chosen = self.cleaned_data["organisers"]
        trust.require_confirmed(chosen.exclude(pk__in=self.instance.organisers.values("pk")))
        return chosen


@admin.register(Benchmark)
class BenchmarkAdmin(LoggedAdmin):
    """Benchmarks. The manifest and the labels come by `gluebench leaderboard add`."""

    list_display = ["title", "name", "open", "systems", "added"]
    list_filter = ["open"]
    search_fields = ["name", "title"]
    readonly_fields = ["name", "title", "added", "version", "settings", "gold_digest", "manifest"]
    fields = ["name", "title", "open", "organisers", *readonly_fields[2:]]
    autocomplete_fields = ["organisers"]
    form = BenchmarkForm
    # Labels are not uploaded with a browser, and scores refer to a benchmark.
    has_add_permission = has_delete_permission = never

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save only the changed fields, as others may have changed meanwhile, and mark pages as changed."""
        obj.save(
            update_fields={field.name for field in obj._meta.concrete_fields}.intersection(form.changed_data)
        )
        Benchmark.objects.filter(pk=obj.pk).touch()

    @admin.display(description="On the board")
    def systems(self, benchmark: Any) -> int:
        """Entries that its board shows."""
        return int(benchmark.submissions.public().count())


@admin.register(Override)
class OverrideAdmin(LoggedAdmin):
    """Other limits for one person or team, and why."""

    list_display = ["benchmark", "user", "team", "per_day", "per_month", "total", "until", "reason", "by"]
    list_filter = ["benchmark"]
    list_select_related = ["benchmark", "user", "team", "by"]
    search_fields = ["user__email", "team__name", "reason"]
    autocomplete_fields = ["benchmark", "user", "team"]
    exclude = ["by"]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save it with the admin who decided it."""
        obj.by = request.user
        super().save_model(request, obj, form, change)


_SECOND_FACTOR = ("user", "type", "created_at", "last_used_at")
site.register(  # deleting one lets in an owner who lost it
    Authenticator,
    ReadOnlyAdmin,
    list_display=_SECOND_FACTOR,
    fields=_SECOND_FACTOR,
    list_filter=["type"],
    search_fields=["user__email"],
    has_delete_permission=admin.ModelAdmin.has_delete_permission,
)
_SESSION = ("user", "created_at", "last_seen_at", "ip", "user_agent")
site.register(
    UserSession, ReadOnlyAdmin, list_display=_SESSION, fields=_SESSION, search_fields=["user__email", "ip"]
)
_TOKEN = ("name", "user", "scopes", "created", "expires", "used")
site.register(  # deleting one ends it
    Token,
    ReadOnlyAdmin,
    list_display=_TOKEN,
    fields=_TOKEN,
    search_fields=["name", "user__email"],
    has_delete_permission=admin.ModelAdmin.has_delete_permission,
)
site.register(
    Study,
    ReadOnlyAdmin,
    list_display=("key", "benchmark", "task", "created", "open", "public", "scored"),
    list_filter=("benchmark", "open", "public"),
    search_fields=("key", "task"),
    exclude=("texts", "drawn"),
)

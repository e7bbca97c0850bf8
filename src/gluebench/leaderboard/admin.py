"""The admin pages: accounts, addresses and links that confirm them, benchmarks, submissions, the log.

Each act of an admin goes into the site's own log, which organizers read.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from allauth.account.decorators import secure_admin_login
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from gluebench.benchmark.figures import counted
from gluebench.leaderboard.apps.accounts import trust
from gluebench.leaderboard.apps.accounts.models import Team, Token, User, teams_of
from gluebench.leaderboard.apps.annotation.models import Study
from gluebench.leaderboard.apps.audit.models import Entry, record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.seals import seals_of_parts
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.limits.models import Override
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.submissions import acts
from gluebench.leaderboard.apps.submissions.forms import DetailsForm
from gluebench.leaderboard.apps.submissions.models import Result, Revision, Submission
from gluebench.leaderboard.apps.submissions.queries import Kind

site = admin.site
site.login = secure_admin_login(site.login)  # type: ignore[method-assign]
site.site_header = site.site_title = "Leaderboard: admin pages"
site.index_title = "What is on this site"
admin.autodiscover()
# The pages below replace those of the libraries for these models.
site.unregister([EmailAddress, Authenticator, SocialAccount, SocialApp, SocialToken, UserSession, Group])

REGRADED = "An admin had it graded again."
BY_ADMIN = "An admin took it off the board."


def never(page: Any, request: HttpRequest, obj: Any = None) -> bool:
    """Refuse a permission: `has_add_permission = never`."""
    return False


class LoggedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Puts changes into the site's own log too, which organizers read."""

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Log that a row was added."""
        self._record(request, "added", obj, [])
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Log that a row was changed, with its fields."""
        changed: list[str] = []
        for part in message:
            if "changed" in part:
                changed += part["changed"]["fields"]
        self._record(request, "changed", obj, changed)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Log that rows were deleted."""
        for obj in queryset:
            self._record(request, "deleted", obj, [])
        return super().log_deletions(request, queryset)

    def _record(self, request: HttpRequest, act: str, row: Model, fields: list[str]) -> None:
        kind = str(row._meta.verbose_name)
        more: Values = {}
        if isinstance(row, Benchmark):
            more = {"benchmark": row, "sealed": seals_of_parts(row, "open")}
        record(f"{kind} {act}", actor=request.user, row=row.pk, fields=fields, **more)


class ReadOnlyAdmin(LoggedAdmin):
    """Admin pages without adding, changing and deleting."""

    has_add_permission = has_change_permission = has_delete_permission = never


class UserForm(forms.ModelForm):  # type: ignore[type-arg]
    """The form of an account."""

    def clean(self) -> Values:
        """Return the fields; raise ValidationError for a role without a confirmed address."""
        values: Values = super().clean() or self.cleaned_data
        if values.get("is_superuser") and "is_superuser" in self.changed_data:
            trust.require_confirmed([self.instance])
        return values


@admin.register(User)
class UserAdmin(LoggedAdmin):
    """Accounts. An admin can close one here; only its owner can delete it, on the account's page."""

    list_display = ["email", "is_superuser", "is_active", "date_joined", "last_login"]
    list_filter = ["is_active", "is_superuser", "organized"]
    search_fields = ["email", "memberships__team__name"]
    ordering = ["email"]
    fields = ["email", "teams", "is_active", "is_superuser", "date_joined", "last_login"]
    readonly_fields = ["email", "teams", "date_joined", "last_login"]
    actions = ["make_reset_link"]
    form = UserForm
    has_add_permission = has_delete_permission = never  # people sign up themselves; scores refer to accounts

    @admin.display(description="Teams")
    def teams(self, user: User) -> str:
        """The present teams, which people enter and leave themselves."""
        names = [f"{team} ({team.benchmark or 'all benchmarks'})" for team in teams_of(user).values()]
        return ", ".join(names) or "none"

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
        if address.verified:
            return ""
        return format_html('<a href="{0}">{0}</a>', trust.confirmation_path(address))

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

    list_display = ["name", "benchmark", "size", "created"]
    list_select_related = ["benchmark"]
    search_fields = ["name", "memberships__user__email"]
    ordering = ["name"]
    fields = ["name", "benchmark", "leader", "created", "people"]
    readonly_fields = ["benchmark", "leader", "created", "people"]

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

    def clean_organizers(self) -> Any:
        """The organizers; new ones have a confirmed address."""
        chosen = self.cleaned_data["organizers"]
        trust.require_confirmed(chosen.exclude(pk__in=self.instance.organizers.values("pk")))
        return chosen


@admin.register(Benchmark)
class BenchmarkAdmin(LoggedAdmin):
    """Benchmarks. The site's own pages add them and replace their manifest and labels."""

    list_display = ["title", "name", "open", "systems", "added"]
    list_filter = ["open"]
    search_fields = ["name", "title"]
    readonly_fields = ["name", "title", "added", "version", "settings", "gold_digest", "manifest"]
    fields = ["name", "title", "open", "organizers", *readonly_fields[2:]]
    autocomplete_fields = ["organizers"]
    form = BenchmarkForm
    # They are made at /organize/new, and scores refer to a benchmark.
    has_add_permission = has_delete_permission = never

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save only the changed fields, as others may have changed meanwhile, and mark pages as changed."""
        columns = {field.name for field in obj._meta.concrete_fields}
        obj.save(update_fields=columns.intersection(form.changed_data))
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


def _action(title: str, act: Callable[..., Any], done: str, **narrowed: Any) -> Any:
    """An admin action that runs an organizer's act on the chosen submissions that match `narrowed`."""

    @admin.action(description=title)
    def run(self: SubmissionAdmin, request: HttpRequest, chosen: Any) -> None:
        rows = chosen.filter(**narrowed).select_related("benchmark")
        number = 0
        for row in rows:
            with suppress(ActError):
                act(row, request.user)
                number += 1
        level = messages.SUCCESS if number else messages.WARNING
        self.message_user(request, f"{counted(number, 'submission')} {done}.", level)

    return run


def _mark(row: Submission, by: User, *, verified: bool) -> str:
    return acts.mark(row, by, kind=Kind(row.kind), verified=verified)


class _Labeled(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        labels = DetailsForm.Meta.labels
        help_texts = DetailsForm.Meta.help_texts


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    """Submissions. Only their authors edit their fields, and only the grader writes scores."""

    form = _Labeled
    list_display = [
        "name",
        "model",
        "owner",
        "benchmark",
        "status",
        "on_board",
        "verified",
        "value",
        "submitted",
    ]
    list_filter = ["benchmark", "status", "public", "approved", "verified", "kind", "verdict"]
    list_select_related = ["owner", "benchmark"]
    search_fields = ["name", "model", "team", "key", "owner__email", "sha256"]
    date_hierarchy = "submitted"
    exclude = ["file", "report", "scores", "problems", "retry_key", "lease", "renewed"]
    readonly_fields = ["report_link"]
    actions = ["take_off", "put_back", "grade_again", "verify", "unverify"]

    @admin.display(boolean=True, description="On the board")
    def on_board(self, submission: Submission) -> bool:
        """Whether everybody sees it."""
        return submission.is_listed

    @admin.display(description="Its page")
    def report_link(self, submission: Submission) -> str:
        """A link to its report."""
        return format_html('<a href="{0}">{0}</a>', submission.get_absolute_url())

    take_off = _action(
        "Take off the board", partial(acts.decline, reason=BY_ADMIN), "taken off", approved=True
    )
    put_back = _action("Put back on the board", acts.approve, "approved", approved=False)
    verify = _action("Mark as verified", partial(_mark, verified=True), "verified", verified=False)
    unverify = _action(
        "Take the verified mark away", partial(_mark, verified=False), "verified no longer", verified=True
    )
    grade_again = _action("Grade again", partial(acts.grade_again, reason=REGRADED), "in the queue again")


def _list_and_fields(*names: str) -> Values:
    """The columns of a list, which are all fields of its rows."""
    return {"list_display": names, "fields": names}


_DELETABLE = {"has_delete_permission": admin.ModelAdmin.has_delete_permission}
_READ_ONLY: dict[type[Model], Values] = {
    # Each grading, with its full report, and each edit of a submission's fields.
    Result: {
        "list_display": ["submission", "created", "verdict", "why", "package", "labels"],
        "list_filter": ["verdict", "submission__benchmark"],
        "list_select_related": ["submission"],
        "search_fields": ["submission__key", "submission__name", "labels"],
    },
    Revision: {
        "list_display": ["submission", "at", "by"],
        "list_select_related": ["submission", "by"],
        "search_fields": ["submission__key", "submission__name", "by__email"],
    },
    # Deleting a second factor lets in an owner who lost it.
    Authenticator: {
        **_list_and_fields("user", "type", "created_at", "last_used_at"),
        **_DELETABLE,
        "list_filter": ["type"],
        "search_fields": ["user__email"],
    },
    # Deleting a connection lets that person of the provider in no more.
    SocialAccount: {
        **_list_and_fields("user", "provider", "uid", "date_joined", "last_login"),
        **_DELETABLE,
        "list_filter": ["provider"],
        "search_fields": ["user__email", "uid"],
    },
    UserSession: {
        **_list_and_fields("user", "created_at", "last_seen_at", "ip", "user_agent"),
        "search_fields": ["user__email", "ip"],
    },
    # Deleting a token ends it.
    Token: {
        **_list_and_fields("name", "user", "scopes", "created", "expires", "used"),
        **_DELETABLE,
        "search_fields": ["name", "user__email"],
    },
    Study: {
        "list_display": ["key", "benchmark", "task", "created", "open", "public", "scored"],
        "list_filter": ["benchmark", "open", "public"],
        "search_fields": ["key", "task"],
        "exclude": ["texts", "drawn"],
    },
    Entry: {
        "list_display": ["at", "action", "actor", "benchmark", "submission", "reason"],
        "list_filter": ["action", "benchmark"],
        "search_fields": ["=actor", "reason", "=submission"],
        "date_hierarchy": "at",
    },
}
for _model, _options in _READ_ONLY.items():
    site.register(_model, ReadOnlyAdmin, **_options)

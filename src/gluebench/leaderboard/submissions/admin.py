"""Submissions on the admin pages: to look at, to take off the board, to grade again, to mark as verified."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.html import format_html

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.audit.admin import ReadOnlyAdmin
from gluebench.leaderboard.submissions import acts
from gluebench.leaderboard.submissions.forms import DetailsForm
from gluebench.leaderboard.submissions.models import Kind, Result, Revision, Submission

REGRADED = "An admin had it graded again."
BY_ADMIN = "An admin took it off the board."


def _verified(value: bool) -> Callable[[Submission, User], Submission]:
    """The act that sets the mark and leaves the kind."""
    return lambda row, by: acts.mark(row, by, kind=Kind(row.kind), verified=value)


class _Labeled(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        labels, help_texts = DetailsForm.Meta.labels, DetailsForm.Meta.help_texts


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    """Submissions. What their authors say of them is theirs to change, scores are the grader's."""

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
    readonly_fields = ["page"]
    actions = ["take_off", "put_back", "grade_again", "verify", "unverify"]

    @admin.display(boolean=True, description="On the board")
    def on_board(self, submission: Submission) -> bool:
        """Whether everybody sees it."""
        return submission.is_listed

    @admin.display(description="Its page")
    def page(self, submission: Submission) -> str:
        """Where its report is."""
        return format_html('<a href="{0}">{0}</a>', submission.get_absolute_url())

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Admins see all; its actions change only what is listed below."""
        return bool(request.user.is_superuser)

    @admin.action(description="Take off the board")
    def take_off(self, request: HttpRequest, chosen: Any) -> None:
        """Its author still sees it, and why."""
        self._each(request, chosen.filter(approved=True), acts.decline, "taken off", BY_ADMIN)

    @admin.action(description="Put back on the board")
    def put_back(self, request: HttpRequest, chosen: Any) -> None:
        """Undo the former, or approve."""
        self._each(request, chosen.filter(approved=False), acts.approve, "approved")

    @admin.action(description="Mark as verified")
    def verify(self, request: HttpRequest, chosen: Any) -> None:
        """Somebody reproduced it."""
        self._each(request, chosen.filter(verified=False), _verified(True), "verified")

    @admin.action(description="Take the verified mark away")
    def unverify(self, request: HttpRequest, chosen: Any) -> None:
        """Undo the former."""
        self._each(request, chosen.filter(verified=True), _verified(False), "verified no longer")

    @admin.action(description="Grade again")
    def grade_again(self, request: HttpRequest, chosen: Any) -> None:
        """Put finished ones whose file is still kept back in the queue."""
        self._each(request, chosen, acts.grade_again, "in the queue again", REGRADED)

    def _each(
        self, request: HttpRequest, chosen: Any, act: Callable[..., Any], done: str, *arguments: str
    ) -> None:
        """Do to each chosen one what an organiser would; False from an act says that it did nothing."""
        found = [act(each, request.user, *arguments) for each in chosen.select_related("benchmark")]
        number = sum(each is not False for each in found)
        level = messages.SUCCESS if number else messages.WARNING
        self.message_user(request, f"{number} submission{'' if number == 1 else 's'} {done}.", level)


@admin.register(Result)
class ResultAdmin(ReadOnlyAdmin):
    """Each grading, with its full report."""

    list_display = ["submission", "created", "verdict", "why", "package", "labels"]
    list_filter = ["verdict", "submission__benchmark"]
    list_select_related = ["submission"]
    search_fields = ["submission__key", "submission__name", "labels"]


@admin.register(Revision)
class RevisionAdmin(ReadOnlyAdmin):
    """Each edit of what is said of a submission."""

    list_display = ["submission", "at", "by"]
    list_select_related = ["submission", "by"]
    search_fields = ["submission__key", "submission__name", "by__email"]

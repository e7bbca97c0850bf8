"""Admin pages of submissions: view, take off the board, grade again, mark as verified."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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


def _action(title: str, act: Callable[..., Any], done: str, **narrowed: Any) -> Any:
    """An admin action that runs an organizer's act on the chosen submissions that match `narrowed`.

    An act returns False if it did nothing.
    """

    @admin.action(description=title)
    def run(self: SubmissionAdmin, request: HttpRequest, chosen: Any) -> None:
        rows = chosen.filter(**narrowed).select_related("benchmark")
        number = sum(act(row, request.user) is not False for row in rows)
        level = messages.SUCCESS if number else messages.WARNING
        self.message_user(request, f"{number} submission{'' if number == 1 else 's'} {done}.", level)

    return run


def _mark(row: Submission, by: User, *, verified: bool) -> Submission:
    return acts.mark(row, by, kind=Kind(row.kind), verified=verified)


class _Labeled(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        labels, help_texts = DetailsForm.Meta.labels, DetailsForm.Meta.help_texts


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    """Submissions. Only their authors edit their fields, and only the grader writes scores."""

    form = _Labeled
    list_display = [
        *("name", "model", "owner", "benchmark", "status"),
        *("on_board", "verified", "value", "submitted"),
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
        """A link to its report."""
        return format_html('<a href="{0}">{0}</a>', submission.get_absolute_url())

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Admins see all; its actions change only what is listed below."""
        return bool(request.user.is_superuser)

    take_off = _action(
        "Take off the board", partial(acts.decline, reason=BY_ADMIN), "taken off", approved=True
    )
    put_back = _action("Put back on the board", acts.approve, "approved", approved=False)
    verify = _action("Mark as verified", partial(_mark, verified=True), "verified", verified=False)
    unverify = _action(
        "Take the verified mark away", partial(_mark, verified=False), "verified no longer", verified=True
    )
    grade_again = _action("Grade again", partial(acts.grade_again, reason=REGRADED), "in the queue again")


@admin.register(Result)
class ResultAdmin(ReadOnlyAdmin):
    """Each grading, with its full report."""

    list_display = ["submission", "created", "verdict", "why", "package", "labels"]
    list_filter = ["verdict", "submission__benchmark"]
    list_select_related = ["submission"]
    search_fields = ["submission__key", "submission__name", "labels"]


@admin.register(Revision)
class RevisionAdmin(ReadOnlyAdmin):
    """Each edit of a submission's fields."""

    list_display = ["submission", "at", "by"]
    list_select_related = ["submission", "by"]
    search_fields = ["submission__key", "submission__name", "by__email"]

"""Closing an account: scores stay without a name, everything about the person goes."""

from __future__ import annotations

import secrets
from typing import Any

from allauth.account.models import EmailAddress
from django.contrib.admin.models import LogEntry
from django.db import transaction

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.accounts.trust import revoke
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.fields import FIELDS
from gluebench.leaderboard.folder import SiteError
from gluebench.leaderboard.limits.models import Override
from gluebench.leaderboard.people.leaving import leave_studies
from gluebench.leaderboard.submissions.models import Revision, Submission, SubmissionQuerySet
from gluebench.leaderboard.submissions.retention import forget_files

NOBODY = "Anonymous"
"""What the board calls an entry whose author deleted the account."""
UNTOLD = "The reason went with its author's account."
"""Stands where an organiser had said why an entry is off the board, so that it stays off."""


def delete_account(user: User) -> None:
    """Delete all about a person.

    Raises SiteError while a submission of theirs is being graded, and for the only admin.
    """
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        mine = Submission.objects.owned_by(user)
        _require_deletable(user, mine.waiting().count())
        record("account deleted", account=user.pk)
        _anonymise(mine)
        _forget(user)


def _require_deletable(user: User, waiting: int) -> None:
    if waiting:
        raise SiteError(
            f"{waiting} of your submissions {'is' if waiting == 1 else 'are'} still being graded. "
            "Wait until that is done, which takes minutes at most, and try again."
        )
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    if user.is_superuser and not others.exists():
        raise SiteError("You are the only admin of this site. Make somebody else one first.")


def _anonymise(mine: SubmissionQuerySet) -> None:
    """Take names, links and words off submissions; the kind of model, its sizes and its scores stay.

    So does the team that it counts for, which no page names: the team's quota is used up as before.
    """
    boards = sorted(set(mine.values_list("benchmark", flat=True)))
    for board in boards:
        Benchmark.objects.held(board)
    Revision.objects.filter(submission__in=mine.values("pk")).delete()
    forget_files(mine)
    mine.exclude(declined="").update(declined=UNTOLD)
    words = [name for name, field in FIELDS.items() if not field.is_numeric and field.kind != "choice"]
    blank: dict[str, Any] = dict.fromkeys(words, "") | {"name": NOBODY, "filename": ""}
    del blank["model"]
    mine.update(**blank, problems={}, retry_key=None)
    Benchmark.objects.filter(pk__in=boards).touch()


def _forget(user: User) -> None:
    revoke(user)
    leave_studies(user)
    user.organised.clear()
    Override.objects.filter(user=user).delete()
    EmailAddress.objects.filter(user=user).delete()
    LogEntry.objects.filter(user=user).delete()
    user.email = f"{secrets.token_hex(8)}@deleted.invalid"
    user.first_name = user.last_name = ""
    user.team = None
    user.is_active = user.is_staff = user.is_superuser = False
    user.set_unusable_password()
    user.save()

"""Publish announcements, write to participants, and send the mail from the workers.

Publishing makes a row for each mail in its own transaction, so that none is lost. A worker claims the rows
of an account, sends one mail, and marks them sent: if it is killed in between, that mail alone comes twice.
"""

import logging
import smtplib
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.template.loader import render_to_string
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.seals import sealed
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.mail import is_final
from gluebench.leaderboard.apps.limits.models import blocked_in
from gluebench.leaderboard.apps.limits.registration import participants_of
from gluebench.leaderboard.apps.news.models import (
    Announcement,
    Delivery,
    MailChoice,
    Message,
    Notice,
    Pace,
    unsubscribe_path,
)
from gluebench.leaderboard.apps.phases.table import ActError

AGAIN = timedelta(minutes=10)
"""After this time mail that was not sent is tried again."""
TURN_SECONDS = 5
"""How long a worker sends mail before its other tasks."""

logger = logging.getLogger(__name__)


def publish(announcement: Announcement, actor: User) -> str:
    """Save it, put it in the log, and queue its mail if the site sends mail."""
    with transaction.atomic():
        Benchmark.objects.held(announcement.benchmark_id)
        announcement.save()
        _record("announcement", announcement, actor)
        benchmark = announcement.benchmark
        people = participants_of(benchmark).exclude(pk__in=blocked_in(benchmark).values("user"))
        _queue(people, announcement=announcement)
    return f"“{announcement.title}” is on the page of news."


def write_to(message: Message, actor: User, people: QuerySet[User]) -> str:
    """Queue a mail to some of those who take part in a benchmark, and log how many; returns what was done.

    Raises ActError where the site sends no mail, or nobody gets it.
    """
    if not settings.MAIL_IS_SENT:
        raise ActError("This site sends no mail: whoever runs it sets GLUEBENCH_SMTP.", "mail")
    with transaction.atomic():
        message.by = actor
        message.save()
        number, total = _queue(people, message=message), people.count()
        if not number:
            raise ActError(
                "Nobody gets this mail: they chose to get none, or have not confirmed their address.", "mail"
            )
        facts: Values = {"title": message.title, "text": message.text, "people": number}
        record("message", actor=actor, benchmark=message.benchmark, **facts)
    left = total - number
    without = f" {left} chose to get no mail, or have not confirmed their address." if left else ""
    return f"The mail goes to {number} {'person' if number == 1 else 'people'}.{without}"


def _queue(people: QuerySet[User], **mail: Any) -> int:
    """Make a row for the mail to each of these people who gets mail; returns how many there are."""
    if not settings.MAIL_IS_SENT:
        return 0
    confirmed = EmailAddress.objects.filter(verified=True, primary=True).values("user")
    paces = dict(MailChoice.objects.values_list("user", "pace"))
    rows = []
    for pk in people.filter(pk__in=confirmed).values_list("pk", flat=True):
        pace = Pace(paces.get(pk, Pace.INSTANT))
        if pace != Pace.NONE:
            rows.append(Delivery(user_id=pk, due=pace.due(), **mail))
    Delivery.objects.bulk_create(rows)
    return len(rows)


def change(announcement: Announcement, actor: User) -> str:
    """Save another text; mail that is not sent yet has it, and none is sent again."""
    with transaction.atomic():
        Benchmark.objects.held(announcement.benchmark_id)
        announcement.changed = timezone.now()
        announcement.save()
        _record("announcement changed", announcement, actor)
    return f"“{announcement.title}” is on the page of news."


def take_back(announcement: Announcement, actor: User) -> str:
    """Delete it with the mail that is not sent yet; the log keeps its text."""
    with transaction.atomic():
        Benchmark.objects.held(announcement.benchmark_id)
        row = announcement.pk
        announcement.delete()
        _record("announcement taken back", announcement, actor, row)
    return f"“{announcement.title}” is taken back. Mail that was sent remains."


def _record(action: str, announcement: Announcement, actor: User, row: int | None = None) -> None:
    benchmark = announcement.benchmark
    facts = {"title": announcement.title, "text": announcement.text}
    seals = sealed(benchmark, "announcements", row=row or announcement.pk)
    record(action, actor=actor, benchmark=benchmark, **facts, sealed=seals)
    Benchmark.objects.filter(pk=benchmark.pk).touch()


def deliver() -> int:
    """Send the mail that is due, for some seconds; returns how many mails. A task of every worker."""
    if not settings.MAIL_IS_SENT:
        return 0
    end, number = time.monotonic() + TURN_SECONDS, 0
    for deliveries in _claimed():
        if not _send(deliveries):
            break
        number += 1
        if time.monotonic() > end:
            break
    return number


def _claimed() -> Iterator[Sequence[Delivery]]:
    """The due deliveries of one account after another, each claimed by this worker alone."""
    now = timezone.now()
    free = Q(claimed=None) | Q(claimed__lt=now - AGAIN)
    due = Delivery.objects.filter(free, due__lte=now, sent=None, refused=False)
    for user in due.order_by("user").values_list("user", flat=True).distinct():
        mark = timezone.now()
        if due.filter(user=user).update(claimed=mark):
            rows = Delivery.objects.filter(user=user, claimed=mark, sent=None)
            rows = rows.select_related("announcement__benchmark", "message__benchmark")
            rows = rows.select_related("notice__submission__benchmark", "user")
            yield list(rows.order_by("pk"))


def _send(deliveries: Sequence[Delivery]) -> bool:
    """Send one mail with all of them; False if the mail server does not answer now."""
    rows = Delivery.objects.filter(pk__in=[delivery.pk for delivery in deliveries])
    try:
        _mail(deliveries[0].user, [delivery.mail for delivery in deliveries]).send()
    except OSError as error:  # smtplib's errors are such too
        if isinstance(error, smtplib.SMTPRecipientsRefused) and is_final(error):
            rows.update(refused=True)
            logger.warning("The mail server refused the address of account %s.", deliveries[0].user_id)
            return True
        logger.warning("Mail could not be sent: %s. They are tried again.", error)
        return False
    else:
        rows.update(sent=timezone.now())
    return True


def _mail(user: User, texts: Sequence[Announcement | Message | Notice]) -> EmailMessage:
    first, number = texts[0], len(texts)
    titles = dict.fromkeys(text.benchmark.title for text in texts)
    subject = f"{first.benchmark.title}: {first.title}"
    if number > 1:
        subject = f"{number} messages: {', '.join(titles)}"
    site = first.site.rstrip("/")
    leave = site + unsubscribe_path(user)
    headers = {"List-Unsubscribe": f"<{leave}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    context = {"texts": texts, "site": site, "leave": leave}
    body = render_to_string("news/mail.txt", context)
    return EmailMessage(" ".join(subject.split()), body, to=[user.email], headers=headers)


def tallies(benchmark: Benchmark) -> QuerySet[Announcement]:
    """The announcements of a benchmark with the number of mails `sent`, `waiting` and `refused`."""
    return benchmark.announcements.annotate(
        sent=Count("deliveries", filter=Q(deliveries__sent__isnull=False)),
        refused=Count("deliveries", filter=Q(deliveries__refused=True)),
        waiting=Count("deliveries") - F("sent") - F("refused"),
    )

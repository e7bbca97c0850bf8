"""Publish announcements, and send their mail from the workers.

Publishing makes a row for each mail in its own transaction, so that none is lost. A worker claims the rows
of an account, sends one mail, and marks them sent: if it is killed in between, that mail alone comes twice.
"""

import logging
import smtplib
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.template.loader import render_to_string
from django.utils import timezone

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.benchmarks.seals import sealed
from gluebench.leaderboard.common.mail import is_final
from gluebench.leaderboard.news.models import Announcement, Delivery, MailChoice, Pace, unsubscribe_path

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
        if settings.MAIL_IS_SENT:
            paces = dict(MailChoice.objects.values_list("user", "pace"))
            people = ((pk, Pace(paces.get(pk, Pace.INSTANT))) for pk in _participants(announcement.benchmark))
            Delivery.objects.bulk_create(
                Delivery(announcement=announcement, user_id=pk, due=pace.due())
                for pk, pace in people
                if pace != Pace.NONE
            )
    return f"“{announcement.title}” is on the page of news."


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


def _participants(benchmark: Benchmark) -> QuerySet[User, int]:
    """The accounts that take part in a benchmark and have confirmed their address."""
    confirmed = EmailAddress.objects.filter(verified=True, primary=True).values("user")
    people = User.objects.filter(is_active=True, pk__in=confirmed)
    takes_part = Q(submissions__benchmark=benchmark) | Q(acceptances__benchmark=benchmark)
    return people.filter(takes_part).distinct().values_list("pk", flat=True)


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
            yield list(rows.select_related("announcement__benchmark", "user").order_by("announcement_id"))


def _send(deliveries: Sequence[Delivery]) -> bool:
    """Send one mail with all of them; False if the mail server does not answer now."""
    rows = Delivery.objects.filter(pk__in=[delivery.pk for delivery in deliveries])
    try:
        _mail(deliveries[0].user, [delivery.announcement for delivery in deliveries]).send()
    except OSError as error:  # smtplib's errors are such too
        if isinstance(error, smtplib.SMTPRecipientsRefused) and is_final(error):
            rows.update(refused=True)
            logger.warning("The mail server refused the address of account %s.", deliveries[0].user_id)
            return True
        logger.warning("Announcements could not be sent: %s. They are tried again.", error)
        return False
    else:
        rows.update(sent=timezone.now())
    return True


def _mail(user: User, announcements: Sequence[Announcement]) -> EmailMessage:
    first, number = announcements[0], len(announcements)
    titles = dict.fromkeys(announcement.benchmark.title for announcement in announcements)
    subject = f"{first.benchmark.title}: {first.title}"
    if number > 1:
        subject = f"{number} announcements: {', '.join(titles)}"
    site = first.site.rstrip("/")
    leave = site + unsubscribe_path(user)
    headers = {"List-Unsubscribe": f"<{leave}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    context = {"announcements": announcements, "site": site, "leave": leave}
    body = render_to_string("news/mail.txt", context)
    return EmailMessage(" ".join(subject.split()), body, to=[user.email], headers=headers)


def tallies(benchmark: Benchmark) -> QuerySet[Announcement]:
    """The announcements of a benchmark with the number of mails `sent`, `waiting` and `refused`."""
    return benchmark.announcements.annotate(
        sent=Count("deliveries", filter=Q(deliveries__sent__isnull=False)),
        refused=Count("deliveries", filter=Q(deliveries__refused=True)),
        waiting=Count("deliveries") - F("sent") - F("refused"),
    )

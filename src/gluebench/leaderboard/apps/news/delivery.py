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
from django.db.models.functions import Lower
from django.template.loader import render_to_string
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.seals import seals_of_parts
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.mail import is_final
from gluebench.leaderboard.apps.limits.models import Registration, registrations_blocked_in
from gluebench.leaderboard.apps.limits.registration import new_invitation, participants_of
from gluebench.leaderboard.apps.news.models import (
    Announcement,
    Delivery,
    MailChoice,
    MailFrequency,
    Message,
    unsubscribe_path,
)
from gluebench.leaderboard.apps.phases.table import ActError

AGAIN = timedelta(minutes=10)
"""After this time mail that was not sent is tried again."""
MOST_INVITED = 500
"""Invitations of a benchmark that are mailed in 24 hours: the site is no relay for mail to strangers."""
TURN_SECONDS = 5
"""How long a worker sends mail before its other tasks."""

NO_MAIL = "This site sends no mail: whoever runs it sets GLUEBENCH_SMTP."

logger = logging.getLogger(__name__)


def publish(announcement: Announcement, actor: User) -> str:
    """Save it, put it in the log, and queue its mail if the site sends mail."""
    with transaction.atomic():
        Benchmark.objects.lock(announcement.benchmark_id)
        announcement.save()
        _record("announcement", announcement, actor)
        benchmark = announcement.benchmark
        people = participants_of(benchmark).exclude(pk__in=registrations_blocked_in(benchmark).values("user"))
        if benchmark.restricted:  # its news is for those who see its page
            accepted = benchmark.registrations.filter(standing=Registration.Standing.ACCEPTED)
            people = people.filter(pk__in=accepted.values("user"))
        _queue(people, announcement=announcement)
    return f"“{announcement.title}” is on the page of news."


def write_to(message: Message, actor: User, people: QuerySet[User]) -> str:
    """Queue a mail to some of those who take part in a benchmark, and log how many; returns what was done.

    Raises ActError where the site sends no mail, or nobody gets it.
    """
    if not settings.MAIL_IS_SENT:
        raise ActError(NO_MAIL, "mail")
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


def invite_people(
    benchmark: Benchmark, actor: User, *, message: Message, addresses: Sequence[str], days: int
) -> str:
    """Mail a link of its own to each of these addresses, by which one person may register.

    An account with a confirmed address gets it at the pace that it chose. Raises ActError where the site
    sends no mail, and for addresses that have a link which is not used yet.
    """
    if not settings.MAIL_IS_SENT:
        raise ActError(NO_MAIL, "mail")
    if benchmark.draft:
        raise ActError("A draft is hidden: open it under Setup before you invite people.", "draft")
    usable = benchmark.invitations.usable().annotate(address=Lower("label"))
    known = set(usable.values_list("address", flat=True))
    for address in addresses:
        if address.lower() in known:
            raise ActError(f"{address} was invited already; end that invitation first.", "invitation")
    day_ago = timezone.now() - timedelta(days=1)
    mailed = benchmark.invitations.filter(deliveries__isnull=False, created__gt=day_ago).count()
    if mailed + len(addresses) > MOST_INVITED:
        left = MOST_INVITED - mailed
        raise ActError(
            f"At most {MOST_INVITED} people are invited by mail in 24 hours: {left} more now.", "invitation"
        )
    confirmed = EmailAddress.objects.filter(verified=True, primary=True).annotate(address=Lower("email"))
    confirmed = confirmed.filter(address__in=[address.lower() for address in addresses])
    accounts = {row.email.lower(): row.user for row in confirmed.select_related("user__mail_choice")}
    with transaction.atomic():
        message.by = actor
        message.save()
        for address in addresses:
            user = accounts.get(address.lower())
            choice = getattr(user, "mail_choice", None) or MailChoice()
            pace = MailFrequency(choice.pace)
            row = new_invitation(benchmark, actor, label=address, uses=1, days=days)
            if pace != MailFrequency.NONE:
                Delivery.objects.create(message=message, invitation=row, user=user, due=pace.due())
        facts: Values = {"title": message.title, "text": message.text, "people": len(addresses), "days": days}
        record("invitations", actor=actor, benchmark=benchmark, **facts)
    number = len(addresses)
    return f"{number} {'person is' if number == 1 else 'people are'} invited, each with a link of their own."


def _queue(people: QuerySet[User], **mail: Any) -> int:
    """Make a row for the mail to each of these people who gets mail; returns how many there are."""
    if not settings.MAIL_IS_SENT:
        return 0
    confirmed = EmailAddress.objects.filter(verified=True, primary=True).values("user")
    paces = dict(MailChoice.objects.values_list("user", "pace"))
    rows = []
    for pk in people.filter(pk__in=confirmed).values_list("pk", flat=True):
        pace = MailFrequency(paces.get(pk, MailFrequency.INSTANT))
        if pace != MailFrequency.NONE:
            rows.append(Delivery(user_id=pk, due=pace.due(), **mail))
    Delivery.objects.bulk_create(rows)
    return len(rows)


def change(announcement: Announcement, actor: User) -> str:
    """Save another text; mail that is not sent yet has it, and none is sent again."""
    with transaction.atomic():
        Benchmark.objects.lock(announcement.benchmark_id)
        announcement.changed = timezone.now()
        announcement.save()
        _record("announcement changed", announcement, actor)
    return f"“{announcement.title}” is on the page of news."


def take_back(announcement: Announcement, actor: User) -> str:
    """Delete it with the mail that is not sent yet; the log keeps its text."""
    with transaction.atomic():
        Benchmark.objects.lock(announcement.benchmark_id)
        row = announcement.pk
        announcement.delete()
        _record("announcement taken back", announcement, actor, row)
    return f"“{announcement.title}” is taken back. Mail that was sent remains."


def _record(action: str, announcement: Announcement, actor: User, row: int | None = None) -> None:
    benchmark = announcement.benchmark
    facts = {"title": announcement.title, "text": announcement.text}
    seals = seals_of_parts(benchmark, "announcements", row=row or announcement.pk)
    record(action, actor=actor, benchmark=benchmark, **facts, sealed=seals)
    Benchmark.objects.filter(pk=benchmark.pk).touch()


def deliver() -> int:
    """Send the mail that is due, for some seconds; returns how many mails. A task of every worker."""
    if not settings.MAIL_IS_SENT:
        return 0
    end, number = time.monotonic() + TURN_SECONDS, 0
    for deliveries in _claim_due_deliveries():
        if not _send(deliveries):
            break
        number += 1
        if time.monotonic() > end:
            break
    return number


def _claim_due_deliveries() -> Iterator[Sequence[Delivery]]:
    """The due deliveries of one account or invitation after another, each claimed by this worker alone."""
    now = timezone.now()
    free = Q(claimed=None) | Q(claimed__lt=now - AGAIN)
    due = Delivery.objects.filter(free, due__lte=now, sent=None, refused=False)
    for mail in due.order_by("user", "invitation").values("user", "invitation").distinct():
        mark = timezone.now()
        if due.filter(**mail).update(claimed=mark):
            rows = Delivery.objects.filter(**mail, claimed=mark, sent=None)
            rows = rows.select_related("announcement__benchmark", "message__benchmark", "user")
            rows = rows.select_related("notice__submission__benchmark", "notice__registration__benchmark")
            rows = rows.select_related("invitation__benchmark")
            yield list(rows.order_by("pk"))


def _send(deliveries: Sequence[Delivery]) -> bool:
    """Send one mail with all of them; False if the mail server does not answer now."""
    rows = Delivery.objects.filter(pk__in=[delivery.pk for delivery in deliveries])
    try:
        _mail(deliveries).send()
    except OSError as error:  # smtplib's errors are such too
        if isinstance(error, smtplib.SMTPRecipientsRefused) and is_final(error):
            rows.update(refused=True)
            whose = f"account {deliveries[0].user_id}" if deliveries[0].user_id else "an invitation"
            logger.warning("The mail server refused the address of %s.", whose)
            return True
        logger.warning("Mail could not be sent: %s. They are tried again.", error)
        return False
    else:
        rows.update(sent=timezone.now())
    return True


def _mail(deliveries: Sequence[Delivery]) -> EmailMessage:
    """One mail of all of them, which are to one person."""
    first, number = deliveries[0], len(deliveries)
    subject = f"{first.mail.benchmark.title}: {first.mail.title}"
    if number > 1:
        titles = dict.fromkeys(delivery.mail.benchmark.title for delivery in deliveries)
        subject = f"{number} messages: {', '.join(titles)}"
    site = first.mail.site.rstrip("/")
    context: Values = {"deliveries": deliveries, "site": site}
    headers = {}
    if first.user is not None:
        leave = context["leave"] = site + unsubscribe_path(first.user)
        headers = {"List-Unsubscribe": f"<{leave}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    body = render_to_string("news/mail.txt", context)
    return EmailMessage(" ".join(subject.split()), body, to=[first.to], headers=headers)


def tallies(benchmark: Benchmark) -> QuerySet[Announcement]:
    """The announcements of a benchmark with the number of mails `sent`, `waiting` and `refused`."""
    return benchmark.announcements.annotate(
        sent=Count("deliveries", filter=Q(deliveries__sent__isnull=False)),
        refused=Count("deliveries", filter=Q(deliveries__refused=True)),
        waiting=Count("deliveries") - F("sent") - F("refused"),
    )

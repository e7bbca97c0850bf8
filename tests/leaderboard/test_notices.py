"""Mail to authors about their submissions: when they asked for it, once for each outcome, without scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone
from leaderboard.material import PREDICTIONS, zip_bytes

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.accounts.trust import EmailAddress, delete_account
from gluebench.leaderboard.apps.limits import registration
from gluebench.leaderboard.apps.limits.acts import change_policy
from gluebench.leaderboard.apps.limits.models import Registration
from gluebench.leaderboard.apps.news.delivery import deliver
from gluebench.leaderboard.apps.news.models import Delivery, MailFrequency, Notice, choose, unsubscribe_path
from gluebench.leaderboard.apps.submissions import acts
from gluebench.leaderboard.apps.submissions.grading import grade
from gluebench.leaderboard.apps.submissions.models import Submission

Send = Callable[..., Submission]


@pytest.fixture(autouse=True)
def _site_with_mail(settings: Any) -> None:
    settings.MAIL_IS_SENT = True


@pytest.fixture
def author(ada: User) -> User:
    """Who wants notices at once."""
    choose(ada, MailFrequency.INSTANT, MailFrequency.INSTANT)
    return ada


def subjects() -> list[str]:
    """Those of the mails that are due, without the benchmark; a mail with several has their texts."""
    mail.outbox.clear()
    deliver()
    return [one.subject.removeprefix("A tiny benchmark: ") for one in mail.outbox]


def test_an_author_who_asked_for_it_reads_each_outcome_once(author: User, graded: Send) -> None:
    row = graded(name="First")
    assert subjects() == ["“First” is graded"]
    text = mail.outbox[0].body
    assert f"/submissions/{row.key}" in text
    score = row.scores["score"]["value"]
    assert not [number for number in (f"{100 * score:.1f}", f"{score:.3f}") if number in text]
    assert subjects() == []
    acts.publish(row, public=False)
    assert subjects() == [], "no act of the author is news to the author"
    acts.grade_again(row, author, "New labels.")
    grade(row.pk)
    assert subjects() == ["“First” was graded again"]
    assert "New labels." in mail.outbox[0].body
    broken = graded(zip_bytes({**PREDICTIONS, "Refer": "01x0"}), name="Broken")
    assert broken.status == "invalid"
    assert subjects() == ["“Broken” is not valid"]


def test_decisions_of_organizers_are_told_with_their_reason(author: User, graded: Send, person: Any) -> None:
    row, organizer = graded(name="First"), person("grace@example.org")
    subjects()
    acts.decline(row, organizer, "Not your own.")
    assert subjects() == ["An organizer declined “First”"]
    assert "Not your own." in mail.outbox[0].body
    acts.approve(row, organizer)
    assert subjects() == ["An organizer approved “First”"]
    acts.decline(row, organizer, "Still not.")
    assert subjects() == ["An organizer declined “First”"], "a second decision is news"


def test_nobody_gets_notices_without_asking_or_with_an_address_that_is_not_confirmed(
    ada: User, graded: Send, owner: Client
) -> None:
    graded()
    assert not Notice.objects.exists()
    choose(ada, MailFrequency.INSTANT, MailFrequency.INSTANT)
    EmailAddress.objects.update(verified=False)
    graded(name="Another")
    assert not Notice.objects.exists()
    EmailAddress.objects.update(verified=True)
    owner.post("/account/mail", {"pace": "none", "results": "instant"})
    graded(name="Third")
    assert subjects() == ["“Third” is graded"], "the two choices do not depend on each other"


def test_daily_notices_come_in_one_mail_and_unsubscribing_ends_them(author: User, graded: Send) -> None:
    choose(author, MailFrequency.INSTANT, MailFrequency.DAILY)
    graded(name="First")
    graded(name="Second")
    assert subjects() == []
    Delivery.objects.update(due=timezone.now())
    assert subjects() == ["2 messages: A tiny benchmark"]
    assert "“First” is graded" in mail.outbox[0].body
    graded(name="Third")
    Client().post(unsubscribe_path(author))
    Delivery.objects.update(due=timezone.now())
    assert subjects() == []


def test_a_mail_that_is_refused_for_now_is_sent_again_by_itself(
    author: User, graded: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gluebench.leaderboard.apps.news import delivery

    def refuse(self: Any, *_: Any) -> None:
        raise OSError("451 4.7.1 greylisted")

    graded(name="First")
    with monkeypatch.context() as patch:
        patch.setattr(delivery.EmailMessage, "send", refuse)
        assert subjects() == []
    Delivery.objects.update(claimed=timezone.now() - 2 * delivery.AGAIN)
    assert subjects() == ["“First” is graded"]


def test_who_waits_for_approval_is_told_of_the_decision_with_its_reason(
    tiny: Any, ada: User, person: Any
) -> None:
    organizer = person("grace@example.org")
    change_policy(tiny, {"registration": "approval"})
    row = Registration.objects.create(benchmark=tiny, user=ada, standing="waiting")
    registration.refuse(row, organizer, "Students only.")
    assert subjects() == ["An organizer refused your registration"]
    assert "Students only." in mail.outbox[0].body
    assert "/benchmarks/tiny/join" in mail.outbox[0].body
    registration.approve(row, organizer)
    assert subjects() == ["An organizer approved your registration"]
    registration.approve(row, organizer)
    registration.block(row, organizer, "Two accounts.")
    row.refresh_from_db()
    registration.unblock(row, organizer)
    assert subjects() == [], "nothing that the person waited for has changed"
    choose(ada, MailFrequency.NONE, MailFrequency.INSTANT)
    registration.refuse(row, organizer)
    assert subjects() == []
    choose(ada, MailFrequency.DAILY, MailFrequency.NONE)
    registration.approve(row, organizer)
    assert subjects() == []
    choose(ada, MailFrequency.INSTANT, MailFrequency.NONE)
    assert subjects() == ["An organizer approved your registration"], "another choice holds for what waits"


def test_a_deleted_account_leaves_no_notice(author: User, graded: Send) -> None:
    graded()
    delete_account(author)
    assert not Notice.objects.exists()
    assert not Delivery.objects.exists()

"""Announcements: the page, the feed, and mail that is sent once to each, whatever happens to a worker."""

from __future__ import annotations

import re
import smtplib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone
from leaderboard.sealing import logged_acts

from gluebench.leaderboard.apps.accounts import trust
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.news.delivery import AGAIN, deliver
from gluebench.leaderboard.apps.news.models import Delivery, MailChoice, MailFrequency, choose
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.leaderboard.serving import maintenance

PAGE, ORGANIZE = "/benchmarks/tiny/news", "/benchmarks/tiny/organize/news"
TEXT = "The test phase begins on **1 May**.\n\n<script>alert(1)</script>"
ATOM = {"a": "http://www.w3.org/2005/Atom"}


@pytest.fixture(autouse=True)
def sends_mail(settings: Any) -> None:
    settings.MAIL_IS_SENT = True


@pytest.fixture
def organizer(tiny: Any, person: Callable[[str], User]) -> Client:
    user = person("organizer@example.org")
    tiny.organizers.add(user)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def announce(organizer: Client, send: Callable[..., Any]) -> Callable[..., Any]:
    """Announce something to Ada and Bob, who have submitted."""
    send()

    def post(title: str = "Test phase", act: str = "publish", text: str = TEXT, path: str = "") -> Any:
        return organizer.post(path or ORGANIZE, {"title": title, "text": text, "act": act})

    return post


@pytest.fixture
def bob(person: Callable[[str], User], send: Callable[..., Any]) -> User:
    user = person("bob@example.org")
    send(owner=user, name="Another")
    return user


def received() -> list[tuple[str, str]]:
    return sorted((sent.to[0], sent.subject) for sent in mail.outbox)


def test_an_announcement_is_on_its_page_in_the_feed_and_in_the_log(
    announce: Callable[..., Any], client: Client
) -> None:
    assert "News (" not in client.get("/benchmarks/tiny").content.decode()
    assert announce().url == ORGANIZE
    page = client.get(PAGE).content.decode()
    assert 'gets mail, if they <a href="/account/mail">' in page
    assert "<strong>1 May</strong>" in page
    assert "<script>alert" not in page
    assert "News (1, " in client.get("/benchmarks/tiny").content.decode()
    feed = client.get(f"{PAGE}.atom")
    assert feed["Content-Type"] == "application/atom+xml; charset=utf-8"
    entry = ElementTree.fromstring(feed.content).find("a:entry", ATOM)
    assert entry is not None
    assert entry.findtext("a:title", None, ATOM) == "Test phase"
    link = entry.find("a:link", ATOM)
    assert link is not None
    assert re.fullmatch(rf"http://testserver{PAGE}#a\d+", link.attrib["href"])
    (item,) = client.get("/api/v1/benchmarks/tiny/announcements").json()["items"]
    assert (item["title"], item["text"], item["changed"]) == ("Test phase", TEXT, None)
    detail = Entry.objects.get(action="announcement").detail
    assert (detail["title"], detail["text"]) == ("Test phase", TEXT)


def test_a_preview_publishes_nothing(announce: Callable[..., Any], client: Client) -> None:
    shown = announce(act="preview").content.decode()
    assert "<strong>1 May</strong>" in shown
    assert 'value="Test phase"' in shown
    assert "Nothing has been announced" in client.get(PAGE).content.decode()
    assert announce(title="").status_code == 422
    assert not Delivery.objects.exists()


def test_an_announcement_is_changed_and_taken_back(
    announce: Callable[..., Any], client: Client, tiny: Any
) -> None:
    announce()
    one = f"{ORGANIZE}/{tiny.announcements.get().pk}"
    announce(title="Test phase, later", path=one)
    page = client.get(PAGE).content.decode()
    assert "Test phase, later" in page
    assert ", changed <time" in page
    assert Delivery.objects.count() == 1
    announce(act="take-back", path=one)
    assert "Nothing has been announced" in client.get(PAGE).content.decode()
    assert deliver() == 0
    log = logged_acts().order_by("pk").values_list("action", flat=True)
    assert [*log] == ["announcement", "announcement changed", "announcement taken back"]


def test_who_takes_part_gets_one_mail(
    announce: Callable[..., Any], bob: User, organizer: Client, person: Callable[[str], User]
) -> None:
    person("watcher@example.org")
    announce()
    assert deliver() == 2
    assert deliver() == 0
    assert received() == [
        (to, "A tiny benchmark: Test phase") for to in ("ada@example.org", "bob@example.org")
    ]
    body = mail.outbox[0].body
    assert f"http://127.0.0.1:8000{PAGE}#a" in body
    assert "**1 May**" in body
    table = organizer.get(ORGANIZE).content.decode()
    assert '<td class="n">2</td><td class="n">0</td><td class="n">0</td>' in table


def test_news_of_a_benchmark_for_participants_goes_to_those_who_are_accepted(
    announce: Callable[..., Any], tiny: Any, ada: User, bob: User
) -> None:
    Benchmark.objects.filter(pk=tiny.pk).update(restricted=True)
    tiny.registrations.create(user=bob, standing="waiting")
    tiny.registrations.create(user=ada, standing="accepted")
    announce()
    deliver()
    assert [to for to, _ in received()] == [ada.email]


def test_an_address_that_is_not_confirmed_gets_no_mail(announce: Callable[..., Any], ada: User) -> None:
    from allauth.account.models import EmailAddress

    EmailAddress.objects.filter(user=ada).update(verified=False)
    announce()
    assert deliver() == 0
    assert not Delivery.objects.exists()


def test_daily_mail_is_one_at_six(announce: Callable[..., Any], ada: User, bob: User) -> None:
    choose(ada, MailFrequency.DAILY, MailFrequency.NONE)
    choose(bob, MailFrequency.NONE, MailFrequency.NONE)
    announce()
    announce(title="Results")
    assert deliver() == 0
    due = {*Delivery.objects.values_list("due", "user")}
    assert len(due) == 1
    moment, user = due.pop()
    assert (moment.hour, moment.minute, user) == (6, 0, ada.pk)
    assert timezone.now() < moment <= timezone.now() + timedelta(days=1)
    Delivery.objects.update(due=timezone.now())
    assert deliver() == 1
    assert received() == [("ada@example.org", "2 messages: A tiny benchmark")]
    assert mail.outbox[0].body.index("Test phase") < mail.outbox[0].body.index("Results")


@pytest.mark.parametrize(("now", "expected"), [(5, 1), (6, 2), (23, 2)])
def test_the_digest_is_the_next_one(now: int, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: datetime(2027, 5, 1, now, 0, tzinfo=UTC))
    assert MailFrequency.DAILY.due() == datetime(2027, 5, expected, 6, 0, tzinfo=UTC)


def test_a_choice_holds_for_mail_that_waits(announce: Callable[..., Any], ada: User, owner: Client) -> None:
    choose(ada, MailFrequency.DAILY, MailFrequency.NONE)
    announce()
    assert 'value="daily"' in owner.get("/account/mail").content.decode()
    owner.post("/account/mail", {"pace": "instant", "results": "none"})
    assert deliver() == 1
    announce(title="Results")
    owner.post("/account/mail", {"pace": "none", "results": "none"})
    assert deliver() == 0
    assert owner.post("/account/mail", {"pace": "hourly", "results": "none"}).status_code == 422


def test_a_click_in_the_mail_unsubscribes(announce: Callable[..., Any], ada: User) -> None:
    announce()
    deliver()
    headers = mail.outbox[0].extra_headers
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    address = headers["List-Unsubscribe"].strip("<>")
    assert address in mail.outbox[0].body
    path = address.removeprefix("http://127.0.0.1:8000")
    strict = Client(enforce_csrf_checks=True)
    assert "No more announcements" in strict.get(path).content.decode()
    assert not MailChoice.objects.exists()
    assert strict.post(f"{path}x").status_code == 404
    assert strict.post(path.replace(f"/{ada.pk}:", f"/{ada.pk + 1}:")).status_code == 404
    assert not MailChoice.objects.exists()
    assert strict.post(path, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert MailChoice.objects.get(user=ada).pace == MailFrequency.NONE
    announce(title="Results")
    assert deliver() == 0


def test_a_worker_that_is_killed_loses_nothing_and_repeats_one_mail(
    announce: Callable[..., Any], bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies after the mail went out, and before it noted that."""
    announce()
    send = EmailMessage.send

    def die(message: EmailMessage, *arguments: Any) -> int:
        send(message, *arguments)
        raise SystemExit

    with monkeypatch.context() as killed:
        killed.setattr(EmailMessage, "send", die)
        with pytest.raises(SystemExit):
            deliver()
    assert len(mail.outbox) == 1
    assert deliver() == 1
    assert len({to for to, _ in received()}) == 2
    assert deliver() == 0
    Delivery.objects.filter(sent=None).update(claimed=timezone.now() - AGAIN - timedelta(seconds=1))
    assert deliver() == 1
    assert deliver() == 0
    assert len(mail.outbox) == 3
    assert not Delivery.objects.filter(sent=None).exists()


def test_mail_waits_for_a_server_and_not_for_an_address_it_refuses(
    announce: Callable[..., Any], bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    announce()
    error: list[Exception] = [ConnectionRefusedError("down")]

    def fail(message: EmailMessage) -> int:
        raise error[0]

    monkeypatch.setattr(EmailMessage, "send", fail)
    assert deliver() == 0
    assert Delivery.objects.exclude(claimed=None).count() == 1
    error[0] = smtplib.SMTPRecipientsRefused({"ada@example.org": (451, b"greylisted, try later")})
    Delivery.objects.update(claimed=None)
    assert deliver() == 0
    assert not Delivery.objects.filter(refused=True).exists()
    error[0] = smtplib.SMTPRecipientsRefused({"ada@example.org": (550, b"no such mailbox")})
    Delivery.objects.update(claimed=None)
    assert deliver() == 2
    assert Delivery.objects.filter(refused=True, sent=None).count() == 2
    Delivery.objects.update(claimed=None)
    assert deliver() == 0


def test_workers_send_it_among_their_other_tasks(announce: Callable[..., Any]) -> None:
    announce()
    maintenance.run_all()
    assert received() == [("ada@example.org", "A tiny benchmark: Test phase")]


def test_a_site_without_a_mail_server_says_so(
    announce: Callable[..., Any], settings: Any, organizer: Client, owner: Client
) -> None:
    settings.MAIL_IS_SENT = False
    announce()
    assert deliver() == 0
    assert not Delivery.objects.exists()
    assert "sends no mail" in organizer.get(ORGANIZE).content.decode()
    assert "sends no mail" in owner.get("/account/mail").content.decode()


def test_an_account_takes_its_mail_along(announce: Callable[..., Any], ada: User) -> None:
    import zipfile

    choose(ada, MailFrequency.INSTANT, MailFrequency.NONE)
    announce()
    deliver()
    ada.submissions.update(status=Status.GRADED)
    with trust.export(ada) as archive:
        account = zipfile.ZipFile(archive).read("account.json").decode()
    assert '"announcement__title": "Test phase"' in account
    trust.delete_account(ada)
    assert not MailChoice.objects.exists()
    assert not Delivery.objects.exists()

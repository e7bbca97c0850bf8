"""Addresses that must be confirmed, with a real mail server and without one, and what a stranger learns."""

from __future__ import annotations

import re
import socket
import statistics
import time
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.test import Client, override_settings
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from gluebench.leaderboard.apps.accounts import trust
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.keeping.folder import SiteError
from gluebench.leaderboard.serving.environment import require

controller = pytest.importorskip("aiosmtpd.controller", reason="aiosmtpd is not installed")

PASSWORD = "a long password"
HERE = "http://127.0.0.1:8000"
"""The address of a site that was not served yet."""


class Postbox:
    """A mail server of this machine that keeps what it gets."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.refusal = ""
        """What it answers to a mail instead of keeping it."""

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.refusal:
            return self.refusal
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 OK"

    def to(self, address: str) -> list[EmailMessage]:
        return [mail for mail in self.mails if mail["To"] == address]

    def link(self, address: str) -> str:
        """The path of the last link that was sent there."""
        text = self.to(address)[-1].get_content()
        return re.findall(rf"{HERE}(/\S+)", text)[-1]


@pytest.fixture(autouse=True)
def no_attempts_yet(db: None) -> None:
    from django.core.cache import cache

    cache.clear()


@pytest.fixture
def postbox(settings: Any) -> Iterator[Postbox]:
    box = Postbox()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        host, port = free.getsockname()
    server = controller.Controller(box, hostname=host, port=port)
    server.start()
    settings.EMAIL_BACKEND = "gluebench.leaderboard.apps.common.mail.Backend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = host, port
    settings.DEFAULT_FROM_EMAIL = "board@example.org"
    settings.MAIL_IS_SENT = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    yield box
    server.stop()


@pytest.fixture
def no_mail(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"


def sign_up(client: Client, email: str, password: str = PASSWORD) -> Any:
    return client.post("/account/signup/", {"email": email, "password1": password})


def sign_in(client: Client, email: str, password: str = PASSWORD) -> Any:
    return client.post("/account/login/", {"login": email, "password": password})


def signed_in(client: Client) -> bool:
    return client.get("/submissions").status_code == 200


def test_an_address_is_confirmed_by_the_link_in_a_mail(client: Client, postbox: Postbox) -> None:
    made = sign_up(client, "new@example.org")
    assert made["Location"] == "/account/confirm-email/"
    assert "sent you a mail" in client.get(made["Location"]).content.decode()
    assert not signed_in(client)
    link = postbox.link("new@example.org")
    assert "Is <strong>new@example.org</strong> yours?" in client.get(link).content.decode()
    assert client.post(link).status_code == 302
    sign_in(client, "new@example.org")
    assert signed_in(client)
    assert "too old" in client.get(link).content.decode(), "a link is good once"


def test_a_forgotten_password_is_replaced_by_the_link_in_a_mail(
    client: Client, postbox: Postbox, ada: User
) -> None:
    done = client.post("/account/password/reset/", {"email": ada.email})
    assert "Look at your mail" in client.get(done["Location"]).content.decode()
    link = postbox.link(ada.email)
    form = client.get(link)["Location"]
    client.post(form, {"password1": "another password", "password2": "another password"})
    ada.refresh_from_db()
    assert ada.check_password("another password")
    assert "hash" not in Client().get(link, follow=True).content.decode()
    assert client.get(link).status_code == 200, "a link is good once"


def test_a_new_address_counts_from_when_it_is_confirmed(client: Client, postbox: Postbox) -> None:
    sign_up(client, "old@example.org")
    client.post(postbox.link("old@example.org"))
    sign_in(client, "old@example.org")
    client.post("/account/reauthenticate/", {"password": PASSWORD})
    client.post("/account/email/", {"email": "young@example.org", "action_add": ""})
    user = User.objects.get()
    assert user.email == "old@example.org"
    assert "young@example.org" in client.get("/account/email/").content.decode()
    client.post(postbox.link("young@example.org"))
    user.refresh_from_db()
    assert user.email == "young@example.org"


def test_without_a_mail_server_the_organizer_has_the_link(client: Client, no_mail: None) -> None:
    made = sign_up(client, "new@example.org")
    assert "organizer sees your link" in client.get(made["Location"]).content.decode()

    (pending,) = trust.addresses_to_confirm()
    assert pending.email == "new@example.org"
    boss = User.objects.create_user("boss@example.org")
    User.objects.filter(pk=boss.pk).update(is_staff=True, is_superuser=True)
    admin = Client()
    admin.force_login(boss)
    listed = admin.get("/admin/account/emailaddress/?verified__exact=0").content.decode()
    assert re.search(r'href="(/account/confirm-email/[^"]+)"', listed)
    client.post(trust.confirmation_path(pending))
    sign_in(client, "new@example.org")
    assert signed_in(client)
    assert not trust.addresses_to_confirm()


def test_the_organizer_can_make_a_link_for_a_new_password(client: Client, no_mail: None, ada: User) -> None:

    form = client.get(trust.reset_path(trust.account("Ada@Example.org")))["Location"]
    client.post(form, {"password1": "another password", "password2": "another password"})
    ada.refresh_from_db()
    assert ada.check_password("another password")
    with pytest.raises(SiteError, match="no account"):
        trust.reset_path(trust.account("nobody@example.org"))


def test_a_mail_server_that_is_down_stops_nobody(
    client: Client, no_mail: None, ada: User, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.EMAIL_BACKEND = "gluebench.leaderboard.apps.common.mail.Backend"
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        settings.EMAIL_HOST, settings.EMAIL_PORT = closed.getsockname()
        made = sign_up(client, "new@example.org")
        asked = client.post("/account/password/reset/", {"email": ada.email})
    assert (made.status_code, made["Location"]) == (302, "/account/confirm-email/")
    assert asked.status_code == 302
    assert caplog.text.count("could not be sent") == 2
    assert "new@example.org" in {address.email for address in trust.addresses_to_confirm()}


@pytest.mark.parametrize("host", ["localhost:6666", "127.0.0.1:6666", "testserver:6666"])
def test_links_in_mail_have_the_configured_address(
    host: str, postbox: Postbox, ada: User, settings: Any
) -> None:
    """They had the port, and the name of this machine, of whoever asked for a new password of another."""
    settings.RUNNING = settings.RUNNING._replace(hosts=("board.example.org",), https=True)
    Client(HTTP_HOST=host).post("/account/password/reset/", {"email": ada.email})
    sign_up(Client(HTTP_HOST=host), "new@example.org")
    for address in (ada.email, "new@example.org"):
        text = postbox.to(address)[-1].get_content()
        assert "https://board.example.org/account/" in text
        assert host not in text
        assert host.partition(":")[0] not in text


def test_links_in_mail_have_the_port_that_the_site_is_served_at(
    client: Client, postbox: Postbox, ada: User, settings: Any
) -> None:
    settings.FOLDER.address_file.write_text("http://127.0.0.1:8123/")
    try:
        client.post("/account/password/reset/", {"email": ada.email})
        sent = postbox.to(ada.email)[-1].get_content()
        assert "http://127.0.0.1:8123/account/password/reset/key/" in sent
        settings.RUNNING = settings.RUNNING._replace(hosts=("board.example.org",))
        client.post("/account/password/reset/", {"email": ada.email})
        assert "http://board.example.org:8123/account/" in postbox.to(ada.email)[-1].get_content()
    finally:
        settings.FOLDER.address_file.unlink()


def test_a_mail_names_the_domain_of_its_sender_and_says_that_a_program_wrote_it(
    client: Client, postbox: Postbox
) -> None:
    sign_up(client, "new@example.org")
    (mail,) = postbox.mails
    assert mail["Message-ID"].endswith("@example.org>")
    assert mail["Auto-Submitted"] == "auto-generated"


def test_a_mail_that_is_refused_for_now_is_sent_again(client: Client, postbox: Postbox) -> None:
    """As greylisting asks; it was never sent again."""
    from gluebench.leaderboard.apps.accounts.adapter import WAITS, send_again

    again = DBTaskResult.objects.filter(task_path__endswith="send_again").order_by("enqueued_at")
    postbox.refusal = "451 4.7.1 greylisted, try later"
    begin = timezone.now()
    sign_up(client, "new@example.org")
    for wait in WAITS:
        row = again.last()
        assert row is not None
        assert begin + wait <= row.run_after <= timezone.now() + wait
        assert "confirm-email" not in str(row.args_kwargs), "a copy of the database opens no account"
        assert again.count() == WAITS.index(wait) + 1
        if wait is not WAITS[-1]:
            send_again.call(*row.args_kwargs["args"])
    postbox.refusal = ""
    send_again.call(*row.args_kwargs["args"])
    assert client.post(postbox.link("new@example.org")).status_code == 302
    postbox.refusal = "451 4.7.1 greylisted, try later"
    send_again.call(*row.args_kwargs["args"])
    assert again.count() == len(WAITS), "after some attempts it is given up"


def test_a_mail_that_is_refused_for_good_is_not_sent_again(client: Client, postbox: Postbox) -> None:
    postbox.refusal = "554 5.7.1 no such mailbox"
    sign_up(client, "new@example.org")
    assert not DBTaskResult.objects.filter(task_path__endswith="send_again").exists()


def bare(answer: Any) -> str:
    """A page without what differs between any two visits."""
    text = answer.content.decode() if answer.status_code == 200 else answer["Location"]
    return re.sub(r'name="csrfmiddlewaretoken" value="[^"]+"|[\w.-]+@example\.org', "", text)


def test_sign_up_tells_nobody_who_has_an_account(postbox: Postbox, ada: User) -> None:
    known, unknown = Client(), Client()
    first, second = sign_up(known, ada.email), sign_up(unknown, "stranger@example.org")
    assert bare(first) == bare(second)
    assert bare(known.get(first["Location"])) == bare(unknown.get(second["Location"]))
    assert len(postbox.to(ada.email)) == len(postbox.to("stranger@example.org")) == 1, "its owner is told"
    assert User.objects.filter(email=ada.email).count() == 1
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_a_reset_tells_nobody_who_has_an_account(postbox: Postbox, ada: User) -> None:
    known, unknown = Client(), Client()
    addresses = (ada.email, "stranger@example.org")
    asked = [
        visitor.post("/account/password/reset/", {"email": email})
        for visitor, email in zip((known, unknown), addresses, strict=True)
    ]
    assert bare(asked[0]) == bare(asked[1])
    assert bare(known.get(asked[0]["Location"])) == bare(unknown.get(asked[1]["Location"]))
    assert [len(postbox.to(address)) for address in addresses] == [1, 1]


def test_signing_in_tells_nobody_who_has_an_account(ada: User) -> None:
    wrong = [sign_in(Client(), email, "wrong password") for email in (ada.email, "stranger@example.org")]
    pages = [re.sub(r'value="[^"]*"', "", bare(answer)) for answer in wrong]
    assert pages[0] == pages[1]
    assert "not correct" in pages[0]


WAYS = ["sign in", "sign up", "reset"]


@pytest.mark.parametrize("way", WAYS)
def test_nor_does_the_work_it_takes(
    postbox: Postbox, ada: User, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slow part of an answer is the hash of a password; a mail goes out either way."""
    done: list[str] = []
    encode = MD5PasswordHasher.encode

    def counted(hasher: MD5PasswordHasher, password: str, salt: str) -> str:
        done.append(password)
        return encode(hasher, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", counted)
    work = []
    for email in (ada.email, "stranger@example.org"):
        done.clear()
        _timed(way, email)
        work.append(len(done))
    assert work[0] == work[1] == (0 if way == "reset" else 1)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_nor_does_the_time_it_takes(postbox: Postbox, person: Any, way: str) -> None:
    """With the real, slow hash: addresses with an account and without one, in turn."""
    from django.core.cache import cache

    argon = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
    times: dict[str, list[float]] = {"known": [], "unknown": []}
    with override_settings(PASSWORD_HASHERS=argon):
        for turn in range(12):
            person(f"known{turn}@example.org")
        for turn in range(12):
            for kind, seconds in times.items():
                cache.clear()
                seconds.append(_timed(way, f"{kind}{turn}@example.org"))
    known, unknown = (statistics.median(seconds[2:]) for seconds in times.values())
    # The hash alone is most of the time: an answer without it would be several times faster.
    assert 0.5 < known / unknown < 2, (known, unknown)


def _timed(way: str, email: str) -> float:
    client = Client()
    start = time.process_time()
    if way == "sign in":
        sign_in(client, email, "wrong password")
    elif way == "sign up":
        sign_up(client, email)
    else:
        client.post("/account/password/reset/", {"email": email})
    return time.process_time() - start


def guess(email: str, times: int = 5) -> None:
    """Wrong passwords, each from another place, under another port and in another spelling of the address."""
    for number in range(times):
        client = Client(REMOTE_ADDR=f"10.0.{number}.1", HTTP_HOST=f"testserver:{8000 + number}")
        page = sign_in(client, email.upper() if number % 2 else email, f"wrong password {number}")
        assert "not correct" in page.content.decode()


LOCKED = "Too many failed login attempts"


def test_guessing_the_password_of_one_account_is_stopped(ada: User) -> None:
    guess(ada.email)
    locked = Client(REMOTE_ADDR="10.1.1.1", HTTP_HOST="testserver:9000")
    assert LOCKED in sign_in(locked, ada.email).content.decode()
    assert not signed_in(locked), "not even with the right password"


def test_guesses_from_elsewhere_do_not_lock_out_a_browser_that_the_account_knows(
    ada: User, person: Any
) -> None:
    mine, of_another = Client(), Client()
    sign_in(mine, ada.email)
    mine.post("/account/logout/")
    sign_in(of_another, person("other@example.org").email)
    of_another.post("/account/logout/")
    guess(ada.email)
    assert LOCKED in sign_in(of_another, ada.email).content.decode(), "it knows another account"
    sign_in(mine, ada.email)
    assert signed_in(mine)


def test_a_known_browser_has_five_guesses_too(ada: User) -> None:
    client = Client()
    sign_in(client, ada.email)
    client.post("/account/logout/")
    for number in range(5):
        assert "not correct" in sign_in(client, ada.email, f"wrong password {number}").content.decode()
    assert LOCKED in sign_in(client, ada.email).content.decode()


def test_guesses_from_elsewhere_do_not_keep_a_session_from_being_shown_again(ada: User) -> None:
    client = Client()
    sign_in(client, ada.email)
    del client.cookies["known-browser"]
    guess(ada.email)
    assert client.post("/account/reauthenticate/", {"password": PASSWORD}).status_code == 302


def test_a_link_for_a_new_password_lets_the_owner_in_whatever_others_guess(
    postbox: Postbox, ada: User
) -> None:
    guess(ada.email)
    owner = Client(REMOTE_ADDR="10.1.1.1")
    owner.post("/account/password/reset/", {"email": ada.email})
    form = owner.get(postbox.link(ada.email))["Location"]
    owner.post(form, {"password1": "another password", "password2": "another password"})
    assert signed_in(owner)
    guess(ada.email)
    owner.post("/account/logout/")
    sign_in(owner, ada.email, "another password")
    assert signed_in(owner), "from now on the account knows this browser"


def test_guesses_are_not_forgotten_for_requests_from_elsewhere(ada: User) -> None:
    for number in range(5):
        sign_in(Client(), ada.email, f"wrong password {number}")
    for number in range(400):
        Client(REMOTE_ADDR=f"10.2.{number // 250}.{number % 250}").get("/api/v1/")
    assert LOCKED in sign_in(Client(), ada.email).content.decode()


def test_guessing_for_many_accounts_from_one_place_is_stopped() -> None:
    answers = [sign_in(Client(), f"a{number}@example.org", "wrong password") for number in range(12)]
    assert LOCKED in answers[-1].content.decode()
    elsewhere = sign_in(Client(REMOTE_ADDR="10.1.1.1"), "b@example.org", "wrong password")
    assert "not correct" in elsewhere.content.decode()


def test_asking_for_resets_without_end_is_stopped(postbox: Postbox, ada: User) -> None:
    asked = [Client().post("/account/password/reset/", {"email": ada.email}).status_code for _ in range(7)]
    assert asked[0] == 302
    assert asked[-1] == 429
    assert len(postbox.to(ada.email)) == 5


GUESSES = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "gluebench.leaderboard.settings"
os.environ["GLUEBENCH_SITE"] = sys.argv[1]
import django
django.setup()
from django.conf import settings
from django.test import Client
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # the real one is slow
for number in range(5):
    fields = {"login": "ada@example.org", "password": f"wrong {number}"}
    page = Client(HTTP_HOST="localhost").post("/account/login/", fields).content.decode()
    print("locked" if "Too many failed login attempts" in page else "wrong")
"""


def test_processes_on_one_database_count_together(served: Any) -> None:
    """Whatever starts them; each is a web process as far as it knows."""
    assert served.python(GUESSES, str(served.folder)).split() == ["wrong"] * 5
    assert served.python(GUESSES, str(served.folder)).split() == ["locked"] * 5


def test_what_the_environment_says_of_verification() -> None:
    assert require({"GLUEBENCH_VERIFY": "optional"}).verify == "optional"
    with pytest.raises(SiteError, match="optional or mandatory"):
        require({"GLUEBENCH_VERIFY": "no"})


def test_what_the_environment_says_of_files() -> None:
    assert require({}).keep_days is None
    assert require({"GLUEBENCH_KEEP_DAYS": "30"}).keep_days == 30
    for wrong in ("0", "-1", "a month", "1.5"):
        with pytest.raises(SiteError, match="GLUEBENCH_KEEP_DAYS"):
            require({"GLUEBENCH_KEEP_DAYS": wrong})

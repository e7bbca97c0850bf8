"""Participants: who may register and submit, by every door; the organizers' list, invitations and mail."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from leaderboard.material import PREDICTIONS, zip_bytes

from gluebench.leaderboard.apps.accounts import trust
from gluebench.leaderboard.apps.accounts.models import Scope, User, issue, teams_of
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.limits import registration as acts
from gluebench.leaderboard.apps.limits.acts import change_policy, create_team, join_team
from gluebench.leaderboard.apps.limits.models import Acceptance, Invitation, Registration, version_of
from gluebench.leaderboard.apps.limits.quota import QuotaError
from gluebench.leaderboard.apps.news import delivery
from gluebench.leaderboard.apps.news.delivery import deliver
from gluebench.leaderboard.apps.news.models import MailFrequency, Message, choose
from gluebench.leaderboard.apps.submissions.models import Submission

Send = Callable[..., Submission]
JOIN = "/benchmarks/tiny/join"
LIST = "/benchmarks/tiny/organize/participants"
ASKS = {"ask_name": True, "ask_affiliation": True, "consent": "Files are kept\nfor research."}
ANSWERS = {"name": "Ada Lovelace", "affiliation": "Analytical Society", "consent": "on"}


@pytest.fixture
def grace(tiny: Any, person: Callable[[str], User]) -> User:
    """The organizer."""
    user = person("grace@example.org")
    tiny.organizers.add(user)
    return user


@pytest.fixture
def organizer(grace: User) -> Client:
    return browser(grace)


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def policy(benchmark: Any, **values: Any) -> None:
    change_policy(Benchmark.objects.get(pk=benchmark.pk), values)


def register(client: Client, address: str = JOIN, **answers: str) -> Any:
    version = version_of(Benchmark.objects.get(name="tiny"))
    return client.post(address, {"version": version, **answers}, follow=True)


def standing(user: User) -> str:
    row = Registration.objects.filter(user=user).first()
    return row.standing if row else ""


def text_of(page: Any) -> str:
    text: str = page.content.decode()
    return text.replace("&#x27;", "'")


def test_with_approval_nothing_can_be_sent_by_any_door_before_an_organizer_approves(
    tiny: Any, ada: User, owner: Client, organizer: Client, send: Send, good_zip: bytes
) -> None:
    policy(tiny, registration="approval")
    _, secret = issue(ada, "a program", [Scope.READ, Scope.SUBMIT], timedelta(days=1))

    def by_program() -> Any:
        file = SimpleUploadedFile("predictions.zip", good_zip)
        data = {"name": "A system", "model": "BiLSTM", "file": file}
        headers = {"Authorization": f"Bearer {secret}"}
        return Client().post("/api/v1/benchmarks/tiny/submissions", data, headers=headers)

    def by_page() -> Any:
        data = {"name": "A system", "model": "BiLSTM", "regime": "other"}
        file = SimpleUploadedFile("predictions.zip", zip_bytes({**PREDICTIONS, "Refer": "0110"}))
        return owner.post("/benchmarks/tiny/submit", {**data, "upload": file})

    for kind, reason in (("registration", "Register for"), ("participation", "has to approve")):
        refused = by_program()
        assert (refused.status_code, refused.json()["type"]) == (403, f"urn:gluebench:{kind}")
        assert JOIN in refused.json()["detail"]
        assert by_page().status_code == 403
        assert reason in text_of(owner.get("/benchmarks/tiny/submit"))
        with pytest.raises(QuotaError, match=reason):
            send()
        if kind == "registration":
            assert "An organizer looks at your registration" in text_of(register(owner))
    assert not Submission.objects.exists()
    organizer.post(f"{LIST}/{ada.pk}", {"act": "approve"})
    assert standing(ada) == "accepted"
    assert by_program().status_code in (201, 202)
    assert by_page().status_code == 302
    assert [*Entry.objects.order_by("pk").values_list("action", "actor")][-2:] == [
        ("registration", ada.pk),
        ("registration approved", User.objects.get(email="grace@example.org").pk),
    ]


def test_a_refused_person_reads_why_and_does_not_wait_again(
    tiny: Any, ada: User, owner: Client, organizer: Client, send: Send
) -> None:
    policy(tiny, registration="approval")
    register(owner)
    organizer.post(f"{LIST}/{ada.pk}", {"act": "refuse", "reason": "Students only."})
    assert "refused your registration. Reason: Students only." in text_of(owner.get(JOIN))
    assert "refused your registration" in text_of(register(owner))
    assert standing(ada) == "refused"
    with pytest.raises(QuotaError, match="Students only"):
        send()


def test_what_the_policy_asks_for_is_given_and_kept(tiny: Any, ada: User, owner: Client, send: Send) -> None:
    policy(tiny, **ASKS)
    page = text_of(owner.get(JOIN))
    assert "Your name" in page
    assert "Files are kept" in page
    for left_out in ANSWERS:
        answers = {name: value for name, value in ANSWERS.items() if name != left_out}
        assert register(owner, **answers).status_code == 422
    assert register(owner, **{**ANSWERS, "name": "turned‮around"}).status_code == 422
    assert not Registration.objects.exists()
    assert not Acceptance.objects.exists()
    with pytest.raises(QuotaError, match="Register for"):
        send()
    register(owner, **ANSWERS)
    row = Registration.objects.get()
    assert (row.standing, row.affiliation, row.consent) == (
        "accepted",
        "Analytical Society",
        ASKS["consent"],
    )
    assert User.objects.get(pk=ada.pk).name == "Ada Lovelace"
    send()


@pytest.mark.parametrize(
    ("email", "is_confirmed", "said"),
    [
        ("ada@cs.uni.example", True, "may submit"),
        ("ada@UNI.example", True, "may submit"),
        ("ada@cs.uni.example", False, "Confirm your email address first"),
        ("ada@evil-uni.example", True, "yours is of evil-uni.example"),
        ("ada@x.cs.uni.example", True, "yours is of x.cs.uni.example"),
    ],
)
def test_a_mail_domain_admits_its_confirmed_addresses_alone(
    tiny: Any, person: Callable[[str], User], email: str, is_confirmed: bool, said: str
) -> None:
    policy(tiny, registration="domain", domains="uni.example, cs.uni.example")
    user = person(email)
    if not is_confirmed:
        trust.EmailAddress.objects.update(verified=False)
    else:
        trust.EmailAddress.objects.update(email=email.lower())
    User.objects.filter(pk=user.pk).update(email=email)
    assert said in text_of(register(browser(user)))
    assert standing(user) == ("accepted" if said == "may submit" else "")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"registration": "domain"}, "name at least one mail domain"),
        ({"domains": "no domain"}, "mail domains separated by commas"),
        ({"domains": "@uni.example"}, "mail domains separated by commas"),
        ({"registration": "closed"}, "one of open, approval, invitation, domain"),
        ({"consent": "x" * 2001}, "at most 2000 characters"),
    ],
)
def test_settings_that_cannot_be_followed_are_refused(tiny: Any, values: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        policy(tiny, **values)


def test_an_invitation_admits_as_many_as_it_is_for_until_it_expires(
    tiny: Any, organizer: Client, person: Callable[[str], User]
) -> None:
    policy(tiny, registration="invitation")
    people = [browser(person(f"{name}@example.org")) for name in ("one", "two", "three", "four")]
    assert "for people who were invited" in text_of(register(people[0]))
    organizer.post(LIST, {"act": "invite", "label": "A class", "uses": "2", "days": "7"})
    invitation = Invitation.objects.get()
    assert invitation.path in text_of(organizer.get(LIST))
    said = [text_of(register(client, invitation.path)) for client in people[:3]]
    assert ["may submit" in text for text in said] == [True, True, False]
    assert "used up or has expired" in said[2]
    assert Registration.objects.filter(invitation=invitation).count() == 2
    register(people[0], invitation.path)
    assert Invitation.objects.get().used == 2, "who is in does not use it again"
    organizer.post(LIST, {"act": "invite", "label": "", "uses": "9", "days": "7"})
    second = Invitation.objects.first()
    assert second is not None
    Invitation.objects.filter(pk=second.pk).update(expires=timezone.now())
    assert "used up or has expired" in text_of(people[3].get(second.path))
    assert "used up or has expired" in text_of(register(people[3], second.path))


def test_an_ended_invitation_admits_nobody_and_the_code_of_another_benchmark_neither(
    tiny: Any, organizer: Client, owner: Client, ada: User
) -> None:
    policy(tiny, registration="approval")
    organizer.post(LIST, {"act": "invite", "label": "A class", "uses": "5", "days": "7"})
    invitation = Invitation.objects.get()
    organizer.post(f"{LIST}/invitations/{invitation.pk}", {"act": "end"})
    assert "used up or has expired" in text_of(register(owner, invitation.path))
    facts = {"manifest": tiny.manifest, "gold": tiny.gold, "gold_digest": "0" * 64}
    other = Benchmark.objects.create(name="other", title="Other", **facts)
    expires = timezone.now() + timedelta(days=1)
    foreign = Invitation.objects.create(benchmark=other, expires=expires)
    assert "used up or has expired" in text_of(register(owner, f"{JOIN}/{foreign.code}"))
    assert standing(ada) == ""


def test_a_blocked_account_sends_nothing_by_any_policy_and_can_be_unblocked(
    tiny: Any, ada: User, owner: Client, organizer: Client, graded: Send, send: Send
) -> None:
    shown = graded(name="Spam")
    organizer.post(f"{LIST}/{ada.pk}", {"act": "block", "reason": "Spam."})
    assert standing(ada) == "blocked"
    with pytest.raises(QuotaError, match=r"has blocked this account. Reason: Spam."):
        send()
    assert "has blocked this account" in text_of(register(owner))
    assert Submission.objects.public().filter(pk=shown.pk).exists(), "entries are another decision"
    organizer.post(f"{LIST}/{ada.pk}", {"act": "unblock"})
    send()
    organizer.post(f"{LIST}/{ada.pk}", {"act": "block", "entries": "on"})
    assert not Submission.objects.public().exists()
    shown.refresh_from_db()
    assert shown.declined == acts.BLOCKED


def test_a_blocked_account_changes_nothing_and_a_colleague_of_its_team_still_may(
    tiny: Any, ada: User, owner: Client, organizer: Client, graded: Send, person: Callable[[str], User]
) -> None:
    policy(tiny, per="team")
    bob = person("bob@example.org")
    create_team(ada, "Owls")
    join_team(bob, teams_of(ada)[None].code)
    row = graded(owner=User.objects.get(pk=ada.pk), name="Shown", public=False)
    organizer.post(f"{LIST}/{ada.pk}", {"act": "block"})
    address = f"/submissions/{row.key}"
    _, secret = issue(ada, "a program", [Scope.READ, Scope.SUBMIT], timedelta(days=1))
    headers = {"Authorization": f"Bearer {secret}"}
    for act in ("publish", "unpublish", "withdraw", "restore", "choose", "unchoose"):
        refused = Client().post(f"/api/v1{address}/{act}", headers=headers)
        assert (refused.status_code, refused.json()["type"]) == (409, "urn:gluebench:participation"), act
    for act, data in (("publish", {"public": "1"}), ("withdraw", {}), ("choose", {"chosen": "1"})):
        page = text_of(owner.post(f"{address}/{act}", data, follow=True))
        assert "has blocked this account" in page, act
    changed = {"name": "Spam", "model": "m", "regime": "other"}
    assert "has blocked this account" in text_of(owner.post(f"{address}/edit", changed, follow=True))
    row.refresh_from_db()
    assert (row.name, row.public, row.withdrawn) == ("Shown", False, None)
    browser(bob).post(f"{address}/publish", {"public": "1"})
    assert Submission.objects.public().filter(pk=row.pk).exists()
    organizer.post(f"{LIST}/{ada.pk}", {"act": "unblock"})
    owner.post(f"{address}/withdraw", {})
    assert not Submission.objects.public().exists()


def test_an_account_that_never_confirmed_its_address_can_be_blocked(
    tiny: Any, organizer: Client, send: Send
) -> None:
    spammer = User.objects.create_user("spam@example.org")
    send(owner=spammer)
    assert "not confirmed" in text_of(organizer.get(LIST))
    organizer.post(f"{LIST}/{spammer.pk}", {"act": "block"})
    with pytest.raises(QuotaError, match="blocked"):
        send(owner=spammer)


def test_who_organizes_is_not_blocked_and_strangers_cannot_be_decided_about(
    tiny: Any, organizer: Client, grace: User, ada: User, send: Send
) -> None:
    send(owner=grace)
    assert "Remove the role first" in text_of(
        organizer.post(f"{LIST}/{grace.pk}", {"act": "block"}, follow=True)
    )
    assert organizer.post(f"{LIST}/{ada.pk}", {"act": "block"}).status_code == 404


def test_the_list_shows_people_by_name_and_no_address(
    tiny: Any, ada: User, owner: Client, organizer: Client, send: Send, person: Callable[[str], User]
) -> None:
    policy(tiny, registration="approval", **ASKS)
    register(owner, **ANSWERS)
    late = person("bob@uni.example")
    Acceptance.objects.create(user=late, benchmark=tiny, digest="0" * 64)
    organizer.post(f"{LIST}/{ada.pk}", {"act": "approve"})
    send()
    send()
    page = text_of(organizer.get(LIST))
    assert "ada@example.org" not in page
    assert f"Ada Lovelace (Account {ada.pk})" in page
    assert "Analytical Society" in page
    version = version_of(Benchmark.objects.get(pk=tiny.pk))[:8]
    assert f"present version {version}" in page
    assert "earlier version 00000000" in page
    table = csv.DictReader(io.StringIO(organizer.get(f"{LIST}.csv").content.decode("utf-8-sig")))
    by_account = {line["account"]: line for line in table}
    line = by_account[str(ada.pk)]
    assert (line["name"], line["standing"], line["entries"]) == (
        f"Ada Lovelace (Account {ada.pk})",
        "accepted",
        "2",
    )
    assert by_account[str(late.pk)]["mail_domain"] == "uni.example"
    assert organizer.get(f"{LIST}/{ada.pk}").status_code == 200


def test_names_that_are_formulas_or_markup_stay_text(
    tiny: Any, owner: Client, organizer: Client, ada: User
) -> None:
    policy(tiny, **ASKS)
    register(owner, name="=1+1", affiliation="<script>alert(1)</script>", consent="on")
    assert "<script>alert(1)" not in organizer.get(LIST).content.decode()
    assert "<script>alert(1)" not in organizer.get(f"{LIST}/{ada.pk}").content.decode()
    (line,) = csv.DictReader(io.StringIO(organizer.get(f"{LIST}.csv").content.decode("utf-8-sig")))
    assert line["name"].startswith("'=1+1")


@pytest.fixture
def crowd(
    tiny: Any, person: Callable[[str], User], send: Send, graded: Send, settings: Any
) -> dict[str, User]:
    """People who take part in different ways, on a site that sends mail."""
    settings.MAIL_IS_SENT = True
    people = {
        name: person(f"{name}@example.org") for name in ("sender", "listed", "reader", "waiting", "blocked")
    }
    for name, standing in (("waiting", "waiting"), ("blocked", "blocked"), ("reader", "accepted")):
        Registration.objects.create(benchmark=tiny, user=people[name], standing=standing)
    send(owner=people["sender"])
    graded(owner=people["listed"])
    person("stranger@example.org")
    return people


@pytest.mark.parametrize(
    ("to", "numbers", "get_it"),
    [
        ("all", [], {"sender", "reader", "waiting", "listed"}),
        ("waiting", [], {"waiting"}),
        ("silent", [], {"reader", "waiting"}),
        ("board", [], {"listed"}),
        ("chosen", ["reader", "blocked"], {"reader", "blocked"}),
    ],
)
def test_mail_goes_to_those_who_are_chosen(
    crowd: dict[str, User], organizer: Client, to: str, numbers: list[str], get_it: set[str]
) -> None:
    ticked = [str(crowd[name].pk) for name in numbers]
    form = {"act": "mail", "to": to, "people": ticked, "title": "Venue", "text": "Room 5."}
    page = text_of(organizer.post(LIST, form, follow=True))
    assert f"The mail goes to {len(get_it)} p" in page
    deliver()
    assert {one.to[0] for one in mail.outbox} == {f"{name}@example.org" for name in get_it}
    assert "Room 5." in mail.outbox[0].body
    assert mail.outbox[0].extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert Entry.objects.get(action="message").detail["people"] == len(get_it)
    assert "Room 5." not in text_of(Client().get("/benchmarks/tiny/news")), "it is private"


def test_who_wants_no_mail_gets_none_and_the_organizer_reads_how_many(
    crowd: dict[str, User], organizer: Client
) -> None:
    choose(crowd["reader"], MailFrequency.NONE, MailFrequency.NONE)
    form = {"act": "mail", "to": "silent", "title": "Venue", "text": "Room 5."}
    assert "goes to 1 person. 1 chose to get no mail" in text_of(organizer.post(LIST, form, follow=True))
    form = {**form, "to": "chosen", "people": [str(crowd["reader"].pk)]}
    assert "Nobody gets this mail" in text_of(organizer.post(LIST, form, follow=True))
    assert Message.objects.count() == 1
    assert organizer.post(LIST, {**form, "people": []}).status_code == 422
    assert organizer.post(LIST, {**form, "people": ["1; DROP"]}).status_code == 422


def test_a_program_approves_and_writes_by_the_same_acts(
    crowd: dict[str, User], tiny: Any, grace: User
) -> None:
    policy(tiny, registration="approval")
    _, secret = issue(grace, "a program", [Scope.ORGANIZE], timedelta(days=1))

    def call(method: str, path: str, body: Any = None) -> Any:
        return Client().generic(
            method,
            f"/api/v1{LIST}{path}",
            json.dumps(body or {}),
            "application/json",
            headers={"Authorization": f"Bearer {secret}"},
        )

    listed = call("GET", "/mail").json()["participants"]
    (waiting,) = [one for one in listed if one["standing"] == "waiting"]
    assert listed[0] == waiting, "who waits comes first"
    assert call("POST", f"/{waiting['account']}/approve").status_code == 200
    assert standing(crowd["waiting"]) == "accepted"
    two = f"{crowd['reader'].pk}, {crowd['sender'].pk}"
    sent = call("POST", "/mail", {"to": "chosen", "people": two, "title": "Venue", "text": "Room 5."})
    assert "2 people" in sent.json()["message"]
    assert call("GET", ".csv").status_code == 200


def test_a_program_registers_as_the_page_does(tiny: Any, ada: User, organizer: Client) -> None:
    policy(tiny, registration="approval", **ASKS)
    _, secret = issue(ada, "a program", [Scope.SUBMIT], timedelta(days=1))
    address = "/api/v1/benchmarks/tiny/registration"
    program = Client(headers={"Authorization": f"Bearer {secret}"})

    def post(**values: Any) -> Any:
        return program.post(address, values, content_type="application/json")

    facts = program.get(address).json()
    assert facts["asks"] == {"name": True, "affiliation": True, "consent": ASKS["consent"]}
    assert (facts["standing"], facts["accepted"]) == (None, False)
    assert facts["obstacle"] == "Register for A tiny benchmark first."
    answers = {"name": "Ada", "affiliation": "Analytical Society", "consent": True}
    lacking = post(version=facts["version"], name="Ada")
    assert {error["field"] for error in lacking.json()["errors"]} == {"affiliation", "consent"}
    old = post(version="0" * 64, **answers)
    assert (old.status_code, "The rules have changed" in old.json()["detail"]) == (409, True)
    assert post(version=facts["version"], team="x", **answers).status_code == 422
    assert not Registration.objects.exists()
    done = post(version=facts["version"], **answers).json()
    assert (done["standing"], done["accepted"]) == ("waiting", True)
    assert "has to approve your registration" in done["obstacle"]
    row = Registration.objects.get()
    assert (row.user, row.affiliation, row.consent) == (ada, "Analytical Society", ASKS["consent"])
    organizer.post(f"{LIST}/{ada.pk}", {"act": "approve"})
    assert program.get(address).json()["obstacle"] is None
    _, reading = issue(ada, "a reader", [Scope.READ], timedelta(days=1))
    refused = Client(headers={"Authorization": f"Bearer {reading}"}).get(address)
    assert (refused.status_code, Client().get(address).status_code) == (403, 401)


def test_an_invitation_is_used_by_a_program(tiny: Any, ada: User, grace: User) -> None:
    policy(tiny, registration="invitation")
    _, secret = issue(ada, "a program", [Scope.SUBMIT], timedelta(days=1))
    address = "/api/v1/benchmarks/tiny/registration"
    program = Client(headers={"Authorization": f"Bearer {secret}"})
    version = program.get(address).json()["version"]
    refused = program.post(address, {"version": version}, content_type="application/json").json()
    assert "for people who were invited" in refused["detail"]
    acts.invite(tiny, grace, label="", uses=1, days=1)
    given = {"version": version, "code": Invitation.objects.get().code}
    assert program.post(address, given, content_type="application/json").json()["standing"] == "accepted"


INVITED = {"act": "invite-by-mail", "title": "Take part", "text": "We *invite* you.", "days": "7"}


def test_each_address_gets_a_link_of_its_own_and_the_list_shows_who_accepted(
    tiny: Any, organizer: Client, person: Any, ada: User, owner: Client, settings: Any
) -> None:
    settings.MAIL_IS_SENT = True
    policy(tiny, registration="invitation")
    addresses = f"new@example.com\n{ada.email.upper()}, NEW@example.com"
    page = text_of(organizer.post(LIST, {**INVITED, "addresses": addresses}, follow=True))
    assert "2 people are invited, each with a link of their own." in page
    assert page.count("<td>waiting</td>") == 2
    mail.outbox.clear()
    assert deliver() == 2
    assert {one.to[0] for one in mail.outbox} == {"new@example.com", ada.email}
    rows = {row.label.lower(): row for row in Invitation.objects.all()}
    for one in mail.outbox:
        path = rows[one.to[0]].path
        assert [row.path in one.body for row in rows.values()].count(True) == 1
        assert (one.subject, path in one.body) == ("A tiny benchmark: Take part", True)
        assert "We *invite* you." in one.body
        assert ("/unsubscribe/" in one.body) == (one.to[0] == ada.email)
    assert register(owner, rows[ada.email].path).status_code == 200
    page = text_of(organizer.get(LIST))
    assert page.count("<td>sent</td>") == 2
    assert f'1 of 1<span class="team">Account {ada.pk}</span>' in page
    assert "0 of 1</td>" in page
    assert "addresses" not in json.dumps(Entry.objects.get(action="invitations").detail)
    again = text_of(organizer.post(LIST, {**INVITED, "addresses": "New@Example.com"}, follow=True))
    assert "New@Example.com was invited already" in again


def test_invitations_by_mail_keep_to_the_choice_of_an_account_and_to_what_is_an_address(
    tiny: Any, organizer: Client, ada: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "sends no mail" in text_of(organizer.post(LIST, {**INVITED, "addresses": "a@b.org"}, follow=True))
    settings.MAIL_IS_SENT = True
    choose(ada, MailFrequency.NONE, MailFrequency.NONE)
    organizer.post(LIST, {**INVITED, "addresses": ada.email})
    assert (Invitation.objects.count(), deliver()) == (1, 0)
    page = organizer.post(LIST, {**INVITED, "addresses": "a@b.org, <b>c"})
    assert (page.status_code, "is no mail address" in text_of(page)) == (422, True)
    monkeypatch.setattr(delivery, "MOST_INVITED", 2)
    two = {**INVITED, "addresses": "a@b.org c@b.org"}
    assert "2 people are invited" in text_of(organizer.post(LIST, two, follow=True))
    refused = text_of(organizer.post(LIST, {**INVITED, "addresses": "d@b.org"}, follow=True))
    assert "At most 2 people are invited by mail in 24 hours: 0 more now." in refused
    trust.delete_account(User.objects.get(pk=ada.pk))
    assert not Invitation.objects.filter(label__iexact=ada.email).exists()


def test_an_account_takes_its_registrations_along_and_deletes_them(
    tiny: Any, owner: Client, ada: User
) -> None:
    policy(tiny, **ASKS)
    register(owner, **ANSWERS)
    ada.refresh_from_db()
    with trust.export(ada) as archive:
        facts = json.loads(zipfile.ZipFile(archive).read("account.json"))
    assert facts["name"] == "Ada Lovelace"
    (row,) = facts["registrations"]
    assert (row["benchmark__name"], row["affiliation"]) == ("tiny", "Analytical Society")
    trust.delete_account(User.objects.get(pk=ada.pk))
    assert not Registration.objects.exists()
    assert User.objects.get(pk=ada.pk).name == ""


def test_a_person_changes_the_name_under_account(owner: Client, ada: User) -> None:
    assert owner.post("/account/", {"name": "Ada"}).status_code == 302
    assert owner.post("/account/", {"name": "turned‮around"}).status_code == 422
    assert User.objects.get(pk=ada.pk).name == "Ada"


def test_the_list_has_pages_and_a_search_and_programs_get_everybody(
    tiny: Any, organizer: Client, grace: User
) -> None:
    for number in range(205):
        user = User.objects.create(email=f"{number}@uni{number % 3}.example", name=f"Person {number}")
        Registration.objects.create(benchmark=tiny, user=user, standing="accepted")
    sizes = [len(organizer.get(f"{LIST}{page}").context["participants"]) for page in ("", "?page=3")]
    assert sizes == [100, 5]
    assert "Page 3 of 3" in text_of(organizer.get(f"{LIST}?page=3"))
    found = organizer.get(f"{LIST}?q=uni2.EXAMPLE+person")
    assert (found.context["found"], len(found.context["participants"])) == (68, 68)
    assert "Show all 205" in text_of(found)
    assert "Nobody matches" in text_of(organizer.get(f"{LIST}?q=nowhere"))
    _, secret = issue(grace, "a program", [Scope.ORGANIZE], timedelta(days=1))
    headers = {"Authorization": f"Bearer {secret}"}
    assert len(Client().get(f"/api/v1{LIST}/mail", headers=headers).json()["participants"]) == 205


@pytest.mark.parametrize("sends_mail", [True, False])
def test_those_who_are_ticked_are_approved_together_or_nobody(
    tiny: Any, organizer: Client, person: Callable[[str], User], settings: Any, sends_mail: bool
) -> None:
    settings.MAIL_IS_SENT = sends_mail
    policy(tiny, registration="approval")
    people = [person(f"{name}@example.org") for name in ("one", "two", "three")]
    for user in people:
        register(browser(user))
    page = text_of(organizer.get(LIST))
    assert 'value="approve" formnovalidate>Approve those ticked' in page
    assert (
        page.count('<form class="plain column" method="post" id="mail">')
        + page.count('<form method="post" id="mail">')
        == 1
    )
    numbers = [str(user.pk) for user in people[:2]]
    unknown = organizer.post(LIST, {"act": "approve", "people": [*numbers, "999999"]}, follow=True)
    assert "Account 999999 does not take part" in text_of(unknown)
    assert [standing(user) for user in people] == ["waiting"] * 3
    done = organizer.post(LIST, {"act": "approve", "people": numbers, "to": "all", "title": ""}, follow=True)
    assert "2 people may take part" in text_of(done)
    assert [standing(user) for user in people] == ["accepted", "accepted", "waiting"]
    assert Entry.objects.filter(action="registration approved").count() == 2
    assert "required" in text_of(organizer.post(LIST, {"act": "approve"}, follow=True))


def test_the_list_asks_the_database_a_fixed_number_of_questions(
    tiny: Any, organizer: Client, person: Callable[[str], User], django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        user = person(f"{number}@example.org")
        Registration.objects.create(benchmark=tiny, user=user, standing="accepted")
    organizer.get(LIST)
    with django_assert_max_num_queries(30):
        assert organizer.get(LIST).status_code == 200

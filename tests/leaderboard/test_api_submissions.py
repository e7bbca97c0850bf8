"""The private half of the interface: tokens, submitting, following, editing; and what nobody may do by it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as site
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from leaderboard.material import CANARIES, PREDICTIONS, zip_bytes

from gluebench.leaderboard.apps.accounts.models import Token, issue
from gluebench.leaderboard.apps.submissions.grading import grade
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status

V1 = "/api/v1"
Program = Callable[..., Client]


@pytest.fixture(autouse=True)
def _no_requests_so_far(db: None) -> None:
    caches["rates"].clear()


@pytest.fixture
def program() -> Program:
    """A client that signs in with a token of its owner's."""

    def made(owner: Any, *scopes: str, days: int = 1) -> Client:
        _, secret = issue(owner, "a program", list(scopes or ("read", "submit")), timedelta(days=days))
        return Client(headers={"Authorization": f"Bearer {secret}"})

    return made


def upload(data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("mine.zip", data, content_type="application/zip")


def sent(client: Client, data: bytes, key: str | None = None, **details: Any) -> Any:
    return post(client, {"name": "Mine", "model": "CBoW", **details, "file": upload(data)}, key)


def post(client: Client, form: dict[str, Any], key: str | None = None) -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return client.post(f"{V1}/benchmarks/tiny/submissions", form, headers=headers)


def refused(answer: Any, status: int, kind: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["type"] == f"urn:gluebench:{kind}"
    return problem


def test_a_program_submits_follows_and_reads_its_report(
    tiny: Any, ada: Any, program: Program, good_zip: bytes
) -> None:
    client = program(ada)
    answer = sent(client, good_zip, team="Team", parameters="1000", latency_ms="2.5", public="true")
    assert answer.status_code == 201
    here = answer["Location"]
    assert client.get(f"{here}/status").json() | {"key": ""} == {
        "key": "",
        "status": "queued",
        "label": "Waiting",
        "position": 1,
        "stalled": "",
        "effect": "",
        "final": False,
    }
    refused(client.get(f"{here}/report"), 404, "not-found")
    grade(Submission.objects.get().pk)
    assert client.get(f"{here}/status").json()["final"] is True
    facts = client.get(here).json()
    assert (facts["name"], facts["parameters"]["total"], facts["latency_ms"]) == ("Mine", 1000, 2.5)
    assert (facts["status"], facts["listed"], facts["verdict"]) == ("graded", True, "valid")
    assert client.get(f"{here}/report").json() == facts["report"]
    assert b"".join(client.get(f"{here}/file")) == good_zip
    (line,) = client.get(f"{V1}/submissions?benchmark=tiny&status=graded").json()["items"]
    assert line["score"] == facts["report"]["score"]
    assert client.get(f"{V1}/submissions?status=failed").json()["count"] == 0


def test_the_free_check_tells_all_and_keeps_nothing(tiny: Any, ada: Any, program: Program) -> None:
    broken = zip_bytes({**PREDICTIONS, "Refer": "01x0"})
    answer = program(ada).post(f"{V1}/benchmarks/tiny/check", {"file": upload(broken)})
    assert answer.status_code == 200
    assert answer.json()["verdict"] == "invalid"
    assert [(each["file"], each["line"]) for each in answer.json()["problems"]] == [("Refer.tsv", 4)]
    assert not Submission.objects.exists()
    assert not list(site.FOLDER.uploads.iterdir())


@pytest.mark.parametrize("name", ["Läufe 7.zip", "最終" * 40 + ".zip", "run.tar.gz"])
def test_a_file_that_is_no_zip_is_called_as_its_sender_calls_it(
    tiny: Any, ada: Any, program: Program, name: str
) -> None:
    """It was "tmp07jidenx.upload.zip", and on the page of a submission 32 digits."""
    client = program(ada)
    file = SimpleUploadedFile(name, b"Rar!\x1a\x07\x01\x00" + bytes(300))
    checked = client.post(f"{V1}/benchmarks/tiny/check", {"file": file}).json()
    file.seek(0)
    key = client.post(f"{V1}/benchmarks/tiny/submissions", {"name": "A", "model": "B", "file": file}).json()[
        "key"
    ]
    grade(Submission.objects.get().pk)
    graded = client.get(f"{V1}/submissions/{key}").json()["check"]
    for check in (checked, graded):
        (problem,) = check["problems"]
        assert problem["code"] == "wrong-archive"
        assert name.endswith(problem["file"])
        assert len(problem["file"]) == min(len(name), 60)


def test_the_same_upload_again_is_the_same_submission(
    tiny: Any, ada: Any, person: Any, program: Program, good_zip: bytes
) -> None:
    client = program(ada)
    first, again = sent(client, good_zip, "one"), sent(client, good_zip, "one")
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["key"] == again.json()["key"]
    assert again["Location"] == first["Location"]
    refused(sent(client, zip_bytes({**PREDICTIONS, "Refer": "1111"}), "one"), 409, "retry-key")
    assert sent(client, good_zip, "two").status_code == 201
    assert sent(program(person("other@example.org")), good_zip, "one").status_code == 201
    assert Submission.objects.count() == 3
    refused(sent(client, good_zip, "spaces in it"), 422, "field")


@pytest.mark.parametrize(
    ("secret", "told"), [("gluebench_wrong", "unknown"), ("", "unknown"), ("gluebench_\xff", "unknown")]
)
def test_a_wrong_token_is_refused_even_where_none_is_needed(tiny: Any, secret: str, told: str) -> None:
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    for address in ("/benchmarks", "/submissions"):
        answer = client.get(V1 + address)
        assert told in refused(answer, 401, "sign-in")["detail"]
        assert answer["WWW-Authenticate"].startswith("Bearer")


def test_without_a_token_or_with_an_old_one_nothing_is_done(
    tiny: Any, ada: Any, program: Program, good_zip: bytes
) -> None:
    old = program(ada, days=-1)
    basic = Client(headers={"Authorization": "Basic YTpi"})
    for client in (Client(), old, basic):
        refused(sent(client, good_zip), 401, "sign-in")
        refused(client.get(f"{V1}/submissions"), 401, "sign-in")
    ada.is_active = False
    ada.save()
    refused(program(ada).get(f"{V1}/account"), 401, "sign-in")
    assert not Submission.objects.exists()


def test_a_token_is_good_for_its_scopes_alone(tiny: Any, ada: Any, program: Program, good_zip: bytes) -> None:
    reads, submits = program(ada, "read"), program(ada, "submit")
    refused(sent(reads, good_zip), 403, "scope")
    refused(reads.post(f"{V1}/benchmarks/tiny/check", {"file": upload(good_zip)}), 403, "scope")
    here = sent(submits, good_zip)["Location"]
    refused(submits.get(f"{V1}/submissions"), 403, "scope")
    refused(submits.get(here), 404, "not-found")
    assert reads.get(here).status_code == 200
    for act in ("publish", "unpublish", "withdraw", "restore"):
        refused(reads.post(f"{here}/{act}"), 403, "scope")
    refused(reads.patch(here, {"name": "Other"}, content_type="application/json"), 403, "scope")
    assert reads.get(f"{V1}/account").json()["scopes"] == ["read"]


def test_a_token_s_last_use_is_written_down(tiny: Any, ada: Any, program: Program) -> None:
    client = program(ada)
    client.get(f"{V1}/account")
    first = Token.objects.get().used
    assert first is not None
    assert timezone.now() - first < timedelta(minutes=1)
    client.get(f"{V1}/account")
    assert Token.objects.get().used == first, "once in a minute is enough"


def test_a_session_may_call_with_its_csrf_token_only(graded: Any, ada: Any) -> None:
    submission = graded(public=False)
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(ada)
    address = f"{V1}/submissions/{submission.key}/publish"
    assert browser.get(f"{V1}/submissions").json()["count"] == 1
    refused(browser.post(address), 403, "csrf")
    browser.get(f"{V1}/docs")
    token = browser.cookies["csrftoken"].value
    assert browser.post(address, headers={"X-CSRFToken": token}).status_code == 200
    assert browser.post(address, headers={"X-CSRFToken": "x" * 32}).status_code == 403


def test_another_s_submission_is_as_if_it_were_not_there(
    graded: Any, ada: Any, person: Any, program: Program
) -> None:
    private, public = graded(public=False), graded(public=True, name="Shown")
    other = program(person("other@example.org"))
    for path in ("", "/status", "/report", "/history", "/file"):
        refused(other.get(f"{V1}/submissions/{private.key}{path}"), 404, "not-found")
    for path in ("/history", "/file"):
        refused(other.get(f"{V1}/submissions/{public.key}{path}"), 404, "not-found")
    for key in (private.key, public.key):
        for act in ("publish", "unpublish", "withdraw", "restore"):
            refused(other.post(f"{V1}/submissions/{key}/{act}"), 404, "not-found")
        changed = other.patch(f"{V1}/submissions/{key}", {"name": "Stolen"}, content_type="application/json")
        refused(changed, 404, "not-found")
    seen = other.get(f"{V1}/submissions/{public.key}").json()
    assert not seen.keys() & {"check", "sha256", "filename", "failure"}
    assert Client().get(f"{V1}/submissions/{public.key}/report").status_code == 200


def test_an_author_edits_publishes_and_withdraws(graded: Any, ada: Any, program: Program) -> None:
    submission = graded(public=False)
    client, here = program(ada), f"{V1}/submissions/{submission.key}"
    edited = client.patch(
        here, {"name": "Better named", "parameters": 7}, content_type="application/json"
    ).json()
    assert (edited["name"], edited["model"], edited["parameters"]["total"]) == ("Better named", "BiLSTM", 7)
    history = client.get(f"{here}/history").json()
    assert history["edits"][0]["changes"] == {"name": ["A system", "Better named"], "parameters": [None, 7]}
    board = f"{V1}/benchmarks/tiny/board"
    assert client.get(board).json()["count"] == 0
    assert client.post(f"{here}/publish").json()["listed"] is True
    assert client.get(board).json()["rows"][0]["name"] == "Better named"
    assert client.post(f"{here}/withdraw").json()["withdrawn"]
    assert client.get(board).json()["count"] == 0
    assert client.post(f"{here}/restore").json()["listed"] is True
    assert client.post(f"{here}/unpublish").json()["listed"] is False


SERVER_OWNED = sorted(
    {field.name for field in Submission._meta.fields}
    - {"name", "model", "team", "link", "paper", "code", "description", "regime", "training_data"}
    - {"parameters", "shared_parameters", "compute", "latency_ms"}
)


def test_what_the_site_sets_nobody_else_sets(
    graded: Any, ada: Any, program: Program, good_zip: bytes
) -> None:
    submission, client = graded(public=False), program(ada)
    before = Submission.objects.filter(pk=submission.pk).values().get()
    here = f"{V1}/submissions/{submission.key}"
    for field in SERVER_OWNED:
        caches["rates"].clear()
        for value in ("1", {"value": 1}, None):
            refused(client.patch(here, {field: value}, content_type="application/json"), 422, "field")
        if field not in ("public", "file", "reproduces"):  # these are a part of sending
            forged = {"name": "Mine", "model": "CBoW", "file": upload(good_zip), field: "1"}
            refused(post(client, forged), 422, "field")
        for act in ("unpublish", "restore"):
            client.post(f"{here}/{act}", {field: "1"}, content_type="application/json")
        assert Submission.objects.filter(pk=submission.pk).values().get() == before, field
        assert Submission.objects.count() == 1, field


@pytest.mark.parametrize(
    ("details", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"name": "turned\u202earound"}, "name"),
        ({"model": "\x00"}, "model"),
        ({"link": "javascript:alert(1)"}, "link"),
        ({"paper": "https://"}, "paper"),
        ({"code": "ftp://example.org/code"}, "code"),
        ({"description": "a\x00b"}, "description"),
        ({"description": "x" * 4001}, "description"),
        ({"regime": "none"}, "regime"),
        ({"parameters": "-1"}, "parameters"),
        ({"parameters": str(2**63)}, "parameters"),
        ({"parameters": "5", "shared_parameters": "6"}, "shared_parameters"),
        ({"latency_ms": "nan"}, "latency_ms"),
        ({"latency_ms": "-0.1"}, "latency_ms"),
        ({"latency_ms": "5e-324"}, "latency_ms"),
        ({"latency_ms": "1e308"}, "latency_ms"),
        ({"public": "perhaps"}, "public"),
        ({"public": "0"}, "public"),
        ({"nmae": "A typing error"}, "nmae"),
    ],
)
def test_a_value_that_cannot_be_taken_is_named(
    tiny: Any, ada: Any, program: Program, good_zip: bytes, details: dict[str, str], field: str
) -> None:
    problem = refused(sent(program(ada), good_zip, **details), 422, "field")
    assert [each["field"] for each in problem["errors"]] == [field]
    assert not Submission.objects.exists()


@pytest.mark.parametrize("field", ["parameters", "latency_ms"])
def test_no_number_is_made_of_a_truth_value(graded: Any, ada: Any, program: Program, field: str) -> None:
    here = f"{V1}/submissions/{graded().key}"
    problem = refused(program(ada).patch(here, {field: False}, content_type="application/json"), 422, "field")
    assert [each["field"] for each in problem["errors"]] == [field]


def test_a_file_that_is_absent_or_too_large_is_refused(
    tiny: Any, ada: Any, program: Program, settings: Any
) -> None:
    client = program(ada)
    absent = client.post(f"{V1}/benchmarks/tiny/submissions", {"name": "Mine", "model": "CBoW"})
    assert refused(absent, 422, "field")["errors"][0]["field"] == "file"
    settings.UPLOAD_BYTES = 100
    refused(sent(client, b"x" * 101), 413, "too-large")
    broken = client.generic(
        "POST", f"{V1}/benchmarks/tiny/submissions", b"--x", content_type="multipart/form-data; boundary="
    )
    refused(broken, 400, "request")
    assert not list(site.FOLDER.uploads.iterdir())


def test_a_body_that_is_no_json_is_refused(graded: Any, ada: Any, program: Program) -> None:
    here = f"{V1}/submissions/{graded().key}"
    for body in (b"{", b"[]", b'"text"', b"\xff", b'{"name": "\\ud800"}'):
        answer = program(ada).generic("PATCH", here, body, content_type="application/json")
        assert answer.status_code in (400, 422), (body, answer.content)
        assert answer["Content-Type"] == "application/problem+json"


def test_an_invalid_submission_is_explained_to_its_author(tiny: Any, ada: Any, program: Program) -> None:
    client = program(ada)
    here = sent(client, b"no zip")["Location"]
    grade(Submission.objects.get().pk)
    facts = client.get(here).json()
    assert (facts["status"], facts["report"]) == (Status.INVALID, None)
    assert facts["check"]["problems"]
    assert "not valid" in refused(client.get(f"{here}/report"), 404, "not-found")["detail"]


def test_no_label_shows(graded: Any, ada: Any, program: Program) -> None:
    submission, client = graded(), program(ada)
    here = f"{V1}/submissions/{submission.key}"
    for path in ("", "/report", "/history", "/status"):
        text = client.get(here + path).content.decode()
        assert not [label for label in CANARIES if label in text]
        assert submission.benchmark.gold_digest not in text


def test_wrong_tokens_are_slowed_down(tiny: Any, settings: Any, ada: Any, program: Program) -> None:
    settings.API_PER_MINUTE = {**settings.API_PER_MINUTE, "wrong-token": 2}
    guesser = Client(headers={"Authorization": "Bearer gluebench_guess"})
    assert [guesser.get(f"{V1}/account").status_code for _ in range(3)] == [401, 401, 429]
    assert program(ada).get(f"{V1}/account").status_code == 200


def test_a_longer_list_costs_no_more_queries(graded: Any, ada: Any, program: Program) -> None:
    client, counts = program(ada), []
    client.get(f"{V1}/submissions")  # the first of a minute starts its count
    for _ in range(2):
        graded()
        graded()
        with CaptureQueriesContext(connection) as found:
            items = client.get(f"{V1}/submissions").json()["items"]
        counts.append(len(found))
    assert len(items) == 4
    assert "report" not in items[0]
    assert counts[0] == counts[1]


def test_a_second_submission_is_refused_with_its_next_time(
    tiny: Any, ada: Any, program: Program, good_zip: bytes
) -> None:
    tiny.settings = {"per_day": 1}
    tiny.save()
    client = program(ada)
    assert client.get(f"{V1}/benchmarks/tiny/quota").json()["remaining"] == 1
    assert sent(client, good_zip, "first").status_code == 201
    quota = client.get(f"{V1}/benchmarks/tiny/quota").json()
    assert (quota["remaining"], len(quota["blocked"])) == (0, 1)
    answer = sent(client, good_zip, "second")
    problem = refused(answer, 429, "quota")
    assert problem["next"] == quota["next"]
    assert 86_300 < int(answer["Retry-After"]) <= 86_400
    assert sent(client, good_zip, "first").status_code == 200, "the same upload again costs nothing"
    assert Submission.objects.count() == 1


def test_a_closed_benchmark_takes_nothing_and_still_checks(
    tiny: Any, ada: Any, program: Program, good_zip: bytes
) -> None:
    tiny.open = False
    tiny.save()
    client = program(ada)
    refused(sent(client, good_zip), 403, "closed")
    assert client.get(f"{V1}/benchmarks/tiny").json()["open"] is False
    checked = client.post(f"{V1}/benchmarks/tiny/check", {"file": upload(good_zip)})
    assert checked.json()["verdict"] == "valid"


def test_a_check_judges_as_the_benchmark_does(tiny: Any, ada: Any, program: Program) -> None:
    lacking = zip_bytes({name: values for name, values in PREDICTIONS.items() if name != "Refer"})
    client, address = program(ada), f"{V1}/benchmarks/tiny/check"
    assert client.post(address, {"file": upload(lacking)}).json()["verdict"] == "incomplete"
    tiny.settings = {"incomplete": "refused"}
    tiny.save()
    assert client.post(address, {"file": upload(lacking)}).json()["verdict"] == "invalid"


def test_a_team_is_founded_joined_and_left(program: Program, tiny: Any, ada: Any, person: Any) -> None:
    bob = person("bob@example.org")
    mine, other = program(ada), program(bob)
    nothing = {"benchmark": None, "name": None, "members": None, "people": [], "code": None, "done": ""}
    assert mine.get(f"{V1}/team").json() == nothing
    founded = post_json(mine, "team", name="Owls")
    assert (founded.status_code, founded.json()["name"], founded.json()["members"]) == (201, "Owls", 1)
    refused(post_json(other, "team", name="Owls"), 409, "team")
    refused(post_json(other, "team", name="Owls\u202e"), 422, "field")
    refused(post_json(mine, "team", name="Larks"), 409, "team")
    refused(post_json(other, "team/join", code="nothing"), 409, "team")
    joined = post_json(other, "team/join", code=founded.json()["code"]).json()
    assert (joined["members"], joined["done"]) == (2, "You are in the team Owls now.")
    assert [(one["role"], one["account"]) for one in joined["people"]] == [
        ("leader", ada.pk),
        ("member", bob.pk),
    ]
    refused(other.post(f"{V1}/team/invite", {}, content_type="application/json"), 409, "team")
    link = mine.post(f"{V1}/team/invite", {"uses": 1, "days": 2}, content_type="application/json").json()
    assert link["code"] not in (None, founded.json()["code"])
    left = post_json(other, "team/leave").json()
    assert (left["name"], left["done"]) == (None, "You left the team.")
    refused(post_json(other, "team/leave"), 409, "team")
    refused(program(ada, "read").get(f"{V1}/team"), 403, "scope")


def test_a_team_of_one_benchmark_is_another_than_that_of_all(
    program: Program, tiny: Any, ada: Any, person: Any
) -> None:
    bob = person("bob@example.org")
    mine, other = program(ada), program(bob)
    post_json(mine, "team", name="Owls")
    founded = post_json(mine, "team?benchmark=tiny", name="Larks").json()
    assert (founded["benchmark"], founded["name"], founded["members"]) == ("tiny", "Larks", 1)
    joined = post_json(other, "team/join", code=founded["code"]).json()
    assert (joined["benchmark"], joined["members"]) == ("tiny", 2)
    assert mine.get(f"{V1}/team").json()["name"] == "Owls"
    account = mine.get(f"{V1}/account").json()
    assert (account["team"], account["teams"]) == ("Owls", {"tiny": "Larks"})
    assert other.get(f"{V1}/account").json()["team"] is None
    refused(post_json(other, "team/leave"), 409, "team")
    refused(post_json(other, "team/leave?benchmark=tony"), 404, "not-found")
    refused(post_json(other, "team/leave?bench=tiny"), 400, "parameter")
    removed = mine.post(
        f"{V1}/team/remove?benchmark=tiny", {"account": bob.pk}, content_type="application/json"
    )
    assert removed.json()["members"] == 1
    assert post_json(mine, "team/leave?benchmark=tiny").json()["name"] is None
    assert mine.get(f"{V1}/team").json()["name"] == "Owls"


def post_json(client: Client, address: str, **body: str) -> Any:
    return client.post(f"{V1}/{address}", body or None, content_type="application/json")


def test_an_invalid_file_is_replaced(program: Program, tiny: Any, ada: Any, person: Any) -> None:
    client = program(ada)
    key = sent(client, b"not a zip", name="Owl").json()["key"]
    refused(replaced(client, key), 409, "replace")
    grade(Submission.objects.get().pk)
    refused(replaced(program(person("bob@example.org")), key), 404, "not-found")
    answer = replaced(client, key)
    assert (answer.status_code, answer.json()["key"], answer.json()["name"]) == (201, key, "Owl")
    assert Submission.objects.get(key=key).replaces is not None
    refused(replaced(client, key, name="Hawk"), 422, "field")


def replaced(client: Client, key: str, **more: str) -> Any:
    form = {"file": upload(zip_bytes(PREDICTIONS)), **more}
    return client.post(f"{V1}/submissions/{key}/replace", form)

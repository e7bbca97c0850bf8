"""The public half of the interface: what it answers to anybody."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client

from gluebench.leaderboard.apps.accounts.models import issue

V1 = "/api/v1"


@pytest.fixture(autouse=True)
def _no_requests_so_far(db: None) -> None:
    caches["rates"].clear()


def test_what_answers_is_a_leaderboard(client: Client, db: None) -> None:
    about = client.get(f"{V1}/").json()
    assert about["software"] == "gluebench"
    assert client.get(about["openapi"]).json()["openapi"].startswith("3.")
    assert client.get(about["docs"]).status_code == 200


def test_the_board_is_that_of_the_page_a_page_at_a_time(client: Client, graded: Any) -> None:
    sent = [graded(name=f"System {number}") for number in range(5)]
    page = client.get("/benchmarks/tiny.json").json()
    seen: list[Any] = []
    address: str | None = f"{V1}/benchmarks/tiny/board?per_page=2"
    while address:
        answer = client.get(address).json()
        assert answer["count"] == len(sent)
        assert answer["columns"] == page["columns"]
        seen += answer["rows"]
        address = answer["next"]
    assert seen == page["rows"]
    last = client.get(f"{V1}/benchmarks/tiny/board?per_page=2&page=3").json()
    assert (last["pages"], last["next"]) == (3, None)
    assert client.get(last["previous"]).json()["rows"] == seen[2:4]
    row = client.get(f"{V1}/benchmarks/tiny/entries/{sent[0].key}").json()
    assert row.pop("indistinguishable") is None, "nothing is computed yet"
    assert row == next(row for row in seen if row["key"] == sent[0].key)


def test_an_unchanged_board_is_not_sent_again(client: Client, graded: Any) -> None:
    graded()
    address = f"{V1}/benchmarks/tiny/board"
    first = client.get(address)
    again = client.get(address, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    graded(name="Another")
    changed = client.get(address, headers={"If-None-Match": first["ETag"]})
    assert (changed.status_code, changed.json()["count"]) == (200, 2)


def test_head_is_get_without_its_body(client: Client, graded: Any) -> None:
    graded()
    for address in (f"{V1}/", f"{V1}/benchmarks", f"{V1}/benchmarks/tiny/board"):
        head, get = client.head(address), client.get(address)
        assert (head.status_code, head.content) == (200, b"")
        assert head["Content-Type"] == get["Content-Type"]


def test_diagnostics_are_those_of_the_page(client: Client, graded: Any) -> None:
    for number in range(3):
        graded(name=f"System {number}")
    answer = client.get(f"{V1}/benchmarks/tiny/diagnostics/DX?per_page=2&page=2").json()
    assert answer["rows"] == client.get("/benchmarks/tiny/diagnostics/DX.json").json()["rows"][2:]
    assert (answer["count"], answer["pages"]) == (3, 2)


def test_a_benchmark_says_what_a_submission_to_it_holds(client: Client, tiny: Any) -> None:
    (line,) = client.get(f"{V1}/benchmarks").json()["items"]
    facts = client.get(f"{V1}/benchmarks/{line['name']}").json()
    assert [file["name"] for file in facts["files"]] == ["Para", "Sim", "Infer-m", "Infer-mm", "Refer", "DX"]
    assert facts["files"][1] == {
        "name": "Sim",
        "path": "Sim.tsv",
        "task": "Sim",
        "rows": 5,
        "values": "a number from 0 to 5",
    }
    assert facts["policy"] == tiny.policy.as_dict()
    assert [task["scored"] for task in facts["tasks"]] == [True, True, True, True, False]


@pytest.mark.parametrize(
    ("address", "status", "kind"),
    [
        ("/benchmarks/none", 404, "not-found"),
        ("/benchmarks/none/board", 404, "not-found"),
        ("/benchmarks/tiny/entries/abc", 404, "not-found"),
        ("/benchmarks/tiny/diagnostics/Para", 404, "not-found"),
        ("/benchmarks/tiny/diagnostics/none", 404, "not-found"),
        ("/benchmarks/tiny/board?page=0", 422, "field"),
        ("/benchmarks/tiny/board?per_page=many", 422, "field"),
        ("/nothing/of/the/kind", 404, "not-found"),
        ("/submissions/%5D%0AvD%17/unpublish", 404, "not-found"),
        ("/benchmarks%0A", 404, "not-found"),
    ],
)
def test_a_refusal_is_a_problem(client: Client, tiny: Any, address: str, status: int, kind: str) -> None:
    answer = client.get(V1 + address)
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["type"], problem["status"]) == (f"urn:gluebench:{kind}", status)
    assert problem["detail"]


def test_labels_of_which_nothing_is_said_are_neither_private_nor_public(client: Client, tiny: Any) -> None:
    tasks = client.get(f"{V1}/benchmarks/tiny").json()["tasks"]
    assert {task["name"]: task["private"] for task in tasks}.items() >= {("Para", None), ("DX", False)}
    document = client.get(f"{V1}/openapi.json").json()
    shape = document["components"]["schemas"]["TaskDetail"]["properties"]["private"]
    assert {each["type"] for each in shape["anyOf"]} == {"boolean", "null"}


def test_a_wrong_method_is_told_which_are_right(client: Client, tiny: Any) -> None:
    answer = client.delete(f"{V1}/benchmarks/tiny/board")
    assert (answer.status_code, answer["Allow"]) == (405, "GET")
    assert answer["Content-Type"] == "application/problem+json"


def test_who_asks_too_often_is_told_when_to_come_back(client: Client, tiny: Any, settings: Any) -> None:
    settings.API_PER_MINUTE = {**settings.API_PER_MINUTE, "visitor": 3}
    answers = [client.get(f"{V1}/benchmarks") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert 1 <= int(answers[-1]["Retry-After"]) <= 60
    assert client.get(f"{V1}/benchmarks", REMOTE_ADDR="192.0.2.7").status_code == 200


def test_the_addresses_of_one_line_are_counted_as_one(client: Client, tiny: Any, settings: Any) -> None:
    settings.API_PER_MINUTE = {**settings.API_PER_MINUTE, "visitor": 1}

    def status(address: str) -> int:
        return client.get(f"{V1}/benchmarks", REMOTE_ADDR=address).status_code

    assert [status("2001:db8:0:1::1"), status("2001:db8:0:1:ffff::2")] == [200, 429]
    assert status("2001:db8:0:2::1") == 200
    assert [status("::ffff:192.0.2.1"), status("::ffff:192.0.2.2"), status("192.0.2.1")] == [200, 200, 429]


def test_the_documentation_needs_no_other_site(client: Client, db: None) -> None:
    answer = client.get(f"{V1}/docs")
    page = answer.content.decode()
    assert "://" not in page.replace("http://www.w3.org", "")
    assert " style=" not in page
    assert "unsafe" not in answer["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("path", "names", "takes"),
    [
        ("/benchmarks/tiny/board?by=borda", ["by"], "takes page, per_page, phase"),
        ("/benchmarks/tiny/board?page=1&perpage=3&Page=2", ["perpage", "Page"], "takes page, per_page"),
        ("/benchmarks/tiny/pairs?down=1", ["down"], "takes phase"),
        ("/benchmarks?name=x", ["name"], "takes"),
        ("/account?all=1", ["all"], "takes none"),
        ("/submissions?stat=graded", ["stat"], "takes"),
        ("/?x", ["x"], "takes none"),
        ("/benchmarks/nothing/board?sort=x", ["sort"], "takes page, per_page, phase"),
    ],
)
def test_a_parameter_that_an_address_does_not_take_is_refused(
    tiny: Any, path: str, names: list[str], takes: str
) -> None:
    for method in ("get", "head"):
        answer = getattr(Client(), method)(f"/api/v1{path}")
        assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    problem = Client().get(f"/api/v1{path}").json()
    assert [error["field"] for error in problem["errors"]] == names
    assert (problem["type"], takes in problem["detail"]) == ("urn:gluebench:parameter", True)


def test_parameters_that_an_address_takes_are_taken(tiny: Any) -> None:
    for path in ("/benchmarks/tiny/board?page=1&per_page=5", "/openapi.json?x=1", "/docs?y=2"):
        assert Client().get(f"/api/v1{path}").status_code == 200, path


def test_what_narrows_the_list_of_submissions_narrows_its_csv_by_token(tiny: Any, ada: Any) -> None:
    tiny.organizers.add(ada)
    token = issue(ada, "a test", ["read", "organize"], timedelta(days=1))[1]
    client = Client(headers={"authorization": f"Bearer {token}"})
    here = "/api/v1/benchmarks/tiny/organize/submissions.csv"
    assert client.get(f"{here}?q=a&state=&kind=system").status_code == 200
    assert client.get(f"{here}?page=2").status_code == 400

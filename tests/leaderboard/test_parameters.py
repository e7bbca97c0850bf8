"""Query parameters: each page and file takes those that it names, and refuses others with their names."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

BOARD = "/benchmarks/tiny"


@pytest.mark.parametrize(
    ("address", "unknown", "taken"),
    [
        (f"{BOARD}?sorted=Refer", "sorted", "takes view, intervals, sort, order, q, "),
        ("/?phases=1", "phases", "takes view, intervals, sort, order, q, "),
        (f"{BOARD}/tasks/Refer?by=borda", "by", "takes view, "),
        (f"{BOARD}/progress?phases=1", "phases", "takes phase"),
        (f"{BOARD}/pairs?task=Refer", "task", "takes down, across, phase"),
        (f"{BOARD}/rules?by=borda", "by", "takes phase"),
        (f"{BOARD}/rules?down=2", "down", "takes phase"),
        (f"{BOARD}/efficiency?sort=parameters", "sort", "takes phase"),
        (f"{BOARD}/health?sort=1", "sort", "takes phase"),
        (f"{BOARD}/embed?sort=Refer", "sort", "takes phase, q, training, "),
        (f"{BOARD}/diagnostics/DX?categories=Logic", "categories", "takes category, page, view, phase"),
        (f"{BOARD}/compare?a=x&b=y&c=z", "c", "takes a, b, pin, phase"),
        (f"{BOARD}/changes?from=2", "from", "takes page"),
        (f"{BOARD}/data?task=Refer", "task", "takes none"),
        ("/ledger?page=2", "page", "takes none"),
        ("/submissions?status=graded", "status", "takes page"),
        ("/account/tokens?token=1", "token", "takes none"),
        (f"{BOARD}/organize/phases?presets=open", "presets", "takes preset"),
        (f"{BOARD}/organize?status=graded", "status", "takes q, state, kind, page"),
    ],
)
def test_a_page_refuses_a_parameter_that_it_does_not_take(
    tiny: Any, owner: Client, address: str, unknown: str, taken: str
) -> None:
    answer = owner.get(address)
    assert answer.status_code == 400
    text = answer.content.decode().replace("&#x27;", "'")
    assert f"There is no parameter '{unknown}' of this address, which {taken}" in text


@pytest.mark.parametrize("form", ["json", "csv", "tex", "md"])
@pytest.mark.parametrize(
    ("board", "query"),
    [
        (BOARD, "sort=Refer"),
        (BOARD, "page=2"),
        (f"{BOARD}/tasks/Refer", "sort=Refer"),
        (f"{BOARD}/tasks/Refer", "by=borda"),
        (f"{BOARD}/tasks/Refer", "weights=Refer:2"),
        (f"{BOARD}/tasks/Refer", "majority=Infer"),
    ],
)
def test_a_file_of_a_board_refuses_what_only_its_page_has(
    tiny: Any, client: Client, board: str, query: str, form: str
) -> None:
    answer = client.get(f"{board}.{form}?{query}")
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    problem = answer.json()
    name = query.partition("=")[0]
    taken = "phase, q, training, since, parameters, team, verified"
    if board == BOARD:
        taken += ", by, weights, majority"
    assert problem["detail"] == f"There is no parameter '{name}' of this address, which takes {taken}."
    assert [error["field"] for error in problem["errors"]] == [name]


@pytest.mark.parametrize(
    "address",
    [
        f"{BOARD}/progress.json?by=borda",
        f"{BOARD}/pairs.csv?down=1",
        f"{BOARD}/pairs.json?across=1",
        f"{BOARD}/rules.json?page=1",
        f"{BOARD}/diagnostics/DX.json?page=2",
        f"{BOARD}/health.json?task=Refer",
        f"{BOARD}/data.json?page=2",
        f"{BOARD}/ranks/status.json?page=1",
        f"{BOARD}/badge.svg?style=flat",
        f"{BOARD}/badge.svg?by=borda",
        "/ledger/rows.json?benchmark=tiny",
    ],
)
def test_other_files_refuse_parameters_too(tiny: Any, client: Client, address: str) -> None:
    answer = client.get(address)
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")


@pytest.mark.parametrize(
    "address",
    [
        f"{BOARD}?utm_source=list&utm_medium=mail",
        f"{BOARD}/progress?fbclid=x",
        f"{BOARD}?sort=Refer&order=asc&gclid=x",
        "/account/login/?next=/submissions",
        f"{BOARD}/changes.json?page=1",
    ],
)
def test_what_is_taken_and_what_others_append_to_links_is_no_mistake(
    tiny: Any, client: Client, address: str
) -> None:
    assert client.get(address).status_code == 200

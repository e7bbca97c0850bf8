"""A chat model as a system, asked of a server with scripted answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from systems.adapters.chat_server import ChatServer, chat, chatting

from gluebench.benchmark import load_benchmark
from gluebench.data import Example
from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.endpoint import AnswerCache, Endpoint
from gluebench.systems.adapters.openai import ChatModel, PromptOptions

pytest.importorskip("urllib3", reason="urllib3 is not installed (gluebench[data])")
TASK = load_benchmark("glue").task("RTE")


def example(index: int, label: str | None = None) -> Example:
    return Example(index, {"premise": f"Tom saw {index} cats.", "hypothesis": f"Tom saw cat {index}."}, label)


TRAIN = [example(100 + row, "not_entailment" if row % 3 else "entailment") for row in range(12)]
ASKED = [example(row) for row in range(20)]


def last(request: dict[str, Any]) -> int:
    """The number in the hypothesis that is asked about."""
    return int(request["messages"][-1]["content"].rstrip(".").rsplit(" ", 1)[1])


def script(request: dict[str, Any]) -> str:
    number = last(request)
    return "no idea" if number % 7 == 3 else ("entailment" if number % 2 else "not_entailment")


EXPECTED = ["entailment" if row % 2 else "not_entailment" for row in range(20)]


def system(server: ChatServer, folder: Path, asking: PromptOptions = PromptOptions(), **options) -> ChatModel:  # noqa: B008
    endpoint = Endpoint(server.address, sleep=lambda seconds: None)
    found = ChatModel("m", endpoint, AnswerCache(folder / "answers.jsonl"), asking, **options)
    found.fit(TASK, TRAIN, [])
    return found


def test_answers_keep_their_order_and_the_majority_stands_in_where_none_is_understood(tmp_path: Path):
    with chatting(script) as server:
        server.faults = [(429, "", {"Retry-After": "0"}), (500, "", {})]
        model = system(server, tmp_path, PromptOptions(concurrency=4, price_in=2.0, price_out=10.0))
        found = model.predict(TASK, ASKED)
    assert found.unanswered == (3, 10, 17)
    kept = [value for row, value in enumerate(found) if row not in found.unanswered]
    assert kept == [value for row, value in enumerate(EXPECTED) if row not in found.unanswered]
    assert {found[row] for row in found.unanswered} == {"not_entailment"}
    assert model.notes() == {
        "asked": 20,
        "from_cache": 0,
        "tokens_in": 1000,
        "tokens_out": 40,
        "not_understood": 3,
        "cost": pytest.approx((1000 * 2 + 40 * 10) / 1e6),
    }


def test_what_was_asked_once_is_not_asked_again_even_after_a_kill_in_mid_line(tmp_path: Path):
    with chatting(script) as server:
        first = system(server, tmp_path).predict(TASK, ASKED)
        asked = len(server.requests)
        file = tmp_path / "answers.jsonl"
        file.write_bytes(file.read_bytes()[:-9])
        model = system(server, tmp_path)
        assert model.predict(TASK, ASKED) == first
        assert len(server.requests) == asked + 1
        assert model.notes()["from_cache"] == 19
        assert system(server, tmp_path).predict(TASK, ASKED) == first
        assert len(server.requests) == asked + 1


def test_shots_are_training_examples_drawn_by_the_seed(tmp_path: Path):
    with chatting(script) as server:
        for seed in (0, 0, 1):
            system(server, tmp_path / str(len(server.requests)), PromptOptions(shots=4), seed=seed).predict(
                TASK, ASKED[:1]
            )
    shown = [[each["content"] for each in request["messages"][1:-1]] for request in server.requests]
    assert len(shown[0]) == 8
    assert shown[0] == shown[1] != shown[2]
    answers = {
        f"Premise: {each.inputs['premise']}\nHypothesis: {each.inputs['hypothesis']}": each.label
        for each in TRAIN
    }
    assert all(answers[shown[0][place]] == shown[0][place + 1] for place in range(0, 8, 2))


def test_fields_that_the_server_refuses_are_left_out_and_that_is_told_once(tmp_path: Path):
    told: list[str] = []
    with chatting(script) as server:
        server.refuses = {
            "logprobs": "logprobs are not supported by this model",
            "max_tokens": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            "temperature": "temperature does not support 0",
        }
        model = system(server, tmp_path, say=told.append)
        assert len(model.predict(TASK, ASKED)) == 20
        assert set(server.requests[-1]) == {"model", "messages", "max_completion_tokens"}
    assert len(told) == 3
    assert told[0] == "the server tells no probabilities: answers are read as text"


def test_probabilities_score_the_label_words(tmp_path: Path):
    with chatting(lambda request: chat("Well", {"ent": -0.5, "not": -1.2, "Well": -3.0})) as server:
        assert set(system(server, tmp_path / "a").predict(TASK, ASKED[:3])) == {"entailment"}
        assert server.requests[0]["top_logprobs"] == 20
        parsed = system(server, tmp_path / "b", PromptOptions(scored=False))
        server.script = lambda request: "Well"
        assert parsed.predict(TASK, ASKED[:3]).unanswered == (0, 1, 2)
        assert "logprobs" not in server.requests[-1]


def test_a_server_that_stays_down_ends_the_run_and_keeps_what_was_answered(tmp_path: Path):
    with chatting(script) as server:
        model = system(server, tmp_path)
        model.predict(TASK, ASKED[:5])
        server.faults = [(503, "", {})] * 200
        with pytest.raises(ModelError, match=r"status 503: ; asked 7 times"):
            model.predict(TASK, ASKED)
        server.faults = []
        asked = len(server.requests)
        system(server, tmp_path).predict(TASK, ASKED)
    assert len(server.requests) == asked + 15

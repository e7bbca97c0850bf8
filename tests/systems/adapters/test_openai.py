"""A model of a server as a system, asked of a server with scripted answers."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from systems.adapters.chat_server import ChatServer, Fault, chat, chatting

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


def number(request: dict[str, Any]) -> int | None:
    """The number in the last hypothesis; None for the request that probes the server."""
    named = re.findall(r"cat (\d+)", request["messages"][-1]["content"])
    return int(named[-1]) if named else None


def script(request: dict[str, Any]) -> str:
    row = number(request)
    return "yes" if row is None else "no idea" if row % 7 == 3 else "yes" if row % 2 else "no"


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
        answers = model.predict(TASK, ASKED)
    assert answers.unanswered == (3, 10, 17)
    assert answers.reasons == ("not understood",) * 3
    kept = [value for row, value in enumerate(answers) if row not in answers.unanswered]
    assert kept == [value for row, value in enumerate(EXPECTED) if row not in answers.unanswered]
    assert {answers[row] for row in answers.unanswered} == {"not_entailment"}
    assert model.notes() == {
        "asked": 21,  # one of them probes the server
        "from_cache": 0,
        "tokens_in": 1050,
        "tokens_out": 42,
        "tokens_reasoning": 0,
        "not_understood": 3,
        "cut_off": 0,
        "refused": 0,
        "filtered": 0,
        "method": "first-token",
        "cost": pytest.approx((1050 * 2 + 42 * 10) / 1e6),
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
    chats = [[each["content"] for each in request["messages"][:-1]] for request in server.requests]
    shown = [texts for texts in chats if texts]
    assert [len(texts) for texts in shown] == [8, 8, 8]
    assert shown[0] == shown[1] != shown[2]
    assert Counter(shown[0][1::2]) == {"yes": 2, "no": 2}
    answers = {str(each.index): "yes" if each.label == "entailment" else "no" for each in TRAIN}
    for question, answer in zip(shown[0][::2], shown[0][1::2], strict=True):
        assert answers[re.findall(r"cat (\d+)", question)[0]] == answer


def test_fields_that_the_server_refuses_are_left_out_and_that_is_reported_before_the_first_example(
    tmp_path: Path,
):
    lines: list[str] = []
    options = PromptOptions(top_p=0.5)
    with chatting(script) as server:
        server.refuses = {
            "logprobs": "logprobs are not supported by this model",
            "max_tokens": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            "temperature": "temperature does not support 0",
            "top_p": "top_p is not supported",
            "seed": "seed is not supported",
        }
        reported: list[int] = []
        model = system(
            server,
            tmp_path,
            options,
            seed=7,
            say=lambda line: (lines.append(line), reported.append(len(server.requests))),
        )
        assert len(model.predict(TASK, ASKED)) == 20
        assert set(server.requests[-1]) == {"model", "messages", "max_completion_tokens"}
        assert len(server.requests) == 5 + 1 + 20
        assert max(reported) <= 6
        assert system(server, tmp_path, options, seed=7, say=lines.append).predict(TASK, ASKED)
        assert len(server.requests) == 26  # what the server lacks is known too
    assert len(lines) == 10
    assert lines[:5] == lines[5:]
    assert lines[0] == "the server has no probabilities: answers are read as text"


def test_a_server_that_gives_five_log_probabilities_is_asked_for_five(tmp_path: Path):
    def limited(request: dict[str, Any]) -> dict[str, Any] | Fault:
        if request["top_logprobs"] > 5:
            return 400, '{"error": {"message": "top_logprobs must be <= 5"}}', {}
        row = number(request)
        if row is None or row % 2:
            return chat("Hm", {"yes": -0.1, "no": -3.0, "a": -4.0, "b": -5.0, "c": -6.0})
        # No answer is among the five: the text is read, and nothing is made up.
        others = {"The": -1.0, "Well": -1.5, "I": -2.0, "So": -2.5, "It": -3.0}
        return chat("The answer: no" if row % 4 else "The text is unclear", others)

    lines: list[str] = []
    with chatting(limited) as server:
        model = system(server, tmp_path, say=lines.append)
        answers = model.predict(TASK, ASKED[:8])
        assert {request["top_logprobs"] for request in server.requests[1:]} == {5}
        assert len(server.requests) == 1 + 1 + 8
    assert [answers[row] for row in (1, 3, 5, 7)] == ["entailment"] * 4
    assert [answers[row] for row in (2, 6)] == ["not_entailment"] * 2
    assert answers.unanswered == (0, 4)
    assert lines == ["the server gives five log-probabilities: if no answer is among them, the text is read"]


def test_a_server_that_refuses_five_log_probabilities_too_is_read_as_text(tmp_path: Path):
    lines: list[str] = []
    with chatting(script) as server:
        server.refuses = {"top_logprobs": "top_logprobs is not supported"}
        assert len(system(server, tmp_path, say=lines.append).predict(TASK, ASKED[:3])) == 3
        assert set(server.requests[-1]) == {"model", "messages", "max_tokens", "temperature"}
        assert len(server.requests) == 2 + 1 + 3
    assert lines[-1] == "the server has no probabilities: answers are read as text"


def test_fields_of_ones_own_go_into_each_request_and_change_what_is_cached(tmp_path: Path):
    fields = {
        "reasoning_effort": "low",
        "chat_template_kwargs": {"enable_thinking": False},
        "temperature": 0.3,
    }
    with chatting(script) as server:
        system(server, tmp_path).predict(TASK, ASKED[:2])
        plain = len(server.requests)
        own = PromptOptions(extra_body={**fields, "max_tokens": None})
        answers = system(server, tmp_path, own).predict(TASK, ASKED[:2])
        assert answers == EXPECTED[:2]
        for request in server.requests[plain:]:
            assert {name: request[name] for name in fields} == fields
            assert "max_tokens" not in request
        assert len(server.requests) == 2 * plain
    assert own.identity()["extra_body"] == own.extra_body
    assert "extra_body" not in PromptOptions().identity()  # earlier runs are resumed


def test_a_field_of_ones_own_that_the_server_refuses_ends_the_run_in_its_words(tmp_path: Path):
    with chatting(script) as server:
        server.refuses = {"temperature": "temperature must be 1"}
        model = system(server, tmp_path, PromptOptions(extra_body={"temperature": 0.3}))
        with pytest.raises(ModelError, match="temperature must be 1"):
            model.predict(TASK, ASKED[:2])
        assert len(server.requests) == 1


def test_a_field_refused_in_mid_run_is_left_out_and_remembered(tmp_path: Path):
    def late(request: dict[str, Any]) -> str | Fault:
        if number(request) == 5 and "temperature" in request:
            return 400, '{"error": {"message": "no temperature here"}}', {}
        return script(request)

    with chatting(late) as server:
        first = system(server, tmp_path, PromptOptions(concurrency=1)).predict(TASK, ASKED)
        asked = len(server.requests)
        assert asked == 22
        server.script = script
        assert system(server, tmp_path, PromptOptions(concurrency=1)).predict(TASK, ASKED) == first
        assert len(server.requests) == asked + 5  # the five before it, now without a temperature


def test_a_context_shorter_than_the_answer_may_be_gets_no_length(tmp_path: Path):
    message = "'max_tokens' or 'max_completion_tokens' is too large: 4096. The maximum context length is 2048"
    with chatting(script) as server:
        server.refuses = {"max_tokens": message, "max_completion_tokens": message}
        lines: list[str] = []
        assert system(server, tmp_path, say=lines.append).predict(TASK, ASKED[:2]) == EXPECTED[:2]
        assert set(server.requests[-1]) == {"model", "messages", "temperature"}
    assert lines[0] == "the model's context is shorter than --max-tokens: no length is requested"


def test_probabilities_score_the_answers(tmp_path: Path):
    with chatting(lambda request: chat("Well", {"yes": -0.5, "No": -1.2, "Well": -3.0})) as server:
        assert set(system(server, tmp_path / "a").predict(TASK, ASKED[:3])) == {"entailment"}
        assert server.requests[0]["top_logprobs"] == 20
        parsed = system(server, tmp_path / "b", PromptOptions(method="text"))
        server.script = lambda request: "Well"
        assert parsed.predict(TASK, ASKED[:3]).unanswered == (0, 1, 2)
        assert "logprobs" not in server.requests[-1]


def test_a_model_that_reasons_is_read_as_text_and_that_is_reported(tmp_path: Path):
    def reasons(request: dict[str, Any]) -> dict[str, Any]:
        answer = "yes" if (number(request) or 0) % 2 else "no"
        return chat(answer, {"no": -0.1}, reasoning="Let me see: no, no.")

    lines: list[str] = []
    with chatting(reasons) as server:
        assert system(server, tmp_path, say=lines.append).predict(TASK, ASKED) == EXPECTED
        server.script = lambda request: (
            f"<think>no? no.</think> {reasons(request)['choices'][0]['message']['content']}"
        )
        assert system(server, tmp_path / "b", say=lines.append).predict(TASK, ASKED) == EXPECTED
    assert lines == ["the model reasons before it answers: answers are read as text"] * 2


def restricting(field: str):
    """A server that restricts answers by one field, and refuses or ignores the others."""

    def answer(request: dict[str, Any]) -> str | Fault:
        if "response_format" in request and field != "response_format":
            return 400, '{"error": {"message": "response_format is not supported"}}', {}
        if field not in request:
            return script(request)
        if field == "response_format":
            words = request[field]["json_schema"]["schema"]["properties"]["answer"]["enum"]
            return json.dumps({"answer": words[-1]})
        return (request[field]["choice"] if field == "structured_outputs" else request[field])[-1]

    return answer


@pytest.mark.parametrize("field", ["response_format", "structured_outputs", "guided_choice"])
def test_answers_are_restricted_in_the_form_that_the_server_has(tmp_path: Path, field: str):
    lines: list[str] = []
    with chatting(restricting(field)) as server:
        model = system(server, tmp_path, PromptOptions(method="choice"), say=lines.append)
        assert set(model.predict(TASK, ASKED)) == {"not_entailment"}
        assert field in server.requests[-1]
    assert lines == []


def test_without_any_form_of_restriction_answers_are_read_as_text_and_that_is_reported(tmp_path: Path):
    lines: list[str] = []
    with chatting(restricting("none")) as server:
        model = system(server, tmp_path, PromptOptions(method="choice"), say=lines.append)
        assert model.predict(TASK, ASKED[:3]) == EXPECTED[:3]
        asked = len(server.requests)
        assert (
            system(server, tmp_path, PromptOptions(method="choice")).predict(TASK, ASKED[:3]) == EXPECTED[:3]
        )
        assert len(server.requests) == asked
    assert lines == ["the server does not restrict answers to the choices: they are read as text"]
    assert model.notes()["method"] == "text"


def likelihoods(form: str):
    """A server with log-probabilities of prompts in one form: odd rows are likelier answered by yes."""

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        rows = []
        for index, prompt in enumerate(request["prompt"]):
            row = int((re.findall(r"cat (\d+)", prompt) or ["0"])[-1])
            word = prompt.split()[-1]
            value = -1.0 if (word == "yes") == bool(row % 2) else -2.0
            tokens = [*(f"{part} " for part in prompt.split()[:-1]), word]
            values = [None, *([-0.5] * (len(tokens) - 2)), value]
            if form == "echo" and request.get("echo"):
                logprobs = {"tokens": [*tokens, "!"], "token_logprobs": [*values, -9.0]}
                rows.append({"index": index, "text": prompt + "!", "logprobs": logprobs})
            elif form == "prompt_logprobs" and "prompt_logprobs" in request:
                given = [v and {t: {"logprob": v}} for t, v in zip(tokens, values, strict=True)]
                rows.append({"index": index, "text": "!", "prompt_logprobs": given})
            else:
                rows.append({"index": index, "text": "!"})
        return {"choices": rows, "usage": {"prompt_tokens": 9, "completion_tokens": 1}}

    return answer


@pytest.mark.parametrize("form", ["echo", "prompt_logprobs"])
def test_the_likelihood_of_each_answer_decides(tmp_path: Path, form: str):
    lines: list[str] = []
    with chatting(likelihoods(form)) as server:
        model = system(server, tmp_path, PromptOptions(method="likelihood", shots=2), say=lines.append)
        assert model.predict(TASK, ASKED) == EXPECTED
        assert set(server.paths) == {"/v1/completions"}
        assert form in server.requests[-1]
        first, second = server.requests[-1]["prompt"]
        assert first.endswith("Answer yes or no.\nAnswer: yes")
        assert first.removesuffix(" yes") == second.removesuffix(" no")
        assert first.count("Statement:") == 3
    assert lines == []


def test_without_log_probabilities_of_a_prompt_those_of_the_first_token_decide(tmp_path: Path):
    lines: list[str] = []

    def answer(request: dict[str, Any]) -> dict[str, Any] | Fault:
        if "messages" in request:
            return chat("Hm", {"yes": -0.1})
        if request.get("echo"):
            return 400, '{"error": {"message": "Only no echo is supported"}}', {}
        return likelihoods("none")(request)

    with chatting(answer) as server:
        model = system(server, tmp_path, PromptOptions(method="likelihood"), say=lines.append)
        assert set(model.predict(TASK, ASKED)) == {"entailment"}
    assert lines == ["the server has no log-probabilities of a prompt: those of the first token decide"]


def test_samples_vote_and_each_is_its_own_request(tmp_path: Path):
    counts: Counter[str] = Counter()

    def varied(request: dict[str, Any]) -> str:
        row = number(request)
        if row is None:
            return "yes"
        counts[row] += 1
        return ["yes", "no", "dunno", "no", "no"][counts[row] - 1]

    with chatting(varied) as server:
        options = PromptOptions(samples=5, concurrency=2)
        model = system(server, tmp_path, options, seed=3)
        assert set(model.predict(TASK, ASKED[:4])) == {"not_entailment"}
        assert {request["temperature"] for request in server.requests} == {0.7}
        assert {request["seed"] for request in server.requests} == {3, 4, 5, 6, 7}
        assert len(server.requests) == 21
        again = system(server, tmp_path, options, seed=3)
        assert again.predict(TASK, ASKED[:4]).unanswered == ()
        assert len(server.requests) == 21


def test_every_fault_costs_at_most_its_example_and_a_second_run_asks_nothing(tmp_path: Path):
    answers: dict[int, Any] = {
        1: (400, '{"error": {"code": "content_filter", "message": "blocked"}}', {}),
        2: chat(None, finish="content_filter"),
        3: chat(None, refusal="I will not."),
        4: chat("<think>It may be yes", finish="length"),
        5: chat("maybe"),
        6: chat("<think>yes, yes</think>\n```\nno\n```"),
        7: chat("yes", reasoning_content="no, no, no"),
    }
    passing: dict[int, Any] = {
        8: (429, "", {"Retry-After": "0.01"}),
        9: (500, "", {}),
        10: (200, "<html></html>", {}),
        11: (200, '{"choices": [{"me', {"Content-Length": "100"}),
        12: (0, "", {}),
        13: (429, "", {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
    }

    def faulty(request: dict[str, Any]) -> Any:
        row = number(request)
        return passing.pop(row, None) or answers.get(row) or script(request)

    with chatting(faulty) as server:
        given = [row for row in ASKED if row.index % 7 != 3 or row.index == 3]
        model = system(server, tmp_path, PromptOptions(concurrency=3))
        first = model.predict(TASK, given)
        asked = len(server.requests)
        assert asked == 1 + len(given) + 5  # row 10 is not among them
        again = system(server, tmp_path, PromptOptions(concurrency=3))
        second = again.predict(TASK, given)
        assert len(server.requests) == asked
    reasons = {
        given[place].index: reason for place, reason in zip(first.unanswered, first.reasons, strict=True)
    }
    assert reasons == {1: "filtered", 2: "filtered", 3: "refused", 4: "cut off", 5: "not understood"}
    assert (second, second.reasons) == (first, first.reasons)
    counts = {name: again.notes()[name] for name in ("filtered", "refused", "cut_off", "not_understood")}
    assert counts == {"filtered": 2, "refused": 1, "cut_off": 1, "not_understood": 1}
    by_row = {row.index: value for row, value in zip(given, first, strict=True)}
    assert (by_row[6], by_row[7]) == ("not_entailment", "entailment")
    assert all(by_row[row] == EXPECTED[row] for row in by_row if row > 7)


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


@pytest.mark.slow
def test_a_slow_server_is_asked_several_questions_at_a_time(tmp_path: Path):
    import time

    with chatting(script) as server:
        server.latency = 2.0
        start = time.monotonic()
        answers = system(server, tmp_path, PromptOptions(concurrency=20)).predict(TASK, ASKED)
        assert time.monotonic() - start < 20  # one after the other: 42
    assert answers.unanswered == (3, 10, 17)

"""Asking a server: what is tried again, what is not, and that a key is sent but never shown."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from email.utils import formatdate
from typing import Any

import pytest
from systems.adapters.chat_server import Fault, chat, chatting

from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.endpoint import (
    Endpoint,
    RefusedError,
    Reply,
    UnsupportedError,
    chat_reply,
    completion_reply,
)

pytest.importorskip("urllib3", reason="urllib3 is not installed (gluebench[data])")
ASK = {"model": "m", "messages": [{"role": "user", "content": "?"}]}


def endpoint(url: str, waits: list[float] | None = None, **options) -> Endpoint:
    return Endpoint(url, sleep=(waits if waits is not None else []).append, **options)


def test_an_answer_has_text_first_tokens_and_what_it_cost():
    with chatting(lambda _: chat("yes", {"yes": -0.1, "no": -2.5})) as server:
        reply = endpoint(server.address).ask(ASK)
    assert reply[:5] == ("yes", {"yes": -0.1, "no": -2.5}, 50, 2, "stop")
    assert server.paths == ["/v1/chat/completions"]
    assert server.keys == [None]


def test_the_choice_of_index_0_is_the_answer_wherever_it_stands():
    second = {"index": 1, "message": {"content": "no"}, "finish_reason": "stop"}
    first = {"index": 0, "message": {"content": "yes"}, "finish_reason": "stop"}
    assert chat_reply({"choices": [second, first]}).text == "yes"
    assert chat_reply({"choices": [{"message": {"content": "yes"}}]}).text == "yes"


def events(chunks: Sequence[Mapping[str, Any]], *, ending: str = "data: [DONE]\n\n") -> str:
    """A body of server-sent events, with a comment and an event's name as some servers send them."""
    lines = [f"event: message\ndata: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return ": processing\n\n" + "".join(lines) + ending


CHUNKS: list[dict[str, Any]] = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
    {"choices": [{"index": 1, "delta": {"content": "no"}}, {"index": 0, "delta": {"reasoning": "Well"}}]},
    {"choices": [{"index": 0, "delta": {"content": "ye"}, "logprobs": {"content": [
        {"token": "ye", "logprob": -0.3, "top_logprobs": [{"token": "ye", "logprob": -0.3}]}]}}]},
    {"choices": [{"index": 0, "delta": {"content": "s"}, "logprobs": {"content": [
        {"token": "s", "logprob": -0.1, "top_logprobs": [{"token": "s", "logprob": -0.1}]}]}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}},
]  # fmt: skip


def test_a_stream_that_was_not_requested_is_put_together():
    with chatting(lambda _: (200, events(CHUNKS), {"Content-Type": "text/event-stream"})) as server:
        reply = endpoint(server.address).ask(ASK)
    assert reply == Reply("yes", {"ye": -0.3}, 7, 2, "stop", reasoned=True)
    assert len(server.requests) == 1


def test_a_stream_may_end_without_a_reason():
    with chatting(lambda _: (200, events(CHUNKS[:4]), {})) as server:
        reply = endpoint(server.address).ask(ASK)
    assert (reply.text, reply.finish, len(server.requests)) == ("yes", "stop", 1)


@pytest.mark.parametrize(
    "body", [events(CHUNKS[:4], ending=""), events([{"error": {"message": "overloaded"}}]), "data: {"]
)
def test_a_stream_that_breaks_off_is_requested_again(body: str):
    with chatting(lambda _: "yes") as server:
        server.faults = [(200, body, {"Content-Type": "text/event-stream"})]
        assert endpoint(server.address).ask(ASK).text == "yes"
    assert len(server.requests) == 2


def test_what_may_pass_is_asked_again_with_growing_waits_or_as_the_server_says():
    waits: list[float] = []
    with chatting(lambda _: "yes") as server:
        server.faults = [(429, "", {"Retry-After": "7"}), (503, "", {}), (500, "", {}), (502, "", {})]
        assert endpoint(server.address, waits).ask(ASK).text == "yes"
    assert waits[0] == 7.0
    assert 1.0 <= waits[1] <= 2.0 <= waits[2] <= 4.0 <= waits[3] <= 8.0


def test_patience_ends_and_says_how_often_it_asked():
    with chatting(lambda _: "yes") as server:
        server.faults = [(429, '{"error": {"message": "too many"}}', {})] * 9
        with pytest.raises(ModelError, match=r"status 429: too many; asked 3 times"):
            endpoint(server.address, retries=2).ask(ASK)
    assert len(server.requests) == 3


def test_what_will_not_pass_is_not_asked_again():
    with chatting(lambda _: "yes") as server:
        server.faults = [(404, '{"error": "no model m"}', {})]
        with pytest.raises(RefusedError, match="status 404: no model m"):
            endpoint(server.address).ask(ASK)
    assert len(server.requests) == 1


BROKEN = [
    (200, "<html>busy</html>", {}),
    (200, '{"object": "list"}', {}),
    (200, '{"choices": []}', {}),
    (200, '{"error": {"message": "upstream is down", "code": 502}}', {}),
    (200, '{"choices": [{"mess', {"Content-Length": "400"}),
    (0, "", {}),
]


@pytest.mark.parametrize("fault", BROKEN)
def test_whatever_is_no_answer_is_requested_again(fault: Fault):
    with chatting(lambda _: "yes") as server:
        server.faults = [fault]
        assert endpoint(server.address).ask(ASK).text == "yes"
        server.faults = [fault] * 3
        with pytest.raises(ModelError, match="asked 3 times"):
            endpoint(server.address, retries=2).ask(ASK)


def test_a_date_says_when_to_ask_again():
    waits: list[float] = []
    with chatting(lambda _: "yes") as server:
        dates = [formatdate(time.time() + seconds, usegmt=True) for seconds in (30, -30, 9999)]
        server.faults = [(429, "", {"Retry-After": date}) for date in dates]
        endpoint(server.address, waits).ask(ASK)
    assert 25 < waits[0] <= 30  # the second is past, and needs no wait
    assert waits[1:] == [60.0]


def error(code: str, message: str = "no") -> str:
    return json.dumps({"error": {"code": code, "message": message}})


def test_a_spent_quota_is_not_waited_for():
    with chatting(lambda _: "yes") as server:
        server.faults = [(429, error("insufficient_quota", "your quota is spent"), {})]
        with pytest.raises(RefusedError, match="status 429: your quota is spent"):
            endpoint(server.address).ask(ASK)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("response", "finish"),
    [
        ((400, error("content_filter"), {}), "content_filter"),
        (chat(None, finish="content_filter"), "content_filter"),
        (chat(None, refusal="I can't help with that."), "refusal"),
        (chat("Well, the", finish="length"), "length"),
    ],
)
def test_filters_refusals_and_cut_off_answers_are_replies(response: Fault | dict, finish: str):
    with chatting(lambda _: response) as server:
        reply = endpoint(server.address).ask(ASK)
    assert reply.finish == finish
    assert len(server.requests) == 1


def test_reasoning_in_its_own_field_is_noted_and_not_the_answer():
    for field in ("reasoning", "reasoning_content"):
        answer = chat("no", **{field: "It is yes. Or not."})
        answer["usage"]["completion_tokens_details"] = {"reasoning_tokens": 1}
        with chatting(lambda _, answer=answer: answer) as server:
            reply = endpoint(server.address).ask(ASK)
        assert (reply.text, reply.reasoned, reply.tokens_reasoning) == ("no", True, 1)


def test_content_in_parts_is_one_text():
    parts = [{"type": "text", "text": "ye"}, {"type": "text", "text": "s"}]
    with chatting(lambda _: chat(parts)) as server:
        assert endpoint(server.address).ask(ASK).text == "yes"


def test_the_likelihood_of_choices_is_that_of_the_tokens_they_do_not_share():
    def row(index: int, *tokens: tuple[str, float | None]) -> dict:
        names, values = zip(*tokens, strict=True)
        return {"index": index, "logprobs": {"tokens": names, "token_logprobs": values}}

    echoed = {
        "choices": [
            row(1, ("Q", None), (":", -3.0), (" no", -2.0), ("pe", -0.5), (".", -9.0)),
            row(0, ("Q", None), (":", -3.0), (" yes", -1.5), ("!", -9.0)),
        ]
    }
    assert completion_reply(echoed, ["yes", "nope"]).likely == {"yes": -1.5, "nope": -2.5}
    own = {
        "choices": [
            {"index": 0, "prompt_logprobs": [None, {"7": {"logprob": -3.0}}, {"8": {"logprob": -1.5}}]},
            {"index": 1, "prompt_logprobs": [None, {"7": {"logprob": -3.0}}, {"9": {"logprob": -2.5}}]},
        ]
    }
    assert completion_reply(own, ["yes", "no"]).likely == {"yes": -1.5, "no": -2.5}
    lacking = [
        row(place, ("Q", None), (":", -3.0), (answer, -1.0)) for place, answer in enumerate(("yes", "no"))
    ]
    for choices in (
        [{"index": 0, "text": "x"}, {"index": 1}],
        lacking,
    ):  # nothing, or not the token generated
        with pytest.raises(UnsupportedError):
            completion_reply({"choices": choices}, ["yes", "no"])


def test_likelihoods_belong_to_the_choices_by_their_index():
    def row(index: int, word: str, value: float) -> dict[str, Any]:
        return {"index": index, "logprobs": {"tokens": ["Q", word, "!"], "token_logprobs": [None, value, -1]}}

    reply = completion_reply({"choices": [row(1, "no", -4.0), row(0, "yes", -2.0)]}, ["yes", "no"])
    assert reply.likely == {"yes": -2.0, "no": -4.0}
    with pytest.raises(UnsupportedError):  # which row belongs to which prompt is not said
        completion_reply({"choices": [row(0, "no", -4.0), row(0, "yes", -2.0)]}, ["yes", "no"])


def test_no_server_is_an_error():
    with pytest.raises(ModelError, match="cannot be reached"):
        endpoint("http://127.0.0.1:9/v1", retries=0).ask(ASK)


def test_a_redirect_is_not_followed():
    with chatting(lambda _: "yes") as server:
        server.faults = [(307, "", {"Location": "http://127.0.0.1:1/"})]
        with pytest.raises(RefusedError, match="status 307"):
            endpoint(server.address).ask(ASK)


def test_the_key_is_sent_and_an_error_that_repeats_it_does_not_show_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY", "sk-secret")
    with chatting(lambda _: "yes") as server:
        server.faults = [(401, '{"error": {"message": "wrong key sk-secret"}}', {})]
        with pytest.raises(RefusedError) as caught:
            endpoint(server.address, key_variable="MY_KEY").ask(ASK)
    assert server.keys == ["Bearer sk-secret"]
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("localhost:8000", "no address of a server"),
        ("ftp://host/v1", "no address of a server"),
        ("https://user:word@host/v1", "holds a password"),
        ("http://example.org/v1", "unencrypted"),
    ],
)
def test_addresses_that_are_refused(url: str, message: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY", "sk-secret")
    with pytest.raises(ModelError, match=message) as caught:
        Endpoint(url, key_variable="MY_KEY")
    assert "word" not in str(caught.value).replace("password", "")


def test_a_variable_without_a_key_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NO_KEY", raising=False)
    with pytest.raises(ModelError, match="NO_KEY holds no key"):
        Endpoint("https://example.org/v1", key_variable="NO_KEY")

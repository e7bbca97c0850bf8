"""Asking a server: what is tried again, what is not, and that a key is sent but never shown."""

from __future__ import annotations

import pytest
from systems.adapters.chat_server import chat, chatting

from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.endpoint import Endpoint, RefusedError

pytest.importorskip("urllib3", reason="urllib3 is not installed (gluebench[data])")
ASK = {"model": "m", "messages": [{"role": "user", "content": "?"}]}


def endpoint(url: str, waits: list[float] | None = None, **options) -> Endpoint:
    return Endpoint(url, sleep=(waits if waits is not None else []).append, **options)


def test_an_answer_has_text_first_tokens_and_what_it_cost():
    with chatting(lambda _: chat("yes", {"yes": -0.1, "no": -2.5})) as server:
        reply = endpoint(server.address).ask(ASK)
    assert reply == ("yes", {"yes": -0.1, "no": -2.5}, 50, 2)
    assert server.paths == ["/v1/chat/completions"]
    assert server.keys == [None]


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


def test_no_server_and_no_chat_completion_are_told():
    with (
        chatting(lambda _: {"object": "list"}) as server,
        pytest.raises(ModelError, match="no answer of a chat"),
    ):
        endpoint(server.address).ask(ASK)
    with pytest.raises(ModelError, match="cannot be reached"):
        endpoint(server.address, retries=0).ask(ASK)


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

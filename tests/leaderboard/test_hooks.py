"""The undocumented parts of other packages that a site builds on: each is there, and as it was.

Where one is renamed, an override is silently never called. A failure names the hook: adapt the code that uses
it, then raise the upper bound in pyproject.toml.
"""

from __future__ import annotations

import inspect
import socket
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from django.test import RequestFactory
from django_tasks_db.management.commands.db_worker import Worker
from packaging.requirements import Requirement
from waitress import wasyncore
from waitress.parser import HTTPRequestParser
from waitress.receiver import ChunkedReceiver

from gluebench.leaderboard.apps.accounts import adapter, provider
from gluebench.leaderboard.apps.limits import forms
from gluebench.leaderboard.keeping import storage
from gluebench.leaderboard.serving import front

OVERRIDES: dict[type, dict[str, str]] = {
    front.Request: {
        "__init__": "self adj",
        "parse_header": "self header_plus",
        "received": "self data",
        "close": "self",
    },
    front.AnswerTask: {"get_environment": "self", "set_close_on_finish": "self"},
    front.RefusalTask: {"execute": "self"},
    front.Channel: {
        "__init__": "self server sock addr adj map",
        "del_channel": "self map",
        "writable": "self",
        "received": "self data",
        "send": "self data do_close",
        "service": "self",
        "handle_close": "self",
    },
    front.FrontServer: {
        "__init__": "self application map _start _sock dispatcher adj sockinfo bind_socket kw",
        "readable": "self",
        "run": "self",
        "handle_accept": "self",
    },
    adapter.Adapter: {
        "get_login_redirect_url": "self request",
        "send_mail": "self template_prefix email context",
        "confirm_email": "self request email_address",
        "get_email_verification_redirect_url": "self email_address",
        "post_login": "self request user email_verification signal_kwargs email signup redirect_url",
        "_get_login_attempts_cache_key": "self request credentials",
    },
    adapter.SecondFactorAdapter: {"encrypt": "self text", "decrypt": "self encrypted_text"},
    adapter.SignupForm: {"try_save": "self request"},
    adapter.ResetPasswordForm: {"clean_email": "self"},
    provider.OpenID: {"redirect": "self request process next_url data kwargs"},
    provider.SignInAdapter: {
        "pre_social_login": "self request sociallogin",
        "populate_user": "self request sociallogin data",
        "save_user": "self request sociallogin form",
    },
    storage.Folder: {"_save": "self name content"},
    forms.OverrideForm: {
        "__init__": "self data files auto_id prefix initial error_class label_suffix empty_permitted "
        "instance use_required_attribute renderer",
        "clean": "self",
        "_post_clean": "self",
    },
}
"""For each class of the site, the methods of its library that it overrides, with their parameters."""
CHOSEN = {
    front.Channel: ("task_class", "error_task_class", "parser_class"),
    front.FrontServer: ("channel_class",),
}
"""Class attributes by which waitress takes the site's classes for its own."""
USED = {
    "server": "accepting active_channels adj pull_trigger set_socket_options socket task_dispatcher trigger "
    "_map",
    "channel": "adj close_when_flushed outbufs request requests server socket total_outbufs_len will_close",
    "parser": "body_bytes_received body_rcv chunked completed error headers headers_finished",
    "chunks": "control_line trailer",
    "loop": "dispatcher read write",
}
"""Attributes of waitress' objects that `front` reads."""
BOUNDED = (
    *("Django", "django-allauth", "django-ninja", "django-tasks-db", "waitress"),
    "torch",  # systems/weights/pickles.py reads a storage's private bytes
)
PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def inherited(own: type, name: str) -> Any:
    """The library's method or attribute that a class of the site overrides, or None."""
    for base in own.__mro__[1:]:
        is_library = not base.__module__.startswith("gluebench") and base is not object
        if is_library and name in vars(base):
            return vars(base)[name]
    return None


@pytest.mark.parametrize(
    ("own", "name"), [(own, name) for own, methods in OVERRIDES.items() for name in methods]
)
def test_an_overridden_method_is_as_it_was(own: type, name: str) -> None:
    library = own.__mro__[1]
    method = inherited(own, name)
    assert method is not None, f"{library.__module__}.{library.__name__}.{name} is gone: {own} overrides it"
    parameters = " ".join(inspect.signature(method).parameters)
    assert parameters == OVERRIDES[own][name], f"{library.__module__}.{library.__name__}.{name} has changed"


@pytest.mark.parametrize("own", OVERRIDES)
def test_all_overridden_methods_are_listed(own: type) -> None:
    methods = [name for name, value in vars(own).items() if inspect.isfunction(value)]
    overridden = {name for name in methods if inherited(own, name) is not None}
    assert overridden == set(OVERRIDES[own]), f"list the methods that {own} overrides in OVERRIDES"


@pytest.mark.parametrize(("own", "name"), [(own, name) for own, names in CHOSEN.items() for name in names])
def test_waitress_still_asks_for_its_classes_by_this_name(own: type, name: str) -> None:
    assert inherited(own, name) is not None, f"waitress has no {name} any more: {own} sets it"


@pytest.fixture
def objects() -> Iterator[dict[str, Any]]:
    """One of each of the library's objects that the site's server works with."""
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket() as client:
        server = front.FrontServer(lambda environ, start: [], listening, front.ClientLimits())
        client.connect(listening.getsockname())
        server.handle_accept()
        (channel,) = server.active_channels.values()
        parser = HTTPRequestParser(server.adj)
        chunks = ChunkedReceiver(None)
        yield {"server": server, "channel": channel, "parser": parser, "chunks": chunks, "loop": wasyncore}
        channel.drop()
        server.task_dispatcher.shutdown()
        server.close()


@pytest.mark.parametrize("kind", USED)
def test_waitress_still_has_what_the_server_reads(kind: str, objects: dict[str, Any]) -> None:
    missing = [name for name in USED[kind].split() if not hasattr(objects[kind], name)]
    assert not missing, (
        f"waitress' {kind} has no {', '.join(missing)} any more: see leaderboard/serving/front.py"
    )


def test_guesses_of_passwords_are_counted_by_the_site_s_own_key(
    rf: RequestFactory, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """allauth must call the private method: otherwise a visitor's Host header opens another count."""
    asked: list[str] = []

    def key(own: object, request: object, **credentials: str) -> str:
        asked.append(credentials["email"])
        return "a key"

    monkeypatch.setattr(adapter.Adapter, "_get_login_attempts_cache_key", key)
    adapter.Adapter().pre_authenticate(rf.post("/"), email="ada@example.org", password="a guess")
    assert asked == ["ada@example.org"], "allauth no longer calls _get_login_attempts_cache_key"


def test_the_worker_of_the_queue_is_as_it_was() -> None:
    parameters = "self queue_names interval batch backend_name startup_delay max_tasks worker_id"
    expected = f"{parameters} excluded_queue_names".split()
    assert list(inspect.signature(Worker.__init__).parameters) == expected, (
        "see leaderboard/serving/worker.py"
    )
    assert list(inspect.signature(Worker.shutdown).parameters) == ["self", "signum", "frame"]
    assert list(inspect.signature(Worker.configure_signals).parameters) == ["self"]
    assert list(inspect.signature(Worker.run).parameters) == ["self"]
    assert "self.shutdown" in inspect.getsource(Worker.configure_signals), "a signal no longer calls shutdown"


def test_arguments_of_an_operation_can_be_added() -> None:
    ninja = pytest.importorskip("ninja.utils")
    parameters = list(inspect.signature(ninja.contribute_operation_args).parameters)
    assert parameters == ["func", "arg_name", "arg_type", "arg_source"], (
        "see leaderboard/apps/api/organizing.py"
    )


def test_a_stored_tensor_still_has_its_bytes() -> None:
    torch = pytest.importorskip("torch")
    storage_class = torch.storage.TypedStorage
    storage = storage_class(wrap_storage=torch.UntypedStorage(4), dtype=torch.float32, _internal=True)
    assert hasattr(storage, "_untyped_storage"), "see systems/weights/pickles.py"


@pytest.mark.parametrize("name", BOUNDED)
def test_a_package_with_such_a_hook_has_an_upper_bound(name: str) -> None:
    project = tomllib.loads(PROJECT.read_text())["project"]
    found = []
    for group in project["optional-dependencies"].values():
        found += [requirement for requirement in map(Requirement, group) if requirement.name == name]
    assert found, f"{name} is not in pyproject.toml"
    for requirement in found:
        operators = {specifier.operator for specifier in requirement.specifier}
        assert operators & {"<", "<=", "==", "~="}, f"{requirement} takes any later release"
    if name != "torch":  # need not be installed
        assert all(requirement.specifier.contains(version(name)) for requirement in found)

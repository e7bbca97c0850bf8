"""Webhooks: what is told to whom, signatures, attempts, and addresses that are never reached."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.submissions import acts
from gluebench.leaderboard.apps.submissions.grading import grade
from gluebench.leaderboard.apps.webhooks import delivery, sending
from gluebench.leaderboard.apps.webhooks.delivery import MOST_ATTEMPTS, deliver
from gluebench.leaderboard.apps.webhooks.models import MOST_FAILURES, Delivery, Webhook
from gluebench.leaderboard.serving import maintenance

PAGE = "/account/webhooks"
HOST = "receiver.example.org"
INTERNAL = (
    *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
    *(
        "100.64.0.1",
        "192.0.0.8",
        "192.88.99.1",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "239.1.1.1",
        "240.0.0.1",
    ),
    *("255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1"),
    *(
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::1",
        "3fff::1",
        "4000::1",
        "fc00::1",
    ),
    *("fd12::1", "fe80::1", "fe80::1%1", "fec0::1", "ff02::1", "::ffff:8.8.8.8"),
)


class Receiver(BaseHTTPRequestHandler):
    """Answers with the next status that a test has set, and keeps what came."""

    statuses: list[int] = []
    came: list[tuple[dict[str, str], bytes]] = []
    goes_on = threading.Event()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.came.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.goes_on.wait(30)
        status = self.statuses.pop(0) if self.statuses else 204
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "https://127.0.0.1/inside")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate with its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key, name = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)]),
    )
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    file.write_bytes(made.sign(key, hashes.SHA256()).public_bytes(pem) + key.private_bytes(pem, *form))
    return file


@pytest.fixture
def receiver(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a receiver on this machine, which the site takes to be on the public internet."""
    monkeypatch.setattr(sending, "is_public", lambda address: True)
    Receiver.statuses, Receiver.came = [], []
    Receiver.goes_on.set()
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    monkeypatch.setattr(sending, "PORT", server.server_port)
    monkeypatch.setattr(sending, "TLS", ssl.create_default_context(cafile=str(certificate)))
    resolve_to(monkeypatch, "127.0.0.1")
    yield f"https://{HOST}:{server.server_port}/hook?from=gluebench"
    server.shutdown()
    server.server_close()


def resolve_to(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Let names resolve to these addresses, one after another; returns the names that were looked up."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def answer(host: str, port: int, *others: Any, **_: Any) -> Any:
        if others:  # an address already, as `create_connection` passes it
            return real(host, port, *others)
        asked.append(host)
        address = answers[min(len(asked), len(answers)) - 1]
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return asked


@pytest.fixture
def organizer(tiny: Any, person: Callable[[str], User]) -> Client:
    user = person("organizer@example.org")
    tiny.organizers.add(user)
    client = Client()
    client.force_login(user)
    return client


def add(client: Client, url: str, benchmark: Any = "") -> str:
    """Add a webhook on the page; returns its secret."""
    page = client.post(PAGE, {"url": url, "benchmark": benchmark and benchmark.pk})
    assert page.status_code == 200, page.content.decode()
    found = re.search(r"whsec_[^<]+", page.content.decode())
    assert found is not None
    return found[0]


def verified(secret: str, headers: dict[str, str], body: bytes) -> Any:
    """The event, by an independent reading of Standard Webhooks."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert abs(time.time() - int(headers["webhook-timestamp"])) < 60
    assert "." not in headers["webhook-id"]
    return json.loads(body)


def types() -> list[str]:
    return [json.loads(body)["type"] for _, body in Receiver.came]


def later(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    now = timezone.now() + by
    monkeypatch.setattr(timezone, "now", lambda: now)


def test_a_participant_hears_of_own_submissions_once_and_of_no_others(
    receiver: str, tiny: Any, owner: Client, send: Callable[..., Any], person: Callable[[str], User]
) -> None:
    before = send(name="Before")
    grade(before.pk)
    secret = add(owner, receiver)
    mine, other = send(name="Mine"), send(name="Other", owner=person("bob@example.org"))
    broken = send(b"no zip", name="Broken")
    for row in (mine, other, broken):
        grade(row.pk)
    for row in (mine, before):
        acts.publish(row, public=False)
    assert deliver() == 2
    assert deliver() == 0
    events = [verified(secret, *came) for came in Receiver.came]
    assert [(event["type"], event["data"]["key"]) for event in events] == [
        ("submission.graded", mine.key),
        ("submission.invalid", broken.key),
    ]
    assert events[0]["data"] == {"benchmark": "tiny", "key": mine.key, "path": f"/submissions/{mine.key}"}
    assert acts.grade_again(mine, mine.owner, "Corrected labels")
    grade(mine.pk)
    assert deliver() == 1
    assert len({headers["webhook-id"] for headers, _ in Receiver.came}) == 3


def test_an_organizer_hears_of_all_and_no_longer_without_the_role(
    receiver: str, tiny: Any, organizer: Client, owner: Client, graded: Callable[..., Any], client: Client
) -> None:
    assert owner.post(PAGE, {"url": receiver, "benchmark": tiny.pk}).status_code == 422
    secret = add(organizer, receiver, tiny)
    graded()
    organizer.post("/benchmarks/tiny/organize/news", {"title": "News", "text": "T"})
    now = timezone.now()
    Phase.objects.create(
        benchmark=tiny, name="Old", opens=now - timedelta(days=9), closes=now - timedelta(days=8)
    )
    Webhook.objects.update(created=now - timedelta(days=20))
    Phase.objects.create(
        benchmark=tiny, name="Test", opens=now - timedelta(hours=2), closes=now - timedelta(hours=1)
    )
    Phase.objects.create(benchmark=tiny, name="Next", opens=now + timedelta(hours=1))
    deliver()
    assert deliver() == 0
    expected = ["submission.graded", "announcement.published", "phase.opened", "phase.closed"]
    assert sorted(types()) == sorted(expected)
    for came in Receiver.came:
        assert verified(secret, *came)["data"]["benchmark"] == "tiny"
    tiny.organizers.clear()
    graded(name="Later")
    assert deliver() == 0
    page = organizer.get(PAGE).content.decode()
    assert "announcement_published_" in page
    assert ">204<" in page


def test_failures_are_tried_again_later_and_end(
    receiver: str, owner: Client, graded: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    add(owner, receiver)
    graded()
    Receiver.statuses = [500, 302, 204]
    pauses = []
    for attempt in range(3):
        assert deliver() == 1
        assert deliver() == 0, "not before its time"
        row = Delivery.objects.get()
        assert row.attempts == attempt + 1
        if row.due:
            pauses.append((row.due - timezone.now()).total_seconds())
            later(monkeypatch, row.due - timezone.now())
    assert [round(pause / 30) for pause in pauses] == [1, 5]
    assert (row.due, row.answer, len(Receiver.came)) == (None, "204", 3), "no redirect was followed"
    assert len({headers["webhook-id"] for headers, _ in Receiver.came}) == 1
    assert Webhook.objects.get().failures == 0
    graded(name="Never taken")
    Receiver.statuses = [503] * 99
    for _ in range(MOST_ATTEMPTS + 2):
        deliver()
        later(monkeypatch, timedelta(days=2))
    row = Delivery.objects.first()
    assert row is not None
    assert (row.attempts, row.due) == (MOST_ATTEMPTS, None)


def test_a_dead_receiver_is_stopped_and_restarted_by_its_owner(
    receiver: str, owner: Client, graded: Callable[..., Any]
) -> None:
    add(owner, receiver)
    Webhook.objects.update(failures=MOST_FAILURES - 1)
    graded()
    Receiver.statuses = [500]
    assert deliver() == 1
    assert "it failed too often" in owner.get(PAGE).content.decode()
    graded(name="Unheard")
    assert Delivery.objects.count() == 1
    Delivery.objects.update(due=timezone.now())
    assert deliver() == 0
    owner.post(f"{PAGE}/{Webhook.objects.get().pk}", {"action": "test"})
    assert deliver() == 2
    assert types()[-1] == "test"
    for _ in range(3):
        owner.post(f"{PAGE}/{Webhook.objects.get().pk}", {"action": "test"})
    assert types().count("test") == 1
    assert Delivery.objects.filter(event__startswith="test_").count() == 1  # one a minute
    Receiver.statuses = [410]
    graded(name="Unwanted")
    deliver()
    assert Webhook.objects.get().is_stopped


def test_webhooks_take_turns(
    tiny: Any, ada: User, person: Callable[[str], User], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow or busy receiver holds up another's event by one request, not by all of its own."""
    busy, other, late = (
        Webhook.objects.create(owner=owner, url=f"https://{name}.example.org/", created=timezone.now())
        for name, owner in (("busy", ada), ("other", person("bob@example.org")), ("late", ada))
    )
    reached: list[str] = []

    def post(url: str, *_: Any) -> int:
        reached.append(url.removeprefix("https://").partition(".")[0])
        if len(reached) == 3:  # an event that comes while the queue is long
            Delivery.objects.create(webhook=late, event="0", body="{}")
        if "busy" in url:
            raise TimeoutError
        return 204

    monkeypatch.setattr(delivery, "post", post)
    before = timezone.now() - timedelta(minutes=1)
    for webhook, events in ((busy, 30), (other, 2)):
        rows = [Delivery(webhook=webhook, event=str(at), body="{}", due=before) for at in range(events)]
        Delivery.objects.bulk_create(rows)
    assert deliver() == MOST_FAILURES + 3
    assert reached[:6] == ["busy", "other", "busy", "other", "busy", "late"]
    assert {*reached[6:]} == {"busy"}
    assert deliver() == 0, "it failed too often"


def test_a_worker_that_dies_leaves_its_attempt_to_another(
    receiver: str, owner: Client, graded: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    add(owner, receiver)
    graded()

    def die(*_: Any) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(delivery, "post", die)
        with pytest.raises(KeyboardInterrupt):
            deliver()
    assert deliver() == 0
    later(monkeypatch, timedelta(minutes=1))
    maintenance.send_all()
    assert types() == ["submission.graded"]


@pytest.mark.parametrize("address", INTERNAL)
def test_an_internal_address_is_never_connected_to(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_to(monkeypatch, address)
    monkeypatch.setattr(socket, "create_connection", lambda *_: pytest.fail("it connected"))
    with pytest.raises(ValueError, match="no address on the public internet"):
        sending.post(f"https://{HOST}/", {}, b"")


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "localhost", "[::1]", "[::ffff:7f00:1]"])
def test_other_spellings_of_this_machine_are_refused(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_connection", lambda *_: pytest.fail("it connected"))
    with pytest.raises((ValueError, OSError)):
        sending.post(f"https://{host}/", {}, b"")


def test_a_name_with_one_internal_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [(2, 1, 6, "", (address, 443)) for address in ("93.184.215.14", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    with pytest.raises(ValueError, match="no address on the public internet"):
        sending.post(f"https://{HOST}/", {}, b"")


@pytest.mark.parametrize("public", ["93.184.215.14", "2606:4700::1111"])
def test_a_name_is_resolved_once_and_its_address_connected_to(
    public: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = resolve_to(monkeypatch, public, "127.0.0.1")
    reached = []

    def connect(address: tuple[str, int], timeout: float) -> Any:
        reached.append(address)
        raise OSError("no network in tests")

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(OSError, match="no network in tests"):
        sending.post(f"https://{HOST}/", {}, b"")
    assert (asked, reached) == ([HOST], [(public, 443)])


def test_a_certificate_of_another_name_is_refused(receiver: str) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        sending.post(receiver.replace(HOST, "other.example.org"), {}, b"")
    assert Receiver.came == []


@pytest.mark.parametrize("silent", [True, False])
def test_a_slow_receiver_is_left_in_time(
    receiver: str, silent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SECONDS", 0.3)
    Receiver.goes_on.clear()
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        if silent:
            monkeypatch.setattr(sending, "PORT", mute.getsockname()[1])
        with pytest.raises(OSError):
            sending.post(f"https://{HOST}/" if silent else receiver, {}, b"")
    Receiver.goes_on.set()


@pytest.mark.parametrize(
    "url",
    [
        *("http://receiver.example.org/", "https://user:word@receiver.example.org/", "ftp://example.org/"),
        *("https://receiver.example.org:8443/", "https://receiver.example.org:22/", "https:///path", "x"),
    ],
)
def test_an_address_of_another_form_is_refused_on_the_page(db: None, owner: Client, url: str) -> None:
    assert owner.post(PAGE, {"url": url}).status_code == 422
    assert not Webhook.objects.exists()


def test_the_log_the_export_and_the_end_of_an_account(
    receiver: str, tiny: Any, organizer: Client, ada: User, owner: Client
) -> None:
    from gluebench.leaderboard.apps.webhooks.models import export_webhooks, forget_deliveries

    add(organizer, receiver, tiny)
    entry = Entry.objects.get(action="webhook")
    assert HOST not in json.dumps(entry.detail)
    webhook = Webhook.objects.get()
    assert owner.post(f"{PAGE}/{webhook.pk}", {"action": "delete"}).status_code == 404
    assert export_webhooks(user=webhook.owner)["webhooks"][0]["url"] == receiver
    organizer.post(f"{PAGE}/{webhook.pk}", {"action": "test"})
    Delivery.objects.update(created=timezone.now() - timedelta(days=31))
    forget_deliveries()
    assert not Delivery.objects.exists()
    organizer.post(f"{PAGE}/{webhook.pk}", {"action": "delete"})
    assert not Webhook.objects.exists()
    for number in range(10):
        add(owner, f"{receiver}&number={number}")
    assert owner.post(PAGE, {"url": receiver}).status_code == 422

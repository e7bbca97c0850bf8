"""What the front lets slow clients do: over real sockets, by a clock that the test moves."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from waitress import wasyncore

from gluebench.leaderboard.serving.front import (
    CHUNK_LINES,
    PIPELINED,
    BodyQuota,
    ClientLimits,
    FrontServer,
    Request,
    network_of,
)

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
LONG = 30_000_000
"""More than the system takes from the server before the client has read any of it."""


def post(length: int) -> bytes:
    return f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n".encode()


class Site:
    """A front whose loop runs only while the test asks for something."""

    def __init__(self, **changed: Any) -> None:
        self.now = 1000.0
        self.proceed = threading.Event()
        self.proceed.set()
        listening = socket.create_server(("127.0.0.1", 0))
        self.address = listening.getsockname()
        start_from = changed.pop("start_from", "")
        self.front = FrontServer(
            self.answer,
            listening,
            ClientLimits(**changed),
            start_from=start_from,
            headers=[("X-Frame-Options", "DENY")],
            clock=lambda: self.now,
            threads=2,
            send_bytes=65536,
            recv_bytes=262144,
            outbuf_high_watermark=2**62,
            max_request_body_size=10_000_000,
        )
        self.clients: list[socket.socket] = []

    def answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        """The length of the body that came, or a long page."""
        self.proceed.wait(20)
        size = len(environ["wsgi.input"].read())
        page = b"x" * LONG if environ["PATH_INFO"] == "/long" else str(size).encode()
        start("200 OK", [("Content-Length", str(len(page)))])
        return [page]

    def client(self, first: bytes = b"", *, address: str = "127.0.0.1") -> socket.socket:
        """Somebody who connected and sent this, which the front has read."""
        made = socket.socket()
        self.clients.append(made)
        made.settimeout(0.01)
        made.bind((address, 0))
        made.connect(self.address)
        made.sendall(first)
        self.turn()
        return made

    def turn(self, number: int = 4) -> None:
        for _ in range(number):
            self.front.turn(0.001)

    def wait(self, seconds: int) -> None:
        """Let so much time pass, by the front's clock."""
        for _ in range(seconds):
            self.now += 1
            self.turn()

    def until(self, true: Callable[[], Any]) -> Any:
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if found := true():
                return found
            self.front.turn(0.01)
        raise AssertionError("it did not come true in time")

    def heard(self, client: socket.socket) -> bytes:
        """What the client was answered: a whole head and a body without the next answer."""
        got = b""

        def more() -> bool:
            nonlocal got
            with contextlib.suppress(TimeoutError):
                got += client.recv(65536)
            return b"\r\n\r\n" in got

        self.until(more)
        return got

    def open(self, client: socket.socket) -> bool:
        """Whether the server has not closed."""
        self.turn()
        try:
            return bool(client.recv(1, socket.MSG_PEEK))
        except TimeoutError:
            return True
        except ConnectionResetError:
            return False


@pytest.fixture
def make() -> Iterator[Callable[..., Site]]:
    made: list[Site] = []

    def site(**changed: Any) -> Site:
        made.append(Site(**changed))
        return made[-1]

    yield site
    for each in made:
        each.proceed.set()
        for client in each.clients:
            client.close()
        each.front.stop()
        each.now += 1e6
        each.front.run()
        wasyncore.close_all(each.front._map)


@pytest.fixture
def site(make: Callable[..., Site]) -> Site:
    return make()


def test_the_application_reads_when_a_request_began_and_no_client_can_set_it(site: Site) -> None:
    seen: list[dict[str, Any]] = []
    answer = site.answer
    site.front.application = lambda environ, start: seen.append(environ) or answer(environ, start)
    before = time.time()
    forged = b"Gluebench.Began: 1\r\ngluebench_began: 1\r\nX-Request-Start: 1\r\n"
    client = site.client(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n" + forged)
    headless = time.time()
    client.sendall(b"\r\nab")
    site.turn()
    begun = time.time()
    time.sleep(0.05)
    client.sendall(b"cd")
    site.heard(client)
    assert before <= headless <= seen[0]["gluebench.began"] <= begun < time.time() - 0.04
    assert {value for name, value in seen[0].items() if "BEGAN" in name.upper() and "HTTP" in name} <= {"1"}


@pytest.mark.parametrize("trusted", ["127.0.0.1", "*"])
def test_a_trusted_proxy_says_when_a_request_began(make: Callable[..., Site], trusted: str) -> None:
    site = make(start_from=trusted)
    now = time.time()
    for said, expected in (
        (f"{now - 30:.3f}", now - 30),
        (f"{now:.3f} 42.125", now - 42.125),
        (f"{1000 * (now - 30):.0f}", now - 30),
        (f"{now + 3600:.3f}", now),  # a proxy whose clock is ahead
        ("", now),
        ("yesterday", now),
        (f"{now:.3f} 1 2", now),
        (f"-{now:.3f}", now),
        ("9" * 400, now),
    ):
        assert began_of(site, said) == pytest.approx(expected, abs=20), said


@pytest.mark.parametrize("trusted", ["", "127.0.0.2", "10.0.0.5"])
def test_nobody_else_can_say_when_a_request_began(make: Callable[..., Site], trusted: str) -> None:
    site = make(start_from=trusted)
    now = time.time()
    for said in (f"{now - 300:.3f}", f"{now:.3f} 300", f"{1000 * (now - 300):.0f}"):
        assert began_of(site, said) >= now


def began_of(site: Site, said: str) -> float:
    """When the application reads that a request began, whose header says this."""
    seen: list[dict[str, Any]] = []
    answer = site.answer
    site.front.application = lambda environ, start: seen.append(environ) or answer(environ, start)
    client = site.client(f"GET / HTTP/1.1\r\nHost: a\r\nX-Request-Start: {said}\r\n\r\n".encode())
    site.heard(client)
    site.front.application = answer
    began: float = seen[0]["gluebench.began"]
    return began


@pytest.mark.parametrize(
    ("version", "more"),
    [
        ("1.1", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
        ("1.1", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
        ("1.0", "Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n"),
    ],
)
def test_a_body_of_two_lengths_is_refused_and_the_connection_closed(
    site: Site, version: str, more: str
) -> None:
    client = site.client(f"POST / HTTP/{version}\r\nHost: a\r\n{more}\r\n0\r\n\r\n".encode() + GET)
    answer = site.heard(client)
    site.until(lambda: not site.open(client))
    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.0 400 "))
    assert answer.count(b"HTTP/1.") == 1, "the second request is not read"


def test_a_head_has_its_time_whatever_trickles(site: Site) -> None:
    slow = site.client(b"GET / HTTP/1.1\r\n")
    for second in range(8):
        assert site.open(slow), second
        slow.sendall(b"X-Header: more\r\n")
        site.wait(1)
    site.wait(1)
    assert not site.open(slow)
    assert site.heard(site.client(GET)).startswith(b"HTTP/1.1 200")


def test_empty_lines_buy_no_time(site: Site) -> None:
    slow = site.client()
    for _ in range(12):
        with contextlib.suppress(OSError):
            slow.sendall(b"\r\n")
        site.wait(1)
    assert not site.open(slow)


def test_a_further_head_on_a_kept_connection_has_the_same_time(site: Site) -> None:
    client = site.client(GET)
    site.heard(client)
    site.wait(7)
    client.sendall(b"GET / HTTP/1.1\r\n")
    site.turn()
    site.wait(7)
    assert site.open(client)
    site.wait(3)
    assert not site.open(client)


def test_a_connection_that_is_used_is_kept(site: Site) -> None:
    client = site.client()
    for _ in range(5):
        client.sendall(GET)
        assert b"200 OK" in site.heard(client)
        site.wait(9)
        assert site.open(client)
    site.wait(9)
    assert not site.open(client)


@pytest.mark.parametrize(("pace", "arrives"), [(1_000, False), (2_500, True), (50_000, True)])
def test_a_body_keeps_a_pace(site: Site, pace: int, arrives: bool) -> None:
    size = 100 * pace
    client = site.client(post(size))
    for _ in range(100):
        with contextlib.suppress(OSError):
            client.sendall(b"x" * pace)
        site.wait(1)
    assert site.open(client) is arrives
    if arrives:
        assert site.heard(client).endswith(f"\r\n\r\n{size}".encode())


@pytest.mark.parametrize(("pause", "arrives"), [(25, True), (40, False)])
def test_who_was_fast_may_pause(site: Site, pause: int, arrives: bool) -> None:
    client = site.client(post(1_000_001))
    for _ in range(10):
        client.sendall(b"x" * 100_000)
        site.turn()
    site.wait(1 + pause)
    assert site.open(client) is arrives


def test_the_servers_own_time_is_not_the_clients(site: Site) -> None:
    site.proceed.clear()
    client = site.client(GET)
    site.until(lambda: site.front.answering)
    site.wait(100)
    site.proceed.set()
    assert site.heard(client).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(("pace", "stays"), [(0, False), (100_000, True)])
def test_an_answer_is_read_at_a_pace(site: Site, pace: int, stays: bool) -> None:
    client = site.client(GET.replace(b"/", b"/long", 1))
    assert b"200 OK" in site.heard(client)
    site.until(lambda: not site.front.answering)  # the test's clock must not run while the thread works
    for _ in range(40):
        with contextlib.suppress(TimeoutError):
            for _ in range(pace * 5 // 65536):
                client.recv(65536)
        site.wait(1)
    assert bool(site.front.active_channels) is stays


def test_who_does_not_read_holds_no_thread(site: Site) -> None:
    """There are two threads; pipelined answers used to wait in them for the client to read."""
    for _ in range(4):
        site.client(GET.replace(b"/", b"/long", 1) * 3)
    assert site.heard(site.client(GET)).startswith(b"HTTP/1.1 200")


def test_unread_answers_have_a_bound_together(make: Callable[..., Site]) -> None:
    site = make(unread_bytes=3 * LONG)
    lazy = [site.client(GET.replace(b"/", b"/long", 1)) for _ in range(4)]
    site.until(lambda: not site.front.answering)
    assert len(site.front.active_channels) == len(lazy)
    site.wait(2)
    assert 0 < len(site.front.active_channels) < len(lazy)


def test_many_pipelined_requests_are_not_taken(site: Site) -> None:
    site.proceed.clear()
    client = site.client(GET * (PIPELINED + 5))
    assert not site.open(client)


def test_of_one_address_the_oldest_unfinished_goes(make: Callable[..., Site]) -> None:
    site = make(per_address=4)
    slow = []
    for _ in range(5):
        slow.append(site.client(b"GET / HTTP/1.1\r\n"))
        site.now += 0.1
    other = site.client(b"GET / HTTP/1.1\r\n", address="127.0.0.9")
    assert [site.open(each) for each in slow] == [False, True, True, True, True]
    assert site.open(other)
    assert site.heard(site.client(GET)).startswith(b"HTTP/1.1 200")


def test_addresses_of_ipv4_on_a_socket_for_both_kinds_are_counted_apart() -> None:
    mapped = [f"::ffff:192.0.2.{host}" for host in (1, 2)]
    assert [network_of(address) for address in mapped] == ["192.0.2.1", "192.0.2.2"]
    lines = ["2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1", "fe80::1%eth0"]
    assert [network_of(address) for address in lines] == [
        *("2001:db8:0:1::/64", "2001:db8:0:1::/64", "2001:db8:0:2::/64", "fe80::/64"),
    ]


def test_behind_a_proxy_an_address_has_no_cap(make: Callable[..., Site]) -> None:
    site = make(per_address=None)
    slow = [site.client(b"GET / HTTP/1.1\r\n") for _ in range(80)]
    site.client()
    assert all(site.open(each) for each in slow[:3])


def test_when_crowded_the_oldest_unfinished_goes_and_an_upload_that_moves_stays(
    make: Callable[..., Site],
) -> None:
    site = make(connections=6, per_address=None)
    upload = site.client(post(300_001))
    upload.sendall(b"x" * 300_000)
    site.turn()
    site.wait(1)
    slow = []
    for _ in range(10):
        slow.append(site.client(b"GET / HTTP/1.1\r\n"))
        site.now += 0.1
    assert site.heard(site.client(GET)).startswith(b"HTTP/1.1 200")
    kept = [site.open(each) for each in slow]
    assert kept == sorted(kept)
    assert 0 < sum(kept) < 6
    upload.sendall(b"x")
    assert site.heard(upload).endswith(b"\r\n\r\n300001")


def test_what_is_being_answered_is_not_dropped(make: Callable[..., Site]) -> None:
    site = make(connections=3, per_address=2)
    site.proceed.clear()
    asking = [site.client(GET) for _ in range(2)]
    for _ in range(6):
        site.client(b"GET / HTTP/1.1\r\n")
    site.proceed.set()
    assert all(site.heard(each).startswith(b"HTTP/1.1 200") for each in asking)


def test_many_that_wait_are_accepted_in_few_turns(site: Site) -> None:
    for _ in range(200):
        made = socket.create_connection(site.address)
        site.clients.append(made)
    site.front.limits = site.front.limits._replace(per_address=None)
    site.turn(25)
    assert len(site.front.active_channels) == 200


def test_unfinished_bodies_have_a_bound_together(make: Callable[..., Site]) -> None:
    site = make(body_bytes=1_000_000)
    first = site.client(post(800_001))
    first.sendall(b"x" * 800_000)
    site.turn(8)
    second = site.client(post(5_000_000))
    sent = 0
    while sent < 5_000_000:  # the rest is read and thrown away, so that the answer arrives
        with contextlib.suppress(TimeoutError):
            sent += second.send(b"x" * min(100_000, 5_000_000 - sent))
        site.turn(1)
    refusal = site.heard(second)
    assert refusal.startswith(b"HTTP/1.1 503")
    assert b"\r\nRetry-After: " in refusal
    assert b"\r\nX-Frame-Options: DENY" in refusal
    first.sendall(b"x")
    assert site.heard(first).endswith(b"\r\n\r\n800001")
    third = site.client(post(900_000))
    third.sendall(b"x" * 900_000)
    assert site.heard(third).endswith(b"\r\n\r\n900000")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_a_body_that_the_disk_has_no_room_for_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.TemporaryFile", partial(open, "/dev/full"))
    client = site.client(post(2_000_000))
    sent = 0
    while sent < 2_000_000:
        with contextlib.suppress(TimeoutError):
            sent += client.send(b"x" * min(100_000, 2_000_000 - sent))
        site.turn(1)
    refusal = site.heard(client)
    assert refusal.startswith(b"HTTP/1.1 507 Insufficient Storage\r\n")
    assert b"\r\nX-Frame-Options: DENY" in refusal
    client.shutdown(socket.SHUT_WR)
    site.until(lambda: not site.front.active_channels)
    assert site.heard(site.client(post(3) + b"abc")).endswith(b"\r\n\r\n3")


def test_a_dropped_body_frees_its_room(make: Callable[..., Site]) -> None:
    site = make(body_bytes=1_000_000)
    gone = site.client(post(900_000))
    gone.sendall(b"x" * 800_000)
    site.turn(8)
    gone.close()
    site.until(lambda: not site.front.active_channels)
    again = site.client(post(800_000))
    again.sendall(b"x" * 800_000)
    assert site.heard(again).endswith(b"\r\n\r\n800000")


def test_a_chunks_size_line_and_a_trailer_have_a_bound(site: Site) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    for endless in (b"5;" + b"x" * 20_000, b"0\r\n" + b"X: y\r\n" * 4_000):
        assert site.heard(site.client(head + endless)).startswith(b"HTTP/1.1 400")
    assert site.heard(site.client(head + b"3\r\nabc\r\n" * 9000 + b"0\r\n\r\n")).endswith(b"27000")


def test_small_chunks_are_read_in_small_pieces(site: Site) -> None:
    """The library copies all the rest of a piece after each chunk."""
    request = Request(BodyQuota(10**9), site.front.adj)
    request.received(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert request.received(b"1\r\nx\r\n" * 40_000) <= CHUNK_LINES


def test_stopping_finishes_what_is_under_way_and_takes_nothing_new(site: Site) -> None:
    idle, upload = site.client(), site.client(post(3))
    upload.sendall(b"ab")
    site.turn()
    site.front.stop()
    site.turn()
    assert not site.open(idle)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(site.address)
    upload.sendall(b"c")
    assert site.heard(upload).endswith(b"\r\n\r\n3")
    site.front.run()
    assert not site.front.active_channels


def test_stopping_has_its_time_too(make: Callable[..., Site]) -> None:
    site = make(stop_seconds=60)
    upload = site.client(post(10**6))
    upload.sendall(b"x" * 900_000)
    site.turn(8)
    site.front.stop()
    for _ in range(20):
        site.wait(1)
    assert site.open(upload)
    site.now += 60
    site.front.run()  # returns


def test_the_wall_clock_has_no_say(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 0.0)  # set back by decades
    slow = site.client(b"GET / HTTP/1.1\r\n")
    site.wait(9)
    assert not site.open(slow)

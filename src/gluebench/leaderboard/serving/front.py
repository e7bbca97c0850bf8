"""Waitress server that withstands slow clients: each connection has a deadline, all together have limits.

Independent of Django. A client that keeps the server waiting is dropped at its deadline, or earlier if there
are too many: the one with the least time left first. docs/reference/limits.md lists the limits.
"""

from __future__ import annotations

import errno
import heapq
import ipaddress
import re
import selectors
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from operator import attrgetter
from typing import Any, NamedTuple

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.buffers import OverflowableBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, WSGITask
from waitress.utilities import Error, logger

ACCEPTS = 64
"""Most connections accepted in one turn of the loop: with one per turn, visitors wait behind an attacker's.
A loop with few connections accepts fewer, so that several processes on one socket share them."""
UNSENT = 131072
"""Bytes of an answer that the kernel may buffer: with more, a slow reader's pace could not be measured."""
PIPELINED = 16
"""Requests a client may send ahead of its answers. Browsers and proxies send none."""
CHUNK_LINES = 8192
"""Bytes of a chunked body read at once, since waitress copies the rest after each chunk; and the most that
its size lines and trailer may take."""
BEGAN = "gluebench.began"
"""When a request began, in the environment of WSGI: seconds since 1970."""
START_HEADER = "X_REQUEST_START"
"""Header by which a proxy says when a request began, as waitress names it."""
_START = re.compile(r"(\d{9,13}(?:\.\d{1,6})?)(?: (\d{1,6}(?:\.\d{1,6})?))?")
READING, IDLE, HEAD, BODY = range(4)
"""Stages of a connection: the server waits for an answer to be read, for a request, its head, its body."""


class ClientLimits(NamedTuple):
    """Limits on clients. `body_bytes` and `unread_bytes` are for all clients together."""

    connections: int = 1000
    per_address: int | None = 64
    seconds: float = 8.0
    """For a whole head, and before the pace of a body or of the reading of an answer counts."""
    idle_seconds: float = 10.0
    bytes_per_second: int = 2000
    credit_seconds: float = 30.0
    """The longest pause that a client which was fast before may make."""
    body_bytes: int = 512 * 1024**2
    unread_bytes: int = 128 * 1024**2
    stop_seconds: float = 360.0


class BodyQuota:
    """Bytes available for bodies: the loop reserves them, the answering threads give them back."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._lock = threading.Lock()

    def reserve(self, size: int) -> bool:
        """Reserve `size` bytes and return whether there was room; a negative size gives bytes back."""
        with self._lock:
            fits = size <= self._free
            if fits:
                self._free -= size
        return fits


class Request(HTTPRequestParser):  # type: ignore[misc]
    """A request that is being received; its body reserves bytes in the store until it is closed."""

    error: Error | None = None
    began: float | None = None
    """When its head was complete, in seconds since 1970."""

    def __init__(self, store: BodyQuota, adj: Adjustments) -> None:
        super().__init__(adj)
        self._store = store
        self._taken = 0

    def parse_header(self, header_plus: bytes) -> None:
        """Read the head. Raises ParsingError if it gives two lengths of the body (RFC 9112, 6.1 and 6.3)."""
        super().parse_header(header_plus)
        encoded = self.chunked or "TRANSFER_ENCODING" in self.headers  # HTTP/1.0 has no such header
        if encoded and ("CONTENT_LENGTH" in self.headers or self.version == "1.0"):
            raise ParsingError("The head has both Content-Length and Transfer-Encoding.")

    def received(self, data: bytes) -> int:
        """Parse `data`; return how many bytes belong to this request: all of them once it is refused."""
        try:
            used: int = super().received(data[:CHUNK_LINES] if self.chunked else data)
            if self.began is None and self.headers_finished:
                self.began = time.time()
            self.error = self.error or self._excess()
        except OSError as error:
            logger.error("A request's body could not be kept: %s", error)
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            why = "The disk is full." if full else "The site cannot write to its disk."
            self.error = _error(HTTPStatus.INSUFFICIENT_STORAGE, f"{why} Try again later.")
        if self.error is None:
            return used
        self.completed = True
        return len(data)

    def _excess(self) -> Error | None:
        more = self.body_bytes_received - self._taken
        if not self._store.reserve(more):
            return _error(HTTPStatus.SERVICE_UNAVAILABLE, "Too many uploads are under way.")
        self._taken += more
        lines = [getattr(self.body_rcv, name, b"") for name in ("control_line", "trailer")]
        if sum(map(len, lines)) > CHUNK_LINES:
            return _error(HTTPStatus.BAD_REQUEST, "A chunk's size line or the trailer is too long.")
        return None

    def close(self) -> None:
        """Free the body and its room."""
        self._store.reserve(-self._taken)
        self._taken = 0
        with suppress(OSError):  # a file that could not be written cannot be flushed either
            super().close()


class AnswerTask(WSGITask):  # type: ignore[misc]
    """Keeps the connection after an answer without a body; the library would close it after each 304.

    It tells the application when the request began, under a name that no header of a client can have: when
    its head was complete, or when it came to the proxy, if the proxy is trusted to say so.
    """

    def get_environment(self) -> dict[str, Any]:
        """The environment of WSGI with `BEGAN`."""
        environ: dict[str, Any] = super().get_environment()
        environ[BEGAN] = self.request.began
        if self.channel.server.start_from in (environ["REMOTE_ADDR"], "*"):
            start = request_start(self.request.headers.get(START_HEADER, ""))
            if start is not None:
                environ[BEGAN] = min(start, self.request.began)
        return environ

    def set_close_on_finish(self) -> None:
        """Close after this answer, unless its lack of a length is the only reason."""
        closes = self.request.headers.get("CONNECTION", "").lower() == "close"
        if self.has_body or closes or self.version != "1.1":
            super().set_close_on_finish()


def request_start(text: str) -> float | None:
    """When a request began, in seconds since 1970; None if the header does not say.

    The header has a moment, in seconds or milliseconds since 1970, and may have the seconds to subtract from
    it: nginx has no variable of a request's start, but the present moment and how long the request took.
    """
    match = _START.fullmatch(text.strip())
    if match is None:
        return None
    moment = float(match[1])
    if moment > 1e11:  # in milliseconds
        moment /= 1000
    return moment - float(match[2] or 0)


class RefusalTask(ErrorTask):  # type: ignore[misc]
    """A refusal by the server itself, with the security headers that every answer of the site has."""

    def execute(self) -> None:
        """Send it, and close only after the client did: closing while it sends would destroy the answer."""
        self.response_headers += self.channel.server.headers
        if self.request.error.code == HTTPStatus.SERVICE_UNAVAILABLE:
            self.response_headers.append(("Retry-After", "30"))
        self.channel.refused = True
        super().execute()


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection that gives its client a deadline, which moves with each byte."""

    task_class = AnswerTask
    error_task_class = RefusalTask
    served = sent = watched = _moved = 0
    refused = lingering = False
    _stage = (0, HEAD)

    def __init__(
        self, server: FrontServer, sock: socket.socket, addr: Any, adj: Adjustments, **more: Any
    ) -> None:
        self.parser_class = partial(Request, server.store)
        self.neighbors = server.addresses[network_of(addr[0])]
        self.deadline = server.clock() + server.limits.seconds
        super().__init__(server, sock, addr, adj, **more)
        self.neighbors.add(self)

    def del_channel(self, map: Any = None) -> None:
        """Remove the connection, and free what has arrived of its request."""
        self.server.forget(self)
        self.neighbors.discard(self)
        if self.request is not None:
            self.request.close()
        super().del_channel(map)

    def _to_send(self) -> bool:
        unsent = self.total_outbufs_len
        return unsent > 0 and (not self.requests or unsent >= self.adj.send_bytes)

    def writable(self) -> bool:
        """Whether to send or to close."""
        return self.will_close or self.close_when_flushed or self._to_send()

    def received(self, data: bytes) -> None:
        """Process what arrived; after a refusal, discard it."""
        if not self.lingering:
            super().received(data)
        if len(self.requests) > PIPELINED:
            self.drop()

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Send what the client has room for; return how many bytes. Only the loop's thread closes it."""
        number: int = super().send(data, do_close and threading.get_ident() == self.server.thread)
        self.sent += number
        return number

    def service(self) -> None:
        """Answer the first request, in a thread."""
        self.sent = 0
        self.served += 1
        super().service()

    def handle_close(self) -> None:
        """Close; after a refusal only once the client has, or its time is over."""
        if self.refused and not self.lingering and self.socket is not None:
            self.lingering = True
            self.will_close = False
            self.deadline = self.server.clock() + self.server.limits.seconds
            with suppress(OSError):  # the client is gone
                self.socket.shutdown(socket.SHUT_WR)
                return
        super().handle_close()

    def drop(self) -> None:
        """Close at once."""
        self.refused = False
        self.handle_close()

    def late(self, now: float) -> bool:
        """Update the client's deadline, and return whether it has passed."""
        limits = self.server.limits
        if self.lingering:
            return now > self.deadline
        stage = HEAD
        moved = 0  # bytes of what the client sends or reads at this stage
        if self._to_send():
            stage = READING
            moved = self.sent
        elif self.requests:  # it waits for the server
            self.deadline = now + limits.seconds
            return False
        elif self.request is None:
            stage = IDLE
        elif self.request.headers_finished:
            stage = BODY
            moved = self.request.body_bytes_received
        if (self.served, stage) > self._stage:
            self._stage = (self.served, stage)
            self._moved = 0
            self.deadline = now + (limits.idle_seconds if stage == IDLE else limits.seconds)
        seconds = max(0, moved - self._moved) / limits.bytes_per_second
        self._moved = moved
        self.deadline = min(self.deadline + seconds, now + limits.credit_seconds)
        return now > self.deadline or (stage == IDLE and self.server.stop_at > 0)


class FrontServer(TcpWSGIServer):  # type: ignore[misc]
    """The server on a socket that listens already. `stop` ends it."""

    channel_class = Channel
    requests = ()
    watched = 0

    def __init__(
        self,
        application: Callable[..., Any],
        listening: socket.socket,
        limits: ClientLimits,
        *,
        headers: Sequence[tuple[str, str]] = (),
        start_from: str = "",
        clock: Callable[[], float] = time.monotonic,
        **settings: Any,
    ) -> None:
        self.limits = limits
        self.headers = headers
        self.clock = clock
        self.start_from = start_from
        """The address of a proxy that is trusted to say when requests began; "*" for any, empty for none."""
        self.store = BodyQuota(limits.body_bytes)
        self.addresses: dict[str, set[Channel]] = defaultdict(set)
        self.answering: set[Any] = set()
        self._new: list[Channel] = []
        self._selector = selectors.DefaultSelector()
        self._next_sweep = self.stop_at = 0.0
        super().__init__(application, _sock=listening, bind_socket=False, **settings)
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            option = (socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
            self.adj.socket_options = self.adj.socket_options + [option]
        self._selector.register(self.trigger.socket.fileno(), selectors.EVENT_READ, self.trigger)

    def readable(self) -> bool:
        """Whether to accept connections."""
        return self.accepting and len(self.answering) < self.limits.connections

    def run(self) -> None:
        """Answer until `stop` is called, then finish what is under way."""
        while not self.stop_at or (self.active_channels and self.clock() < self.stop_at):
            self.turn(1.0)
        self.task_dispatcher.shutdown()

    def stop(self) -> None:
        """Accept no more connections; end once nothing is under way, or after `stop_seconds`."""
        self.stop_at = self.stop_at or self.clock() + self.limits.stop_seconds
        self.pull_trigger()

    def turn(self, seconds: float) -> None:
        """Wait at most `seconds` for events, and handle them."""
        self.thread = threading.get_ident()
        for channel in tuple(self.answering):
            if channel.writable():
                wasyncore.write(channel)
            elif channel.requests:
                continue
            self._watch(channel)
        if self.accepting:
            self._watch(self)
        # New connections come last, since they may exceed a limit: what the others sent is read before.
        for key, events in sorted(self._selector.select(seconds), key=lambda event: event[0].data is self):
            if key.data is self:
                self.handle_accept()
            else:
                self._handle(key.data, events)
        if self.stop_at and self.accepting:
            self.forget(self)
            wasyncore.dispatcher.close(self)
        now = self.clock()
        if self.stop_at or now >= self._next_sweep:
            self._next_sweep = now + 1.0
            self.sweep(now)

    def _handle(self, handler: Any, events: int) -> None:
        if events & selectors.EVENT_READ and handler.readable() and handler.socket is not None:
            wasyncore.read(handler)
        if events & selectors.EVENT_WRITE and handler.socket is not None:
            wasyncore.write(handler)
        if handler is not self.trigger:
            self._watch(handler)

    def _watch(self, handler: Channel | FrontServer) -> None:
        """Register the events that a handler waits for; during an answer, these change without an event."""
        if handler.socket is None:
            return
        answered = bool(handler.requests)  # read first: the next turn sees what a thread changes after this
        events = 0
        if handler.readable():
            events |= selectors.EVENT_READ
        if handler.writable():
            events |= selectors.EVENT_WRITE
        if events != handler.watched:
            self.forget(handler)
            if events:
                self._selector.register(handler.socket, events, handler)
            handler.watched = events
        if answered:
            self.answering.add(handler)
        else:
            self.answering.discard(handler)

    def forget(self, handler: Channel | FrontServer) -> None:
        """Unregister a handler's events; call it before its socket is closed."""
        if handler.watched:
            self._selector.unregister(handler.socket)
        handler.watched = 0
        self.answering.discard(handler)

    def handle_accept(self) -> None:
        """Drop connections above the limits, then accept those that wait."""
        for channel in self._new:
            self._make_room(channel.neighbors, self.limits.per_address)
        self._make_room(self.active_channels.values(), self.limits.connections)
        self._new = []
        for _ in range(min(ACCEPTS, 4 + len(self.active_channels) // 8)):
            try:
                connection, address = self.socket.accept()
                self.set_socket_options(connection)
            except BlockingIOError:
                break
            except OSError:
                continue  # the client is gone already, or there are too many open files
            channel = Channel(self, connection, address, self.adj, map=self._map)
            self._watch(channel)
            self._new.append(channel)

    def _make_room(self, channels: Collection[Channel], most: int | None) -> None:
        if most is not None and len(channels) > most:
            waiting = [channel for channel in tuple(channels) if not channel.requests]
            # Some more than necessary, so that not every new connection repeats this.
            number = len(channels) - most + most // 16
            for channel in heapq.nsmallest(number, waiting, key=attrgetter("deadline")):
                channel.drop()

    def sweep(self, now: float) -> None:
        """Drop clients whose time is over; while too much is unread, those with the least time left."""
        for channel in tuple(self.active_channels.values()):
            if channel.late(now):
                channel.drop()
            elif channel.writable():
                self._watch(channel)
        for network in [name for name, channels in self.addresses.items() if not channels]:
            del self.addresses[network]
        total_unread = 0
        for channel in sorted(self.active_channels.values(), key=attrgetter("deadline"), reverse=True):
            # Only buffered answers count: stored files are sent from the disk.
            unread = sum(len(part) for part in tuple(channel.outbufs) if isinstance(part, OverflowableBuffer))
            total_unread += unread
            if unread and total_unread > self.limits.unread_bytes:
                channel.drop()


def _error(status: HTTPStatus, message: str) -> Error:
    error = Error(message)
    error.code = status.value
    error.reason = status.phrase
    return error


def network_of(address: str) -> str:
    """Return what identifies a client: its IPv4 address, or the /64 network of its IPv6 address.

    A socket for both kinds gives an IPv4 address within one of IPv6.
    """
    try:
        parsed = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return str(parsed.ipv4_mapped or ipaddress.IPv6Network((int(parsed), 64), strict=False))

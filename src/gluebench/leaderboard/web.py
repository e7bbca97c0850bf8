"""The web process: waitress on the socket that the supervisor opened."""

from __future__ import annotations

import signal
import socket
import sys
from types import FrameType
from typing import Any

import waitress
from csp.constants import HEADER as POLICY
from csp.utils import build_policy
from django.conf import settings
from waitress.channel import HTTPChannel
from waitress.task import ErrorTask, WSGITask

from gluebench.leaderboard.lifeline import watch
from gluebench.leaderboard.wsgi import application

FORM_BYTES = 64 * 1024


def main() -> None:
    """Serve until told to stop. The argument is the number of the listening socket."""
    watch()
    signal.signal(signal.SIGTERM, _stop)
    listening = socket.socket(fileno=int(sys.argv[1]))
    HTTPChannel.task_class = Answer
    HTTPChannel.error_task_class = Refusal
    waitress.serve(
        application,
        sockets=[listening],
        threads=4,
        # A stalled upload is dropped; waitress reads requests apart from the threads that answer them.
        channel_timeout=10,
        recv_bytes=262144,
        # An answer that is smaller goes out in one piece, from the thread that reads: four threads that each
        # wait for the interpreter after every send answer a fifth as many of 64 visitors.
        send_bytes=65536,
        max_request_body_size=settings.UPLOAD_BYTES + FORM_BYTES,
        ident="gluebench",
        _quiet=True,
        **proxy(),
    )


class Answer(WSGITask):  # type: ignore[misc]
    """Keeps the connection after an answer without a body; the library would close it after each 304."""

    def set_close_on_finish(self) -> None:
        """Close after this answer, unless nothing but its want of a length asks for that."""
        asked = self.request.headers.get("CONNECTION", "").lower() == "close"
        if self.has_body or asked or self.version != "1.1":
            super().set_close_on_finish()


class Refusal(ErrorTask):  # type: ignore[misc]
    """What the server refuses by itself: it has the headers that protect, as every answer of the site."""

    def execute(self) -> None:
        """Send it."""
        self.response_headers += [
            (POLICY, build_policy()),
            ("X-Frame-Options", settings.X_FRAME_OPTIONS),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", settings.SECURE_REFERRER_POLICY),
            ("Cross-Origin-Opener-Policy", settings.SECURE_CROSS_ORIGIN_OPENER_POLICY),
        ]
        super().execute()


def proxy() -> dict[str, Any]:
    """Believe the proxy, by default one on this machine, about who asks and how; nor any other header."""
    if not settings.HTTPS:
        return {}
    return {
        "trusted_proxy": settings.RUNNING.proxy,
        "trusted_proxy_headers": "x-forwarded-for x-forwarded-proto",
        "clear_untrusted_proxy_headers": True,
    }


def _stop(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    main()

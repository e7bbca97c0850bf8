"""The web process: waitress on the socket that the supervisor opened."""

from __future__ import annotations

import signal
import socket
import sys
from types import FrameType
from typing import Any

import waitress
from django.conf import settings

from gluebench.leaderboard.lifeline import watch
from gluebench.leaderboard.wsgi import application

FORM_BYTES = 64 * 1024


def main() -> None:
    """Serve until told to stop. The argument is the number of the listening socket."""
    watch()
    signal.signal(signal.SIGTERM, _stop)
    listening = socket.socket(fileno=int(sys.argv[1]))
    waitress.serve(
        application,
        sockets=[listening],
        threads=4,
        # A stalled upload is dropped; waitress reads requests apart from the threads that answer them.
        channel_timeout=10,
        recv_bytes=262144,
        max_request_body_size=settings.UPLOAD_BYTES + FORM_BYTES,
        ident="gluebench",
        _quiet=True,
        **_proxy(),
    )


def _proxy() -> dict[str, Any]:
    """Believe a proxy on this machine about who asks and how; nobody else, nor any other header."""
    if not settings.HTTPS:
        return {}
    return {
        "trusted_proxy": "127.0.0.1",
        "trusted_proxy_headers": "x-forwarded-for x-forwarded-proto",
        "clear_untrusted_proxy_headers": True,
    }


def _stop(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    main()

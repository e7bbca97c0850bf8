"""The web process: waitress on the socket that the supervisor opened; `application` is for any server."""

import os
import resource
import signal
import socket
import sys
from typing import Any

from csp.constants import HEADER as POLICY
from csp.utils import build_policy
from django.conf import settings
from django.core.wsgi import get_wsgi_application

from gluebench.leaderboard.apps.submissions.process import BUILDS_QUEUED, CHECKS_QUEUED
from gluebench.leaderboard.serving.front import ClientLimits, FrontServer
from gluebench.leaderboard.serving.supervisor import watch

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gluebench.leaderboard.settings")
application = get_wsgi_application()

FORM_BYTES = 64 * 1024
OTHER_FILES = 256
"""Open files that are not connections: the database, pages, files that are being checked."""


def main() -> None:
    """Serve until SIGTERM. The argument is the number of the listening socket."""
    watch()
    front = FrontServer(
        application,
        socket.socket(fileno=int(sys.argv[1])),
        limits(),
        # For refusals by the server itself.
        headers=[
            (POLICY, build_policy()),
            ("X-Frame-Options", settings.X_FRAME_OPTIONS),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", settings.SECURE_REFERRER_POLICY),
            ("Cross-Origin-Opener-Policy", settings.SECURE_CROSS_ORIGIN_OPENER_POLICY),
        ],
        start_from=settings.RUNNING.proxy if settings.RUNNING.request_start else "",
        threads=4 + CHECKS_QUEUED + BUILDS_QUEUED,  # those that wait must not block pages
        backlog=1024,
        recv_bytes=262144,
        # An answer that is smaller goes out in one piece, from the thread that reads: four threads that each
        # wait for the interpreter after every send answer a fifth as many of 64 visitors.
        send_bytes=65536,
        # No thread waits for a client to read: unread bytes go to disk, and `FrontServer` limits them.
        outbuf_high_watermark=2**62,
        inbuf_overflow=16384,
        max_request_header_size=16384,
        max_request_body_size=settings.UPLOAD_BYTES + FORM_BYTES,
        # Taken off the start of a path, whether or not the proxy has done so already.
        url_prefix=settings.RUNNING.path,
        ident="gluebench",
        **proxy(),
    )
    signal.signal(signal.SIGTERM, lambda *_: front.stop())
    front.run()


def limits() -> ClientLimits:
    """Limits on clients: each connection needs two of the open files, one of them for a body."""
    usual = ClientLimits()
    needed = OTHER_FILES + 2 * usual.connections
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, files), hard))
    return usual._replace(
        body_bytes=max(usual.body_bytes, 4 * settings.UPLOAD_BYTES),
        connections=max(1, (files - OTHER_FILES) // 2),
        # Behind a proxy all come from one address.
        per_address=None if settings.HTTPS else usual.per_address,
        stop_seconds=settings.RUNNING.stop_seconds,
    )


def proxy() -> dict[str, Any]:
    """Trust the proxy, by default one on this machine, for the client's address and scheme, and no other."""
    if not settings.HTTPS:
        return {}
    return {
        "trusted_proxy": settings.RUNNING.proxy,
        "trusted_proxy_headers": "x-forwarded-for x-forwarded-proto",
        "clear_untrusted_proxy_headers": True,
    }


if __name__ == "__main__":
    main()

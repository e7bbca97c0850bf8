"""How often a program may ask: so many requests in a minute for each account or address."""

from __future__ import annotations

import hashlib
import ipaddress
import math
import time

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest

from gluebench.leaderboard.common.problems import ProblemError

MINUTE = 60


def spend(kind: str, whose: str) -> None:
    """Count one request of a kind. Raises ProblemError (429) when the minute's share is used up."""
    most = settings.API_PER_MINUTE[kind]
    minute, second = divmod(time.time(), MINUTE)
    name = f"api:{kind}:{int(minute)}:{hashlib.sha256(whose.encode()).hexdigest()[:32]}"
    counts = caches["rates"]
    counts.add(name, 0, 2 * MINUTE)
    try:
        used = counts.incr(name)
    except ValueError:  # dropped in between, as a full cache does
        return
    if used > most:
        wait = math.ceil(MINUTE - second)
        raise ProblemError(
            429,
            "rate",
            f"More than {most} requests in a minute. Try again in {wait} second{'s' * (wait != 1)}.",
            headers={"Retry-After": str(wait)},
        )


def address(request: HttpRequest) -> str:
    """Where a request comes from; the server has already decided whether to believe a proxy.

    Of an IPv6 address the network: a single line has all the 2**64 addresses of one.
    """
    text = str(request.META.get("REMOTE_ADDR", ""))
    try:
        parsed = ipaddress.IPv6Address(text)
    except ValueError:
        return text
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed), 64), strict=False))

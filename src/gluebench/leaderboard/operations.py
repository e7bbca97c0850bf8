"""What an operator sees of each request, and the addresses that programs ask: /healthz, /readyz, /metrics."""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import Resolver404, ResolverMatch, resolve
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, Histogram

from gluebench.leaderboard import health, metrics
from gluebench.leaderboard.logs import REQUEST

Answer = Callable[[HttpRequest], HttpResponseBase]
UPLOADS = ("submit", "api:submit")
METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE")
FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA")
_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_HERE = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")

access = logging.getLogger("gluebench.access")


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """Say that this process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """Say whether the site can do its work, and else which checks fail; the log says why."""
    failing = health.failing()
    return JsonResponse({"ready": not failing, "failing": failing}, status=503 if failing else 200)


@require_safe
@never_cache
def measured(request: HttpRequest) -> HttpResponse:
    """Give Prometheus' metrics to programs on this machine, or to those that know the token."""
    if _is_local(request.META) or _has_token(request):
        return HttpResponse(metrics.exposition(), content_type=CONTENT_TYPE_LATEST)
    wanted = "Ask on the site's machine, as http://127.0.0.1, or with the token in GLUEBENCH_METRICS_TOKEN.\n"
    return HttpResponse(wanted, status=403, content_type="text/plain")


PROBES = {"/healthz": live, "/readyz": ready, "/metrics": measured}


def _is_local(meta: dict[str, str]) -> bool:
    """Whether a program of this machine asks, and no proxy on it passes on what somebody else asks."""
    direct = not any(name in meta for name in FORWARDED) and _HERE.fullmatch(meta.get("HTTP_HOST", ""))
    try:
        return bool(direct) and ip_address(meta.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def _has_token(request: HttpRequest) -> bool:
    token = settings.RUNNING.metrics_token
    return bool(token) and constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}")


def probes(answer: Answer) -> Answer:
    """Middleware: answers health checkers under whatever name they ask, before names are checked."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return PROBES.get(request.path_info, answer)(request)

    return middleware


def observe(answer: Answer) -> Answer:
    """Middleware: gives each request an id, counts it and writes it into the access log."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        token, start = REQUEST.set(_request_id(request)), time.perf_counter()
        try:
            response = answer(request)
            response["X-Request-ID"] = REQUEST.get()
            _note(request, response, time.perf_counter() - start)
        finally:
            REQUEST.reset(token)
        return response

    return middleware


def _request_id(request: HttpRequest) -> str:
    """The proxy's, else a new one. Only of a request that came through the proxy is its scheme https."""
    given = request.headers.get("X-Request-ID", "") if request.META["wsgi.url_scheme"] == "https" else ""
    return given if _ID.fullmatch(given) else secrets.token_hex(8)


def _note(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    match = request.resolver_match or _match(request.path_info)
    method = request.method if request.method in METHODS else "other"
    name = match.view_name or match.route if match else "none"
    _timer(name, method, response.status_code).observe(seconds)
    if method == "POST" and name in UPLOADS and response.status_code != 200:  # which is for a check alone
        metrics.UPLOADS.labels("accepted" if response.status_code < 400 else "rejected").inc()
    if access.isEnabledFor(logging.INFO) and request.path_info not in PROBES:
        fields = {
            "method": method,
            "path": _path(request, match),
            "status": response.status_code,
            "ms": round(seconds * 1000, 1),
            "bytes": int(response.headers.get("Content-Length", 0)),
        }
        access.info(
            "%(method)s %(path)s %(status)d %(ms).1f ms %(bytes)d B", fields, extra={"fields": fields}
        )


@lru_cache(maxsize=512)
def _timer(name: str, method: str, status: int) -> Histogram:
    return metrics.REQUESTS.labels(name, method, status)


@lru_cache(maxsize=512)
def _match(path: str) -> ResolverMatch | None:
    """The route of what was answered before Django looked for it, as the page cache does."""
    try:
        return resolve(path)
    except Resolver404:
        return None


def _path(request: HttpRequest, match: ResolverMatch | None) -> str:
    """The path without its query, and without the keys of links that were mailed or passed on."""
    path, route, values = request.path, *((match.route, match.kwargs) if match else ("", {}))
    for name, value in values.items():
        if name == "code" or route.startswith("account/"):
            path = path.replace(str(value), "…")
    return quote(path[:200], safe="/…:@-._~")

"""What an operator's programs ask: /healthz, /readyz and /metrics.

Counters are of this machine's processes; the other metrics come from the database.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from ipaddress import ip_address

from django.conf import settings
from django.db import connection
from django.db.models import Count, Min
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from gluebench.leaderboard import health
from gluebench.leaderboard.submissions.models import Submission

FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA")
_HERE = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable of the library: where a machine's processes keep their counters together."""

REQUESTS = Histogram(
    "gluebench_request_seconds",
    "Time to answer a request.",
    ["route", "method", "status"],
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10),
)
UPLOADS = Counter("gluebench_uploads", "Submissions sent over the page or the API.", ["outcome"])
GRADINGS = Histogram(
    "gluebench_grading_seconds",
    "Time to check and grade a submission; queued is one that was given back.",
    ["result"],
    buckets=(0.3, 1, 3, 10, 30, 100),
)


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
        return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)
    advice = "Ask on the site's machine, as http://127.0.0.1, or with the token in GLUEBENCH_METRICS_TOKEN.\n"
    return HttpResponse(advice, status=403, content_type="text/plain")


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


class _Database(Collector):
    """What all machines of a site share."""

    def collect(self) -> Iterator[Metric]:
        """Ask the database."""
        statuses = GaugeMetricFamily("gluebench_submissions", "Submissions by status.", labels=["status"])
        for status, count in Submission.objects.order_by().values_list("status").annotate(Count("pk")):
            statuses.add_metric([status], count)
        waiting = Submission.objects.waiting()
        oldest = waiting.filter(spent=0).aggregate(Min("submitted"))["submitted__min"]
        age = (timezone.now() - oldest).total_seconds() if oldest else 0
        yield statuses
        yield GaugeMetricFamily("gluebench_queue_length", "Submissions not final yet.", waiting.count())
        yield GaugeMetricFamily("gluebench_queue_oldest_seconds", "Age of the oldest never graded.", age)
        yield GaugeMetricFamily("gluebench_workers", "Workers that gave a sign of life.", health.workers())
        yield GaugeMetricFamily("gluebench_database_bytes", "Size of the database.", _database_bytes())


def _database_bytes() -> int:
    size = "pg_database_size(current_database())"
    if connection.vendor == "sqlite":
        size = "page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {size}")
        return int(cursor.fetchone()[0])


def exposition() -> bytes:
    """All of it in Prometheus' text format."""
    registry = CollectorRegistry()
    if os.environ.get(FOLDER):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        for metric in (REQUESTS, UPLOADS, GRADINGS):
            registry.register(metric)
    registry.register(_Database())
    return generate_latest(registry)

"""What Prometheus is told. Counters are of this machine's processes; the rest is asked of the database."""

from __future__ import annotations

import os
from collections.abc import Iterator

from django.db import connection
from django.db.models import Count, Min
from django.utils import timezone
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

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


class _Database(Collector):
    """What all machines of a site share."""

    def collect(self) -> Iterator[Metric]:
        """Ask the database."""
        from gluebench.leaderboard import health
        from gluebench.leaderboard.submissions.models import Submission

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
        for each in (REQUESTS, UPLOADS, GRADINGS):
            registry.register(each)
    registry.register(_Database())
    return generate_latest(registry)

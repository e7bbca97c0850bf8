"""Health checks of the services that a site needs, and the probes /healthz, /readyz and /metrics.

Counters are of this machine's processes; the other metrics come from the database. Django must be set up.
"""

import logging
import os
import re
import secrets
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_address
from socket import gethostname
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.cache import caches
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.mail import get_connection
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count, Max, Min, Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.accounts.trust import has_confirmed_address
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.submissions.models import Submission, Worker
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.leaderboard.keeping.folder import SiteFolder
from gluebench.leaderboard.keeping.storage import PARTS
from gluebench.leaderboard.serving import counters
from gluebench.leaderboard.serving.checks import Check, disk, uploads

READY_SECONDS = 2.0
WORKER_SECONDS = timedelta(seconds=60)
"""How long a worker may give no sign of life; it does every few seconds."""

OWN_APPS = {app.label for app in apps.get_app_configs() if app.name.startswith("gluebench.")}
_COLUMNS = {
    "sqlite": "SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c "
    "WHERE t.type = 'table'",
    "postgresql": "SELECT table_name, column_name FROM information_schema.columns "
    "WHERE table_schema = ANY (current_schemas(false))",
}
OTHER_VERSION = (
    "Export the site with the version that made it: gluebench leaderboard export --secrets site.tar.gz. Then "
    "import it with this one: gluebench leaderboard import site.tar.gz --site NEW_FOLDER"
)

STALLED = timedelta(minutes=2)
"""How long a submission waits before its page says that nothing is graded."""

logger = logging.getLogger(__name__)


def examine() -> list[Check]:
    """Whether debugging is off, and the database and the storages answer."""
    debug = Check("debug", "off.")
    if settings.DEBUG:
        state = "DEBUG is on: errors would show visitors the site's insides."
        debug = Check("debug", state, "Set DEBUG = False.")
    return [debug, _database()] + [_storage(name) for name in PARTS]


def pending() -> Check:
    """Whether the database answers, and has the tables of this version."""
    database = _database()
    if not database.ok:
        return database
    executor = MigrationExecutor(connection)
    loader = executor.loader
    missing = executor.migration_plan(loader.graph.leaf_nodes())
    unknown = loader.applied_migrations.keys() - loader.disk_migrations.keys()
    steps = [step for step in loader.applied_migrations if step in loader.graph.nodes]
    models = loader.project_state(steps).apps if missing else apps
    if (missing and any(app in OWN_APPS for app, _ in unknown)) or _other_columns(models):
        state = "They are of another version of gluebench, from which this one cannot continue."
        return Check("tables", state, OTHER_VERSION)
    if missing:
        state = f"It is {len(missing)} changes behind this version of gluebench."
        return Check("tables", state, "Run once, on one machine: gluebench leaderboard init")
    return Check("tables", "up to date.")


def _other_columns(models: Any) -> bool:
    """Whether a table has other columns than its model of `models`, the registry as of the steps applied.

    Before the first release, a migration may change after a site has applied it.
    """
    columns: dict[str, set[str]] = {}
    with connection.cursor() as cursor:  # by one query: Django's introspection takes half a second
        cursor.execute(_COLUMNS[connection.vendor])
        for table, column in cursor.fetchall():
            columns.setdefault(table, set()).add(column)
    for model in models.get_models(include_auto_created=True):
        if model._meta.app_label in OWN_APPS and model._meta.managed:
            expected = {field.column for field in model._meta.concrete_fields}
            if columns.get(model._meta.db_table) != expected:
                return True
    return False


def queue() -> Check:
    """How many submissions wait, and whether a worker runs; needs the tables."""
    waiting = Submission.objects.waiting().count()
    running = workers()
    state = f"{waiting} submissions wait; {running} workers give signs of life."
    fix = ""
    if waiting and not running:
        fix = "Start a worker: gluebench leaderboard worker"
    return Check("queue", state, fix)


def stall_reason(benchmark: Benchmark) -> str:
    """Why nobody grades the submissions of a benchmark that wait, in a sentence; empty if they are graded.

    A worker reports every few seconds, but not while it starts.
    """
    waiting = benchmark.submissions.waiting()
    if not waiting.filter(submitted__lt=timezone.now() - STALLED).exists():
        return ""
    if not benchmark.gold:
        if waiting.filter(status=Status.RUNNING).exists():
            return ""
        return "A machine of the organizers grades this benchmark, and is not grading now."
    if alive().exists():
        return ""
    seen = Worker.objects.aggregate(last=Max("seen"))["last"]
    since = f"since {seen:%d %B %Y, %H:%M} UTC" if seen else "for a day"
    return f"Nothing is graded on this site at the moment: no worker has reported {since}."


def roles() -> Check:
    """Whether all admins and organizers have confirmed addresses; needs the tables."""
    role = Q(is_superuser=True) | Q(organized__isnull=False)
    holders = User.objects.filter(role, is_active=True).distinct()
    doubtful = ", ".join(user.email for user in holders if not has_confirmed_address(user))
    if doubtful:
        state = f"Anybody may have signed up with an address that is not confirmed: {doubtful}."
        return Check("roles", state, "Hand the account to its owner: gluebench leaderboard confirm EMAIL")
    return Check("roles", "admins and organizers have confirmed addresses.")


def failing() -> list[str]:
    """The checks that fail now, each in one word; the log says why. Cached, as anybody may ask."""
    kept = caches["pages"]
    names: list[str] | None = kept.get("failing")
    if names is None:
        # Tables that were up to date are not checked again, only that the database answers.
        tables = _database() if kept.get("tables") else pending()
        kept.set("tables", tables.ok)
        checked = [tables, _storage("submissions"), uploads(settings.FOLDER), disk(settings.FOLDER)]
        checked.append(_workers())
        failures = [check for check in checked if not check.ok]
        for check in failures:
            logger.warning("Not ready: %s: %s", check.name, check.state)
        names = [check.name for check in failures]
        kept.set("failing", names, READY_SECONDS)
    return names


def _workers() -> Check:
    try:
        count = workers()
    except DatabaseError:
        return Check("worker", "The database cannot be asked.", "See the other check.")
    return Check("worker", f"{count} give signs of life.", "" if count else "Start one.")


def workers() -> int:
    """Workers that gave a sign of life lately, on all machines."""
    return alive().count()


def alive() -> QuerySet[Worker]:
    """The workers that gave a sign of life lately."""
    return Worker.objects.filter(seen__gt=Now() - WORKER_SECONDS)


def worker_name() -> str:
    """The name of this process among the workers of all machines."""
    return f"{gethostname()[:60]}:{os.getpid()}"


def beat() -> None:
    """Give this worker's sign of life, and forget those that gave none for a day."""
    Worker.objects.update_or_create(name=worker_name(), defaults={"seen": Now()})
    Worker.objects.filter(seen__lt=Now() - timedelta(days=1)).delete()


def mail() -> Check:
    """Whether the mail server takes our login; no mail is sent."""
    if settings.RUNNING.mail is None:
        return Check("mail", f"no server is set; mail is written to {settings.FOLDER.mail}.")
    server = get_connection()
    state = f"{settings.EMAIL_HOST} port {settings.EMAIL_PORT}"
    try:
        server.open()
    except OSError as error:  # smtplib's own errors are OSErrors
        advice = "See GLUEBENCH_SMTP in docs/how-to/deploy.md."
        return Check("mail", f"{state} did not let us in: {error}.", advice)
    server.close()
    return Check("mail", f"{state} answers.")


def _database() -> Check:
    values = connection.settings_dict
    state = f"{connection.display_name}: {values['NAME']}"
    if values["HOST"]:
        state += f" at {values['HOST']}"
    try:
        connection.ensure_connection()
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            if _is_read_only(cursor):
                fix = "Let this account write to it: in SQLite to the file and its folder."
                return Check("database", f"{state} cannot be written.", fix)
    except DatabaseError as error:
        why = " ".join(str(error).split()).rstrip(".?")
        return Check("database", f"{state} does not answer: {why}.", "Start it, or fix GLUEBENCH_DATABASE.")
    return Check("database", f"{state} answers.")


def _is_read_only(cursor: Any) -> bool:
    """Whether the database refuses to be written."""
    if connection.vendor == "postgresql":
        cursor.execute("SHOW transaction_read_only")
        return bool(cursor.fetchone()[0] == "on")
    site: SiteFolder = settings.FOLDER
    files = [path for path in [site.root] + site.database_files if path.exists()]
    return not all(os.access(path, os.W_OK) for path in files)


def _storage(name: str) -> Check:
    """Write a few bytes, read them back, delete them."""
    bucket = settings.RUNNING.bucket
    state = f"s3://{bucket.name}" if bucket else storages[name].path("")
    sent = secrets.token_bytes(16)
    try:
        storage = storages[name]
        kept = storage.save(f"check-{sent.hex()}", ContentFile(sent))
        with storage.open(kept) as file:
            same = file.read() == sent
        storage.delete(kept)
    except _storage_errors() as error:
        advice = "See GLUEBENCH_STORAGE in docs/how-to/deploy.md."
        return Check(name, f"{state} cannot be written: {error}.", advice)
    if not same:
        return Check(name, f"{state} gave back something else than was written.", "Ask who runs it.")
    return Check(name, f"{state} is written and read.")


def _storage_errors() -> tuple[type[Exception], ...]:
    if not settings.RUNNING.bucket:
        return (OSError,)
    from boto3.exceptions import Boto3Error  # type: ignore[import-untyped]
    from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

    return (OSError, Boto3Error, BotoCoreError, ClientError)


FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA")
_HERE = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")
ADVICE = "Ask on the site's machine, as http://127.0.0.1, or with the token in GLUEBENCH_METRICS_TOKEN.\n"


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """Say that this process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """Say whether the site can do its work, and else which checks fail; the log says why."""
    names = failing()
    return JsonResponse({"ready": not names, "failing": names}, status=503 if names else 200)


@require_safe
@never_cache
def show_metrics(request: HttpRequest) -> HttpResponse:
    """Give Prometheus' metrics to programs on this machine, or to those that know the token."""
    token = settings.RUNNING.metrics_token
    sent = request.headers.get("Authorization", "")
    if not (_is_local(request.META) or (token and constant_time_compare(sent, f"Bearer {token}"))):
        return HttpResponse(ADVICE, status=403, content_type="text/plain")
    registry = CollectorRegistry()
    registry.register(_Metrics())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


PROBES = {"/healthz": live, "/readyz": ready, "/metrics": show_metrics}


def _is_local(meta: dict[str, str]) -> bool:
    """Whether the request comes from this machine itself, not through a proxy on it."""
    direct = not any(name in meta for name in FORWARDED) and _HERE.fullmatch(meta.get("HTTP_HOST", ""))
    try:
        return bool(direct) and ip_address(meta.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


class _Metrics(Collector):
    """Counters of this machine, and metrics from the database, which all machines of a site share."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics as they are now."""
        yield from counters.families()
        size = "pg_database_size(current_database())"
        if connection.vendor == "sqlite":
            size = "page_count * page_size FROM pragma_page_count(), pragma_page_size()"
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {size}")
            (database_bytes,) = cursor.fetchone()
        statuses = GaugeMetricFamily("gluebench_submissions", "Submissions by status.", labels=["status"])
        for status, count in Submission.objects.order_by().values_list("status").annotate(Count("pk")):
            statuses.add_metric([status], count)
        waiting = Submission.objects.waiting()
        oldest = waiting.filter(spent=0).aggregate(Min("submitted"))["submitted__min"]
        age = (timezone.now() - oldest).total_seconds() if oldest else 0
        yield statuses
        yield GaugeMetricFamily("gluebench_queue_length", "Submissions not final yet.", waiting.count())
        yield GaugeMetricFamily("gluebench_queue_oldest_seconds", "Age of the oldest never graded.", age)
        yield GaugeMetricFamily("gluebench_workers", "Workers that gave a sign of life.", workers())
        yield GaugeMetricFamily("gluebench_database_bytes", "Size of the database.", int(database_bytes))

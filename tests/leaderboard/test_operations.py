"""What programs of the operator are told: health, readiness, metrics, logs."""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import caches
from django.db import DatabaseError
from django.test import Client, override_settings
from django.utils import timezone
from leaderboard.test_running import SRC, Machine
from prometheus_client.parser import text_string_to_metric_families

from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.submissions.models import Submission, Worker
from gluebench.leaderboard.serving import checks, environment, health, logs

TOKEN = "Wm3vT8_qLz0RkYc5hXn7JdBf2GpAe9UsiVo4M1tKaErS"
LOCAL = {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "127.0.0.1:8000"}


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "READY_SECONDS", 0.0)
    caches["pages"].delete("failing")


@pytest.fixture
def working(db: None) -> None:
    health.beat()


def failing() -> list[str]:
    answer = Client().get("/readyz")
    told = answer.json()
    assert told == {"ready": answer.status_code == 200, "failing": told["failing"]}
    assert answer.status_code in (200, 503)
    found: list[str] = told["failing"]
    return found


def test_health_is_told_under_any_name_and_without_a_database() -> None:
    answer = Client().get("/healthz", HTTP_HOST="10.1.2.3:8000")
    assert (answer.status_code, answer.content) == (200, b"ok\n")
    assert Client().get("/", HTTP_HOST="10.1.2.3:8000").status_code == 400


def test_a_site_with_all_it_needs_is_ready(working: None) -> None:
    assert failing() == []


def test_a_site_is_not_ready_without_a_worker_that_gives_signs_of_life(working: None) -> None:
    Worker.objects.update(seen=timezone.now() - timedelta(minutes=5))
    assert failing() == ["worker"]


def test_without_a_worker_author_and_organizer_read_that_nothing_is_graded(
    working: None, send: Any, owner: Client, tiny: Any, ada: Any
) -> None:
    tiny.organizers.add(ada)
    row = send()
    pages = (row.get_absolute_url(), "/benchmarks/tiny/organize", "/benchmarks/tiny/organize/setup")
    status = f"{row.get_absolute_url()}/status.json"

    def texts() -> list[str]:
        return [owner.get(page).content.decode() for page in pages]

    Submission.objects.update(submitted=timezone.now() - timedelta(hours=1))
    assert not any("Nothing is graded" in text for text in texts()), "a worker runs"
    seen = timezone.now() - timedelta(minutes=50)
    Worker.objects.update(seen=seen)
    sentence = (
        f"Nothing is graded on this site at the moment: no worker has reported since {seen:%d %B %Y, %H:%M}"
    )
    author, *organizer = texts()
    assert sentence in author
    assert "Grading takes seconds" not in author
    assert all(sentence in text and "gluebench leaderboard worker" in text for text in organizer)
    assert owner.get(status).json()["stalled"].startswith(sentence)
    Worker.objects.all().delete()
    assert "no worker has reported for a day." in texts()[0]
    Submission.objects.update(submitted=timezone.now())
    assert not any("Nothing is graded" in text for text in texts()), "a worker may start now"


def test_who_waits_for_a_machine_of_the_organizers_reads_it(
    send: Any, owner: Client, tiny: Any, ada: Any
) -> None:
    tiny.organizers.add(ada)
    row = send()
    Benchmark.objects.update(gold="")
    Submission.objects.update(submitted=timezone.now() - timedelta(hours=1))
    sentence = "A machine of the organizers grades this benchmark, and is not grading now."
    author = owner.get(row.get_absolute_url()).content.decode()
    assert (sentence in author, "Grading takes seconds" in author) == (True, False)
    organizer = owner.get("/benchmarks/tiny/organize").content.decode()
    assert sentence in organizer
    assert "gluebench leaderboard work http://testserver/benchmarks/tiny --gold FOLDER" in organizer
    Submission.objects.update(status="running")
    assert sentence not in owner.get(row.get_absolute_url()).content.decode()


def test_a_site_is_not_ready_with_a_full_disk_or_storage_that_cannot_be_written(
    working: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device", "/srv/private/place")

    monkeypatch.setattr(checks, "FREE_BYTES", 2**80)
    monkeypatch.setattr("gluebench.leaderboard.keeping.storage.Folder._save", refuse)
    assert failing() == ["submissions", "disk"]
    assert "/srv/private/place" in caplog.text  # the log says why, the answer does not


@pytest.mark.parametrize(("part", "name"), [("root", "database"), ("database", "database"), ("uploads",) * 2])
def test_a_site_is_not_ready_if_it_may_not_write(
    working: None, monkeypatch: pytest.MonkeyPatch, part: str, name: str
) -> None:
    access, path = os.access, getattr(settings.FOLDER, part)
    settings.FOLDER.database.touch()  # the tests' own database is elsewhere
    monkeypatch.setattr(os, "access", lambda place, mode: place != path and access(place, mode))
    assert failing() == [name]


def test_a_site_is_not_ready_without_its_database(working: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise DatabaseError("no route to hidden.example.org")

    with monkeypatch.context() as broken:
        broken.setattr("gluebench.leaderboard.serving.health.connection.ensure_connection", refuse)
        answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["failing"][0] == "database"
    assert b"hidden" not in answer.content


def test_a_site_is_not_ready_before_its_tables_are_up_to_date(
    working: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.db import connection
    from django.db.migrations.recorder import MigrationRecorder

    caches["pages"].delete("tables")
    MigrationRecorder(connection).record_unapplied("similarity", "0001_first")
    assert failing() == ["tables"]


def metrics(**where: str) -> dict[str, float]:
    answer = Client().get("/metrics", **where)
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.content.decode())
    return {
        each.name + "".join(f"|{each.labels[name]}" for name in sorted(each.labels)): each.value
        for family in families
        for each in family.samples
    }


def test_metrics_count_requests_uploads_and_what_waits(send: Callable[..., Any], ada: Any) -> None:
    from gluebench.leaderboard.apps.submissions.grading import grade_next

    before = metrics(**LOCAL)
    Client().get("/benchmarks/tiny?q=secret")
    client = Client()
    client.force_login(ada)
    client.post("/benchmarks/tiny/submit", {"action": "submit"})
    grade_next.call(send().pk)
    send()
    after = metrics(**LOCAL)
    grown = {name: value - before.get(name, 0) for name, value in after.items()}
    assert grown["gluebench_request_seconds_count|GET|board|200"] == 1
    assert grown["gluebench_uploads_total|rejected"] == 1
    assert grown["gluebench_grading_seconds_count|graded"] == 1
    assert after["gluebench_submissions|queued"] == after["gluebench_queue_length"] == 1
    assert 0 < after["gluebench_queue_oldest_seconds"] < 3600
    assert after["gluebench_database_bytes"] > 1e5
    assert not any("secret" in name or ada.email in name for name in after)


@pytest.mark.parametrize(
    "where",
    [
        {"REMOTE_ADDR": "192.0.2.9"},
        {"HTTP_X_FORWARDED_FOR": "192.0.2.9"},
        {"HTTP_HOST": "board.example.org"},
        {"REMOTE_ADDR": "192.0.2.9", "HTTP_AUTHORIZATION": "Bearer "},
        {"REMOTE_ADDR": "192.0.2.9", "HTTP_AUTHORIZATION": f"Bearer {TOKEN[:-1]}"},
    ],
    ids=["another machine", "a visitor of a proxy here", "the site's name", "no token", "a wrong token"],
)
def test_metrics_are_not_for_visitors(db: None, where: dict[str, str]) -> None:
    for token in ("", TOKEN):
        with override_settings(RUNNING=environment.RunSettings(metrics_token=token)):
            assert Client().get("/metrics", **{**LOCAL, **where}).status_code == 403


def test_metrics_are_for_who_knows_the_token(db: None) -> None:
    far = {"REMOTE_ADDR": "192.0.2.9", "HTTP_AUTHORIZATION": f"Bearer {TOKEN}"}
    with override_settings(RUNNING=environment.RunSettings(metrics_token=TOKEN)):
        assert metrics(**far)["gluebench_workers"] == 0


class Kept(logging.Handler):
    """Lines as a site writes them."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self.setFormatter(formatter)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture(params=[logs.Text, logs.Json])
def kept(request: pytest.FixtureRequest) -> Iterator[Kept]:
    logger, handler = logging.getLogger("gluebench.access"), Kept(request.param())
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)


def test_the_access_log_has_no_secret_and_no_person(kept: Kept, tiny: Any, ada: Any) -> None:
    client = Client(REMOTE_ADDR="192.0.2.9")
    client.force_login(ada)
    secret = "zQ7yX3wV5u"
    paths = [
        f"/benchmarks/tiny?q={secret}",
        f"/account/team/join/{secret}",
        f"/account/confirm-email/{secret}/",
        f"/account/password/reset/key/1-{secret}/",
        f"/label/{secret}",
        f"/label/{secret}/1",
        "/nothing\nERROR forged line",
    ]
    for path in paths:
        client.get(path)
    client.get("/healthz")  # would fill the log
    assert len(kept.lines) == len(paths)
    text = "\n".join(kept.lines)
    assert secret not in text
    assert "192.0.2.9" not in text
    assert ada.email not in text
    assert len(text.splitlines()) == len(paths)
    if isinstance(kept.formatter, logs.Json):
        first = json.loads(kept.lines[0])
        assert (first["method"], first["path"], first["status"]) == ("GET", "/benchmarks/tiny", 200)
        assert first["ms"] > 0
        assert first["bytes"] > 1000
        assert first["level"] == "INFO"
    else:
        form = (
            r"\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z INFO gluebench\.access \[\w{16}\]: GET /benchmarks/tiny 200 "
        )
        assert re.match(form + r"[\d.]+ ms \d+ B$", kept.lines[0])


def test_a_request_has_the_proxy_s_id_or_a_new_one(db: None) -> None:
    def answered(given: str, **more: Any) -> str:
        return str(Client().get("/healthz", headers={"X-Request-ID": given}, **more)["X-Request-ID"])

    assert answered("abc-123.DEF_4", secure=True) == "abc-123.DEF_4"
    for given, secure in (("abc-123.DEF_4", False), ("x" * 65, True), ("a\tb", True), ("", True)):
        assert re.fullmatch(r"[0-9a-f]{16}", answered(given, secure=secure))


def test_what_a_request_logs_has_its_id_and_a_fault_is_part_of_its_line() -> None:
    def said(formatter: logging.Formatter) -> str:
        try:
            raise ValueError("wrong")
        except ValueError:
            record = logging.LogRecord("a", logging.ERROR, "f", 1, "It %s", ("broke",), sys.exc_info())
        return formatter.format(record)

    token = logs.REQUEST.set("one-request")
    try:
        line = json.loads(said(logs.Json()))
        assert (line["request"], line["message"], line["level"]) == ("one-request", "It broke", "ERROR")
        assert "ValueError: wrong" in line["exception"]
        assert "ERROR a [one-request]: It broke\nTraceback" in said(logs.Text())
    finally:
        logs.REQUEST.reset(token)


@pytest.mark.slow
def test_two_web_processes_and_a_worker_are_counted_together(tmp_path: Path, gold_folder: Path) -> None:
    site, manifest = tmp_path / "site", str(Path(__file__).parents[1] / "tiny.toml")
    variables = {"GLUEBENCH_WEB": "2", "GLUEBENCH_LOG_LEVEL": "info"}
    for words in (["init"], ["add", manifest, "--gold", str(gold_folder)]):
        command = [sys.executable, "-m", "gluebench", "leaderboard", *words, "--site", str(site)]
        subprocess.run(command, env={**os.environ, "PYTHONPATH": SRC}, check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    machine = Machine("serve", "--log-format", "json", "--port", str(port), site=site, variables=variables)
    try:
        url = f"http://127.0.0.1:{port}"
        end = time.monotonic() + 60
        while json.loads(get(f"{url}/readyz"))["failing"] and time.monotonic() < end:
            time.sleep(0.2)
        for _ in range(40):
            get(f"{url}/benchmarks/tiny")
        text = get(f"{url}/metrics")
    finally:
        machine.stop()
    assert 'gluebench_request_seconds_count{method="GET",route="board",status="200"} 40.0' in text
    assert "gluebench_workers 1.0" in text


def get(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        return error.read().decode()

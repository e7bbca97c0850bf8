"""No label, and not the key beside the labels, is anywhere but where labels are kept."""

from __future__ import annotations

import contextlib
import io
import json
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core import mail
from django.test import Client
from django.utils import timezone
from leaderboard.material import CANARIES, PREDICTIONS, tsv, write_copy, write_gold, zip_bytes
from leaderboard.routes import ROUTES
from leaderboard.served import Served
from leaderboard.walk import PASSWORD, Walk, secrets, submit

from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.limits.phase_acts import save_phase
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.scoring.gold import KEY_BYTES, KEY_FILE

pytestmark = pytest.mark.xdist_group("walk")
"""They share a walk through the whole site, which is made once a process."""

CLOSE = ["1.4", "2.3", "0.3", "4.2", "3.1"]
"""Similarities near the labels, of which none is one."""


def leaks(seen: Iterable[tuple[str, bytes]], hidden: dict[str, bytes]) -> list[str]:
    """Where something shows that must not."""
    return [f"{name} in {place}" for place, data in seen for name, value in hidden.items() if value in data]


def opened(data: bytes) -> bytes:
    """A file with what is packed in it, too."""
    if not data.startswith(b"PK"):
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return data + b"".join(opened(archive.read(name)) for name in archive.namelist())


def test_what_is_looked_for_would_be_found() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner", f"a {CANARIES[0]} b")
    assert leaks([("here", opened(packed.getvalue()))], {"it": CANARIES[0].encode()}) == ["it in here"]


def answered(walked: Walk) -> Iterator[tuple[str, bytes]]:
    """Every answer of a walk with its headers, and the log."""
    for answer in walked.answers:
        headers = json.dumps(dict(answer.headers)).encode()
        yield f"{answer.method} {answer.route.path} as {answer.role}", opened(answer.body) + headers
    yield "the log", walked.log.encode()


def test_no_answer_to_anybody_holds_a_label(walked: Walk) -> None:
    seen = [*answered(walked)]
    assert b"Private" in b"".join(data for _, data in seen)
    assert leaks(seen, dict(walked.secrets)) == []


def test_which_labels_there_are_is_told_to_admins_alone(graded: Any, ada: Any, tiny: Any) -> None:
    """The digest of a small set tells what is in it, by trying."""
    submission = graded()
    owner = Client()
    owner.force_login(ada)
    tiny.organizers.add(ada)
    for path in (*pages(submission), "/benchmarks/tiny/organize/log"):
        assert tiny.gold_digest[:16].encode() not in b"".join(owner.get(path)), path


def pages(submission: Submission) -> Iterator[str]:
    here = submission.get_absolute_url()
    yield from (here, f"{here}.json", f"{here}/detail", "/benchmarks/tiny.json")
    yield from (f"/api/v1/submissions/{submission.key}{end}" for end in ("", "/report", "/history"))
    yield from ("/api/v1/benchmarks/tiny", "/api/v1/benchmarks/tiny/board")


@pytest.mark.slow
def test_no_address_of_a_benchmark_that_borrows_the_labels_holds_one(
    tiny: Any, ada: Any, person: Callable[[str], Any], tmp_path: Path
) -> None:
    manifest = write_copy(tmp_path / "host.toml")
    gold = write_gold(tmp_path / "host")
    (gold / "Sim.tsv").write_text(tsv(CLOSE, "label"))
    host = Benchmark.objects.get(name=add_benchmark(str(manifest), gold))
    organizer = person("organizer@example.org")
    for benchmark in (tiny, host):
        benchmark.organizers.add(organizer)
    opens = timezone.now() - timedelta(days=1)
    save_phase(Phase(benchmark=host, name="Elsewhere", opens=opens, tasks_of=tiny))
    places = {"key": submit(host, ada, name="Private", public=False).key}
    places["shown"] = submit(host, organizer, name="Public", public=True).key
    answers = []
    for user in (None, ada, organizer):
        client = Client(raise_request_exception=False)
        if user is not None:
            client.force_login(user)
        for route in ROUTES:
            with contextlib.suppress(KeyError):  # a page of something that is not here
                path = route.path.format(**places).replace("/benchmarks/tiny", "/benchmarks/host")
                answer = client.get(path)
                answers.append((f"{path} for {user}", opened(b"".join(answer))))
    assert len(answers) > 300
    assert b"Public" in b"".join(data for _, data in answers)
    assert leaks(answers, secrets(tiny)) == []


BROKEN = {
    "a value that is none": {**PREDICTIONS, "Sim": ["1.4", "2.3", "0.3", "4.2", "nan"]},
    "a row too few": {**PREDICTIONS, "Sim": CLOSE[:4]},
    "an unknown label": {**PREDICTIONS, "Sim": CLOSE, "Infer-m": ["entailment", "what"] * 3},
    "a file too few": {name: values for name, values in PREDICTIONS.items() if name != "Para"},
    "a file of nothing": {**PREDICTIONS, "Sim": []},
}


@pytest.mark.parametrize("fault", BROKEN)
def test_what_is_said_of_a_fault_holds_no_label(graded: Any, ada: Any, fault: str) -> None:
    submission = graded(zip_bytes(BROKEN[fault]))
    owner = Client()
    owner.force_login(ada)
    seen = [(path, b"".join(owner.get(path))) for path in pages(submission)]
    assert b"Sim" in b"".join(data for _, data in seen)
    assert leaks(seen, secrets(submission.benchmark)) == []


def test_a_grader_that_fails_names_its_place_and_no_label(
    graded: Any, send: Callable[..., Submission], ada: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    """Labels that became unreadable: the message of the error would quote one."""
    from gluebench.leaderboard.apps.submissions.grading import grade

    first = graded()
    hidden = secrets(first.benchmark)
    file = first.benchmark.gold_path / "Sim.tsv"
    before = file.read_text()
    try:
        file.chmod(0o600)
        file.write_text(before.replace(CANARIES[0], f"{CANARIES[0]}x"))
        submission = send()
        grade(submission.pk)
    finally:
        file.write_text(before)
    submission.refresh_from_db()
    assert submission.status == "failed"
    owner = Client()
    owner.force_login(ada)
    seen = [(path, b"".join(owner.get(path))) for path in pages(submission)]
    seen.append(("the row", submission.failure.encode()))
    seen.append(("what was printed", "".join(capfd.readouterr()).encode()))
    assert leaks(seen, hidden) == []


def test_the_database_holds_no_label(graded: Any) -> None:
    submission = graded()
    rows = [
        (model.__name__, repr(list(model._default_manager.values_list())).encode())
        for model in apps.get_models()
    ]
    assert submission.key in dict(rows)["Submission"].decode()
    assert leaks(rows, secrets(submission.benchmark)) == []


def test_mails_and_one_s_own_data_hold_no_label(graded: Any, ada: Any) -> None:
    submission = graded()
    client = Client()
    client.post("/account/login/", {"login": ada.email, "password": PASSWORD})
    client.post("/account/reauthenticate/", {"password": PASSWORD})
    client.post("/account/password/reset/", {"email": ada.email})
    data = b"".join(client.post("/account/export"))
    assert f"{submission.key}.zip".encode() in data
    seen = [
        ("the export", opened(data)),
        *((f"mail {at}", str(m.message()).encode()) for at, m in enumerate(mail.outbox)),
    ]
    assert len(seen) > 1
    assert leaks(seen, secrets(submission.benchmark)) == []


@pytest.mark.slow
def test_a_served_site_writes_no_label_but_among_the_labels(tmp_path: Path) -> None:
    """Everything that a site writes and prints, its web server's and its worker's words among it."""
    gold = write_gold(tmp_path / "gold")
    (gold / KEY_FILE).write_bytes(bytes(range(KEY_BYTES)))  # the zeros of other tests are in any database
    site = Served(tmp_path / "site", gold)
    try:
        for at, values in enumerate([PREDICTIONS, BROKEN["an unknown label"]]):
            file = tmp_path / f"{at}.zip"
            file.write_bytes(zip_bytes(values))
            key = site.submit(file, f"Number {at}")
            for path in (f"/submissions/{key}", "/", "/nothing", "/api/v1/benchmarks/tiny/board", "/?q=%00"):
                visit(site.url + path)
    finally:
        site.stop()
    assert site.process.stdout is not None
    seen = [("what was printed", (site.said + site.process.stdout.read()).encode())]
    labels = site.folder / "labels"
    files = [path for path in site.folder.rglob("*") if path.is_file()]
    (key_file,) = [path for path in files if path.name == ".label-key"]
    assert labels in key_file.parents
    seen += [(str(path), opened(path.read_bytes())) for path in files if labels not in path.parents]
    assert len(seen) > 10
    assert leaks(seen, {value: value.encode() for value in CANARIES} | {"key": key_file.read_bytes()}) == []


def visit(url: str) -> None:
    """Look at a page, an error page too."""
    try:
        urllib.request.urlopen(url, timeout=60).read()
    except urllib.error.HTTPError as error:
        error.read()

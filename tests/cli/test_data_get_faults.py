"""The download path against a server with each fault: a clear line, and the old copy intact."""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import shutil
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from local_server import (
    PAGE,
    Answer,
    LocalServer,
    cut,
    instead,
    redirect,
    serving,
    slow,
    status,
    unmeasured,
    unranged,
)
from mine import SIZES, Mine, archive, hub_path, parquet, tsv, zipped

HUB = hub_path("Mood", "train")
ZIP = "/archives/Mood.zip"
PATHS = {"hub": HUB, "archives": ZIP}


def older(mine: Mine) -> dict[str, bytes]:
    """Mood as it was prepared before, from files on disk, so that a download is due."""
    folder = mine.root / "older" / "Mood"
    folder.mkdir(parents=True)
    for split in SIZES:
        (folder / f"{split}.tsv").write_bytes(tsv("Mood", split))
    assert mine.get("--from", folder.parent, "--task", "Mood").exit_code == 0
    return mine.prepared("Mood")


PASSING = {
    "cut": ([cut(900)], "the connection was cut after 900 bytes of"),
    "cut thrice": ([cut(500), cut(500), cut(500)], "the connection was cut after 1 kB"),
    "cut, and a server without ranges": ([cut(900), unranged], "the connection was cut"),
    "busy": ([status(503)], "503 Service Unavailable; trying again"),
    "too many requests": ([status(429, Retry_After="1")], "429 Too Many Requests; trying again in 1 s"),
    "no length": ([unmeasured], ""),
    "silent": ([slow(1.2)], "nothing came in time; trying again"),
    "moved": ([redirect("/elsewhere")], ""),
}


@pytest.mark.parametrize("source", ["hub", "archives"])
@pytest.mark.parametrize("fault", PASSING)
def test_a_fault_that_passes_is_waited_for(mine: Mine, server: LocalServer, source: str, fault: str) -> None:
    answers, told = PASSING[fault]
    path = PATHS[source]
    server.files["/elsewhere"] = server.files[path]
    server.faults[path] = list(answers)
    began = time.monotonic()
    done = mine.get("--source", source, "--task", "Mood", "--timeout", 0.4)
    assert done.exit_code == 0, done.stderr
    assert told in done.stderr
    assert "as published" in done.stdout
    if "trying again in 1 s" in told:
        assert time.monotonic() - began >= 1


def loop(server: LocalServer, path: str) -> None:
    server.faults[path] = [redirect(path)] * 20


def always(*answers: Answer) -> Callable[[LocalServer, str], None]:
    def plant(server: LocalServer, path: str) -> None:
        server.faults[path] = list(answers) * 10

    return plant


def missing(server: LocalServer, path: str) -> None:
    del server.files[path]


LASTING: dict[str, tuple[Callable[[LocalServer, str], None], str]] = {
    "not there": (missing, "404 Not Found; the file is not there (any more); try the other --source"),
    "refused": (always(status(403)), "403 Forbidden; the server refuses"),
    "broken": (always(status(500)), "500 Internal Server Error"),
    "a page for a file": (always(instead(PAGE)), 'a web page, not the file: "Please sign in"'),
    "redirected in a circle": (loop, "redirected too many times"),
    "cut at once": (always(cut(0)), "the connection was cut after 0 bytes of"),
    "come back tomorrow": (always(status(503, Retry_After="7200")), "to come back in 7,200 seconds"),
}


@pytest.mark.parametrize("source", ["hub", "archives"])
@pytest.mark.parametrize("fault", LASTING)
def test_a_fault_that_lasts_is_told_and_hurts_nothing_else(
    mine: Mine, server: LocalServer, source: str, fault: str
) -> None:
    before = older(mine)
    plant, told = LASTING[fault]
    plant(server, PATHS[source])
    done = mine.get("--source", source)
    assert done.exit_code == 1
    (problem,) = [line for line in done.stderr.splitlines() if line.startswith("Mood: http")]
    assert told in problem
    assert f"{server.address}{PATHS[source]}" in problem
    assert "Traceback" not in done.output
    assert mine.prepared("Mood") == before
    assert "Tone  train 1,000" in done.stdout  # the other task is had all the same
    assert "Mood  not got" in done.stdout


def test_another_version_of_a_hub_file_is_refused_by_its_length(mine: Mine, server: LocalServer) -> None:
    before = older(mine)
    server.files[HUB] = parquet("Mood", "train", change=" of another version, which is longer")
    done = mine.get("--source", "hub", "--task", "Mood")
    assert done.exit_code == 1
    assert "bytes, expected" in done.stderr
    assert mine.prepared() == before


@pytest.mark.parametrize("answer", [instead, lambda content: unmeasured], ids=["measured", "no length"])
def test_changed_content_of_the_right_length_is_refused_by_its_sha256(
    mine: Mine, server: LocalServer, answer: Callable[[bytes], Answer]
) -> None:
    before = older(mine)
    content = bytearray(server.files[HUB])
    content[200] ^= 1
    server.files[HUB] = bytes(content)
    server.faults[HUB] = [answer(bytes(content))]
    done = mine.get("--source", "hub", "--task", "Mood")
    assert done.exit_code == 1
    assert "wrong content (sha256" in done.stderr
    assert mine.prepared() == before
    assert not list(mine.to.rglob("train*.part"))  # nothing of it is gone on with


def test_a_cut_download_is_gone_on_with_at_the_next_run(mine: Mine, server: LocalServer) -> None:
    for source, path in PATHS.items():
        server.faults[path] = [cut(900)]
        stopped = mine.get("--source", source, "--task", "Mood", "--retries", 0)
        assert stopped.exit_code == 1
        (part,) = mine.to.rglob("*.part")
        assert part.read_bytes() == server.files[path][:900]
        done = mine.get("--source", source, "--task", "Mood")
        assert done.exit_code == 0, done.stderr
        last = server.asked(path)[-1]
        assert last.range == "bytes=900-"
        assert last.if_range
        assert not (mine.to / ".downloads").exists()


def test_files_that_are_whole_are_not_fetched_twice(mine: Mine, server: LocalServer) -> None:
    server.faults[hub_path("Mood", "test")] = [status(404)]
    assert mine.get("--task", "Mood").exit_code == 1
    assert mine.get("--task", "Mood").exit_code == 0
    assert len(server.asked(HUB)) == 1


def test_an_archive_that_changed_in_between_is_begun_anew(mine: Mine, server: LocalServer) -> None:
    server.files[ZIP] = zipped({"Mood/readme.txt": b"another archive " * 500}) + bytes(2000)
    server.faults[ZIP] = [cut(50)]
    mine.get("--source", "archives", "--task", "Mood", "--retries", 0)
    server.files[ZIP] = archive("Mood")
    done = mine.get("--source", "archives", "--task", "Mood")
    assert done.exit_code == 0, done.stderr
    assert server.asked(ZIP)[-1].range == "bytes=50-"


@pytest.mark.parametrize(
    "beginning", [b"of another file", b"longer than the file " * 9999], ids=["shorter", "longer"]
)
def test_a_beginning_of_something_else_is_thrown_away(
    mine: Mine, server: LocalServer, beginning: bytes
) -> None:
    server.faults[HUB] = [cut(900)]
    mine.get("--source", "hub", "--task", "Mood", "--retries", 0)
    (part,) = mine.to.rglob("*.part")
    part.write_bytes(beginning)
    done = mine.get("--source", "hub", "--task", "Mood")
    assert done.exit_code == 0, done.stderr
    assert "as published" in done.stdout


ARCHIVES = {
    "cut short on the server": (archive("Mood")[:-500], "not a whole zip"),
    "no zip": (b"Just some words.\n" * 9, "not a zip; it begins with 'Just some words.'"),
    "of another task": (
        zipped({"Tone/readme.txt": b"."}),
        "holds none of dev.tsv, test.tsv, train.tsv; it has",
    ),
    "of the wrong version": (
        zipped({f"Mood/{split}.tsv": tsv("Mood", split, rows=15) for split in SIZES}),
        "Mood, train: 15 rows, expected 1,000",
    ),
    "with a file missing": (
        zipped({"Mood/train.tsv": tsv("Mood", "train")}),
        "no dev.tsv or dev.parquet, the dev split of Mood",
    ),
}


@pytest.mark.parametrize("what", ARCHIVES)
def test_an_archive_that_is_not_the_tasks_is_told_and_not_kept(
    mine: Mine, server: LocalServer, what: str
) -> None:
    before = older(mine)
    server.files[ZIP], told = ARCHIVES[what]
    done = mine.get("--source", "archives", "--task", "Mood")
    assert done.exit_code == 1
    assert told in done.stderr
    assert mine.prepared() == before
    assert not (mine.to / ".downloads").exists()
    server.files[ZIP] = archive("Mood")
    assert mine.get("--source", "archives", "--task", "Mood").exit_code == 0


def test_an_address_that_speaks_no_tls_is_told(mine: Mine) -> None:
    mine.release.write_text(mine.release.read_text().replace("http://", "https://"))
    done = mine.get("--task", "Mood")
    assert done.exit_code == 1
    assert "no secure connection" in done.stderr
    assert "trying again" not in done.stderr


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate of its own for this machine."""
    path = tmp_path_factory.mktemp("tls") / "own.pem"
    if not shutil.which("openssl"):
        pytest.skip("no openssl to make a certificate with")
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=own -addext subjectAltName=IP:127.0.0.1"
    files = ["-keyout", str(path), "-out", str(path.with_suffix(".crt"))]
    subprocess.run(["openssl", *words.split(), *files], check=True, capture_output=True)
    path.write_text(path.read_text() + path.with_suffix(".crt").read_text())
    return path


def secured(server: LocalServer, certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)


def test_a_certificate_must_be_trusted(mine: Mine, server: LocalServer, certificate: Path) -> None:
    secured(server, certificate)
    mine.release.write_text(mine.release.read_text().replace("http://", "https://"))
    done = mine.get("--task", "Mood")
    assert done.exit_code == 1
    assert "its certificate is not trusted (self-signed certificate)" in done.stderr
    assert "SSL_CERT_FILE" in done.stderr
    assert "trying again" not in done.stderr
    trusting = mine.get("--task", "Mood", env={"SSL_CERT_FILE": str(certificate)})
    assert trusting.exit_code == 0, trusting.stderr


def test_a_secure_address_does_not_lead_to_an_open_one(
    mine: Mine, server: LocalServer, certificate: Path
) -> None:
    with serving() as open_one:
        open_one.files[ZIP] = archive("Mood")
        server.faults[ZIP] = [redirect(f"{open_one.address}{ZIP}")]
        secured(server, certificate)
        mine.release.write_text(mine.release.read_text().replace("http://", "https://"))
        options = ("--source", "archives", "--task", "Mood")
        done = mine.get(*options, env={"SSL_CERT_FILE": str(certificate)})
    assert done.exit_code == 1
    assert f"leads on to {open_one.address}{ZIP}, where anyone may change it" in done.stderr


def test_a_host_that_cannot_be_reached_is_tried_for_one_task_only(mine: Mine, server: LocalServer) -> None:
    mine.release.write_text(mine.release.read_text().replace(server.address, "http://127.0.0.1:9"))
    done = mine.get()
    assert done.exit_code == 1
    assert done.stderr.count("trying again") == 1
    assert "Mood, Tone: 127.0.0.1:9: cannot be reached (Connection refused); a proxy is set" in done.stderr
    assert not done.stdout


def test_too_little_room_is_told_before_anything_is_fetched(mine: Mine, server: LocalServer) -> None:
    text = mine.release.read_text()
    mine.release.write_text(text.replace("bytes = ", "bytes = 9" + 15 * "0", 1))
    done = mine.get()
    assert done.exit_code == 1
    assert "getting these data needs" in done.stderr
    assert "are free" in done.stderr
    assert not server.requests


def process(mine: Mine, *options: str, **more: object) -> subprocess.Popen[str]:
    words = [
        sys.executable,
        "-m",
        "gluebench",
        "data",
        "get",
        str(mine.manifest),
        "--to",
        str(mine.to),
        *options,
    ]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)  # type: ignore[call-overload,no-any-return]


def limited(number: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (number, number))


@pytest.mark.parametrize("source", ["hub", "archives"])
@pytest.mark.parametrize("limit", [6000, 16_000])
def test_a_full_disk_leaves_the_old_copy(mine: Mine, source: str, limit: int) -> None:
    """At the larger limit the archive has room, and what is in it has not."""
    before = older(mine)
    run = process(mine, "--source", source, "--task", "Mood", preexec_fn=limited(limit))
    _, said = run.communicate(timeout=60)
    assert run.returncode == 1, said
    assert "file too large" in said.casefold()
    assert str(mine.to) in said
    assert "Traceback" not in said
    assert mine.prepared() == before
    assert mine.get("--source", source, "--task", "Mood").exit_code == 0


def test_a_folder_that_may_not_be_written_is_named(mine: Mine, server: LocalServer) -> None:
    mine.to = mine.root / "file"
    mine.to.write_text("a file, where a folder was expected")
    done = mine.get()
    assert done.exit_code == 2
    mine.to = mine.to / "below"
    done = mine.get()
    assert done.exit_code == 1
    assert str(mine.to) in done.stderr
    assert not server.requests


def without_privilege() -> None:
    """Take from the superuser, should the tests run as one, the right to pass over permissions."""
    drop_from_bounding_set, dac_override = 24, 1
    ctypes.CDLL(None).prctl(drop_from_bounding_set, dac_override)


def test_a_read_only_folder_is_named(mine: Mine, server: LocalServer) -> None:
    before = older(mine)
    os.chmod(mine.to, 0o555)
    run = process(mine, "--task", "Mood", preexec_fn=without_privilege)
    _, said = run.communicate(timeout=60)
    os.chmod(mine.to, 0o755)
    assert run.returncode == 1, said
    assert f"{mine.to / '.downloads'}: permission denied" in said
    assert mine.prepared() == before
    assert not server.requests


def test_an_interrupt_leaves_what_the_next_run_goes_on_with(mine: Mine, server: LocalServer) -> None:
    server.faults[HUB] = [slow(30)]
    # As a terminal starts it: what a shell runs in the background is deaf to the signal.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    run = process(mine, "--task", "Mood", start_new_session=True, preexec_fn=heed)
    half = len(server.files[HUB]) // 2
    deadline = time.monotonic() + 30
    while not any(part.stat().st_size == half for part in mine.to.rglob("*.part")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=30)
    assert run.returncode == 1
    assert "the same command goes on from here" in said
    assert "Traceback" not in said
    done = mine.get("--task", "Mood")
    assert done.exit_code == 0
    assert server.asked(HUB)[-1].range == f"bytes={half}-"


def test_two_commands_do_not_write_the_same_folder(mine: Mine) -> None:
    folder = mine.to / ".downloads"
    folder.mkdir(parents=True)
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    done = mine.get()
    os.close(handle)
    assert done.exit_code == 1
    assert "another command is getting data into this folder" in done.stderr
    assert mine.get().exit_code == 0

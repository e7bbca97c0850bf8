"""A worker on an organizer's own machine: it has the labels, and takes submissions from the site over HTTPS.

Independent of Django and of the site's folder. The site never gets a label, only the grader's result.
"""

import json
import signal
import subprocess
import sys
import tempfile
import threading
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.submission.client import Client, write_manifest
from gluebench.submission.transport import RefusedByLeaderboardError, UnreachableError

BEAT_SECONDS = 10.0
"""How often the site hears that a grading goes on."""
POLL_SECONDS = 2.0

Say = Callable[[str], None]


def work(client: Client, benchmark: str, gold: Path, *, stop: threading.Event, say: Say) -> int:
    """Grade submissions of a benchmark until `stop` is set; returns how many.

    A submission that is being graded then is finished first. While the site cannot be reached, it waits.
    Raises SendError if the site refuses, as for a token without the right to grade.
    """
    done = 0
    while not stop.is_set():
        try:
            task = client.post("/work", {"benchmark": benchmark})
        except UnreachableError as error:
            say(str(error))
            continue
        if task is None:
            stop.wait(POLL_SECONDS)
        elif _report(client, task, gold, say):
            done += 1
    return done


def serve(client: Client, benchmark: str, gold: Path, say: Say) -> int:
    """As `work`, until this process is told to stop by SIGINT or SIGTERM."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return work(client, benchmark, gold, stop=stop, say=say)


def _report(client: Client, task: Facts, gold: Path, say: Say) -> bool:
    """Grade a submission and send the result; False if another machine has it meanwhile."""
    address = f"/work/{task['key']}/{task['attempt']}"
    ended = threading.Event()
    lost = threading.Event()

    def beat() -> None:
        while not ended.wait(BEAT_SECONDS):
            try:
                client.post(address, {})
            except UnreachableError:
                continue  # the site waits longer than the usual cut of a network
            except RefusedByLeaderboardError:
                lost.set()
                return

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        outcome = _grade(task, gold, lost)
    finally:
        ended.set()
    while not lost.is_set():
        try:
            client.post(address, outcome)
        except UnreachableError as error:
            say(str(error))
        except RefusedByLeaderboardError as refusal:
            if refusal.status != 409:
                raise
            lost.set()
        else:
            say(f"{task['key']}: {outcome.get('error') or 'graded'}")
            return True
    say(f"{task['key']}: another machine has it")
    return False


def _grade(task: Facts, gold: Path, lost: threading.Event) -> Values:
    """The outcome of a grading in a limited process of its own."""
    with tempfile.TemporaryDirectory(prefix="gluebench-work-") as scratch:
        paths = []
        for number, (name, data) in enumerate(task["files"]):
            paths.append(Path(scratch, str(number), Path(name).name))
            paths[-1].parent.mkdir()
            paths[-1].write_bytes(b64decode(data))
        job = {
            "manifest": str(write_manifest(task, Path(scratch), url="the site")),
            "gold": str(gold.absolute()),
            "submission": str(paths[task["submission"]]),
            **task["limits"],
            **{name: task[name] for name in ("rows", "share", "also") if name in task},
        }
        if task["bests"] is not None:
            job["bests"] = {name: str(paths[number]) for name, number in task["bests"].items()}
        return _run(job, lost)


def _run(job: Facts, lost: threading.Event) -> Values:
    command = [sys.executable, "-P", "-m", "gluebench.leaderboard.serving.grader"]
    pipe = subprocess.PIPE
    child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)

    def stop_if_lost() -> None:
        if lost.wait(job["seconds"]):
            child.kill()

    threading.Thread(target=stop_if_lost, daemon=True).start()
    try:
        text, _ = child.communicate(json.dumps(job), timeout=job["seconds"])
        result = json.loads(text)
    except subprocess.TimeoutExpired:
        return {"error": f"Grading took longer than {job['seconds']} seconds and was stopped."}
    except ValueError:
        return {"error": "The grader stopped without a result. Ask the organizer.", "temporary": True}
    finally:
        child.kill()
    if "failed" in result:
        return {"error": f"The grader stopped: {result['failed']}. Ask the organizer."[:200]}
    return {"result": result}

"""Machines that grade elsewhere are killed at random: nothing is lost or double, the site has no label."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from leaderboard.material import CANARIES, MANIFEST, PREDICTIONS, write_gold, zip_bytes
from leaderboard.served import Served

NUMBER, KILLS = 80, 6
MAKE = """
import sys; from datetime import timedelta; from gluebench.leaderboard import commands
commands.add(sys.argv[1], sys.argv[2], None)
from gluebench.leaderboard.apps.accounts.models import User, issue
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
user = User.objects.create_user("organizer@example.org")
Benchmark.objects.get().organizers.add(user)
Benchmark.objects.update(settings={"per_day": None, "at_once": None})
print(issue(user, "a machine", ["grade"], timedelta(days=1))[1])
"""
SEND = """
import sys; from gluebench.leaderboard import commands
for number in range(int(sys.argv[3])):
    commands.submit_local(sys.argv[1], "tiny", "demo@example.org", sys.argv[2], model="M", name=str(number))
"""
COUNT = """
import json, sys; from collections import Counter; from gluebench.leaderboard import commands
commands.open_site(sys.argv[1])
from gluebench.leaderboard.apps.submissions.models import Result, Submission
results = Counter(Result.objects.values_list("submission", flat=True))
print(json.dumps([Submission.objects.filter(status="graded").count(), len(results), sum(results.values())]))
"""


def family(pid: int) -> Iterator[int]:
    """A process and those below it."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from family(int(child))


def holds_a_label(pid: int) -> bool:
    """Whether a label is in the memory of a process."""
    spans = re.findall(r"^(\w+)-(\w+) rw", Path(f"/proc/{pid}/maps").read_text(), re.MULTILINE)
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for first, end in spans:
            memory.seek(int(first, 16))
            try:
                data = memory.read(int(end, 16) - int(first, 16))
            except OSError:  # such as a mapping of the kernel
                continue
            if any(canary.encode() in data for canary in CANARIES):
                return True
    return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="reads the memory of processes by /proc")
def test_kills_of_machines_lose_nothing_and_the_site_never_has_a_label(tmp_path: Path) -> None:
    gold, file = write_gold(tmp_path / "gold"), tmp_path / "a.zip"
    file.write_bytes(zip_bytes(PREDICTIONS))
    site = Served(tmp_path / "site")
    token = site.python(MAKE, str(site.folder), str(MANIFEST)).strip()
    site.python(SEND, str(site.folder), str(file), str(NUMBER))
    command = [sys.executable, "-m", "gluebench", "leaderboard", "work", f"{site.url}/benchmarks/tiny"]
    environment = {**os.environ, "GLUEBENCH_TOKEN": token, "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def machine() -> subprocess.Popen[bytes]:
        return subprocess.Popen([*command, "--gold", gold], env=environment, stdout=subprocess.DEVNULL)

    machines, chance = [machine(), machine()], random.Random(4)
    for _ in range(KILLS):
        time.sleep(chance.uniform(2, 5))
        at = chance.randrange(2)
        machines[at].kill()
        machines[at].wait()
        machines[at] = machine()
    while json.loads(site.python(COUNT, str(site.folder)))[0] < NUMBER:  # a killed one's waits for its lease
        time.sleep(5)
    assert json.loads(site.python(COUNT, str(site.folder))) == [NUMBER] * 3
    pids = [*family(site.process.pid)]
    assert len(pids) >= 2
    assert not any(map(holds_a_label, pids))
    files = [path for path in site.folder.rglob("*") if path.is_file()]
    assert not any(canary.encode() in path.read_bytes() for path in files for canary in CANARIES)
    for one in machines:
        one.terminate()
        assert one.wait(30) == 0
    assert holds_a_label(os.getpid()), "it would be found"
    site.stop()

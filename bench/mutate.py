"""Mutation testing: how many small faults, put into scoring/ and submission/, do the tests notice?

    python bench/mutate.py [--sample N] [--tests FILE ...] [--seconds S] [MODULE ...]

MODULE is a name such as submission.tables or scoring; --sample takes that many mutants of each module.
--tests names test files in place of those of pyproject.toml, and --seconds leaves out every test that takes
longer: a mutant that only such a test would kill is then counted as a survivor. --again runs only those of
the sample that the last run did not kill. An interrupted run keeps the results so far.
mutmut writes the mutants into mutants/ and keeps the results: `mutmut results` lists survivors and
`mutmut show NAME` prints one. `mutmut run` starts pytest for each mutant, which takes hours. This script
collects the tests once, notes which tests call which function, and forks a process for each mutant;
all mutants of both rooms still take hours.
"""

from __future__ import annotations

import argparse
import functools
import gc
import os
import random
import resource
import signal
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings
from mutmut.__main__ import create_mutants
from mutmut.configuration import config
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state
from mutmut.utils.file_utils import (
    change_cwd,
    copy_also_copy_files,
    copy_src_dir,
    setup_source_paths,
    walk_mutatable_files,
)
from mutmut.utils.format_utils import mangled_name_from_mutant_name

KILLED, SURVIVED, NO_TESTS, TIMEOUT = 1, 0, 33, 36
"""Exit codes as mutmut keeps them; a timeout counts as killed."""
MEMORY = 8 << 30


class Slow(BaseException):
    """A test takes longer than --seconds; no Exception, so that Hypothesis does not look for an example."""


class Run:
    """A pytest plugin that runs the collected tests on each mutant."""

    def __init__(self, mutants: list[str], seconds: float) -> None:
        self.mutants = mutants
        self.seconds = seconds
        self.results: dict[str, int] = {}
        self.kills: Counter[pytest.Item] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        session.items, tests = self._tests_by_function(session.items)
        caches = [each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)]
        for cache in caches:
            if cache.__module__.startswith("gluebench"):
                cache.cache_clear()  # a cached result would hide the mutant
        gc.freeze()  # children share the parent's pages
        if self._result("", session.items, 3600) != SURVIVED:
            raise pytest.UsageError(f"{[*self.kills]} fails in a child process without a mutant")
        for name in self.mutants:
            covering = tests[mangled_name_from_mutant_name(name)]
            covering.sort(
                key=lambda test: (-self.kills[test[1]], test[0])
            )  # what killed others, then the fastest
            items = [item for _, item in covering]
            limit = 10 + int(5 * sum(seconds for seconds, _ in covering))
            self.results[name] = self._result(name, items, limit) if items else NO_TESTS
            survived = f"\n{name}: exit code {self.results[name]} of {len(items)} tests\n"
            print("." if self.results[name] == KILLED else survived, end="", flush=True)
        return True

    def _tests_by_function(
        self, items: list[pytest.Item]
    ) -> tuple[list[pytest.Item], dict[str, list[tuple[float, pytest.Item]]]]:
        """The tests that are fast enough, and those of them that call each function, with their seconds."""
        fast, tests = [], defaultdict(list)
        set_mutant_under_test("stats")
        signal.signal(signal.SIGVTALRM, _too_slow)
        for item, following in zip(items, [*items[1:], None], strict=True):
            start = time.perf_counter()
            signal.setitimer(signal.ITIMER_VIRTUAL, self.seconds)
            reports = runtestprotocol(item, log=False, nextitem=following)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            failed = [report for report in reports if report.failed]
            if any("Slow" not in report.longreprtext for report in failed):
                raise pytest.UsageError(f"{item.nodeid} fails without a mutant")
            if not failed:
                fast.append(item)
                for function in state()._stats:
                    tests[function].append((time.perf_counter() - start, item))
            state()._stats.clear()
        print(f"\n{len(fast)} of {len(items)} tests are fast enough", end="", flush=True)
        return fast, tests

    def _result(self, name: str, items: list[pytest.Item], limit: int) -> int:
        """Run the tests on one mutant in a child process that may use `limit` seconds of processor time."""
        reader, writer = os.pipe()
        child = os.fork()
        if child:
            os.close(writer)
            with open(reader, "rb") as failed:
                self.kills.update(items[int(number)] for number in failed.read().split())
            status = os.waitpid(child, 0)[1]
            return TIMEOUT if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)
        code = KILLED
        try:
            signal.alarm(6 * limit)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            set_mutant_under_test(name)
            for number, (item, following) in enumerate(zip(items, [*items[1:], None], strict=True)):
                if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
                    os.write(writer, b"%d" % number)
                    break
            else:
                code = SURVIVED
        finally:
            os._exit(code)


def _too_slow(_signal: int, _frame: object) -> None:
    raise Slow


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("modules", nargs="*", default=["submission", "scoring"])
    parser.add_argument("--sample", type=int, default=1_000_000)
    parser.add_argument("--tests", nargs="+", default=None)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    Path("mutants").mkdir(exist_ok=True)
    copy_src_dir()
    copy_also_copy_files()
    setup_source_paths()
    create_mutants(2)
    sources = {path: SourceFileMutationData(path=path) for path in walk_mutatable_files()}
    chosen: list[str] = []
    modules = {".".join(path.with_suffix("").parts[2:]): source for path, source in sources.items()}
    for source in sources.values():
        source.load()
    for name in options.modules:
        for source in [modules[each] for each in modules if f"{each}.".startswith(f"{name}.")]:
            names = sorted(source.exit_code_by_key)
            sample = random.Random(0).sample(names, min(options.sample, len(names)))
            known = {name: source.exit_code_by_key[name] for name in sample} if options.again else {}
            chosen += [name for name in sample if known.get(name) not in (KILLED, TIMEOUT)]
    run = Run(chosen, options.seconds)
    phases = [Phase.explicit, Phase.generate]  # shrinking a failure would only take time
    settings.register_profile("mutate", database=None, derandomize=True, max_examples=40, phases=phases)
    settings.load_profile("mutate")
    with change_cwd("mutants"):
        tests = options.tests or config().pytest_add_cli_args_test_selection
        arguments = [*config().pytest_add_cli_args, *tests]
        code = pytest.main(["--rootdir=.", *arguments], plugins=[run])
    for path, source in sources.items():
        results = {name: run.results[name] for name in source.exit_code_by_key if name in run.results}
        source.exit_code_by_key |= results
        source.save()
        if results:
            killed = sum(code in (KILLED, TIMEOUT) for code in results.values())
            name = ".".join(path.with_suffix("").parts[3:])
            print(f"{name:20} {killed:5} of {len(results):5} killed  {killed / len(results):6.1%}")
    raise SystemExit(code)


if __name__ == "__main__":
    main()

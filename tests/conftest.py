from __future__ import annotations

import gc
import importlib
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, QUIET
from hypothesis import settings

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.data.sample import build

LIGHT_ROOMS = {"benchmark", "reading", "scoring", "submission"}
# Processes share the cores: more threads of numpy or PyTorch only wait for each other.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# A shared machine may stall any single example; how long things take is measured in bench/, not here.
settings.register_profile("gluebench", deadline=None)
settings.load_profile("gluebench")


def pytest_collection() -> None:
    """Collect no garbage while tests are collected: everything made then is kept."""
    gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file in one process of `--dist loadgroup`, so that its fixtures are made once.

    Files of light rooms come last: with one of many seconds at the end, the other process would be idle.
    """
    items.sort(key=lambda item: not LIGHT_ROOMS.isdisjoint(item.path.parts))
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(f"{item.path.parent.name}/{item.path.stem}"))


def pytest_collection_finish() -> None:
    """Exempt what was imported from garbage collection, which would look through it again and again.

    And collect more rarely than usual: it took a twentieth of the tests' time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(7_000, 10, 10)
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    """End with a line that says what was skipped, and why."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and (skipped := terminal.stats.get("skipped")):
        terminal.write_line(skipped_line([report.longrepr[2] for report in skipped]))


def skipped_line(reasons: Sequence[str]) -> str:
    """The number of skipped tests for each reason, as pytest words it, the most frequent first."""
    counts: Counter[str] = Counter()
    for reason in reasons:
        package = re.search("could not import '([\\w.]+)'", reason)
        counts[f"{package[1]} is not installed" if package else reason.removeprefix("Skipped: ")] += 1
    parts = [f"{count}: {reason}" for reason, count in counts.most_common()]
    return f"{len(reasons)} skipped ({'; '.join(parts)})"


@pytest.fixture(scope="session")
def sample() -> Benchmark:
    return load_benchmark("sample")


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample benchmark as it is built; to read, not to change."""
    target = tmp_path_factory.mktemp("sample") / "data"
    build(target)
    return target


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree; to read, not to change."""
    from fresh import build_wheel

    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def mlcroissant() -> Any:
    """MLCommons' reader of Croissant.

    It imports absl, whose log handler would close the stream that it got, pytest's own, once Django sets up
    logging while another stream stands for it.
    """
    reader = pytest.importorskip("mlcroissant", reason="MLCommons' reader is not installed")
    absl = importlib.import_module("absl.logging")
    absl.get_absl_handler().python_handler.stream = sys.__stderr__
    return reader


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser; for a file and no longer, because Django refuses its database while one runs here."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()

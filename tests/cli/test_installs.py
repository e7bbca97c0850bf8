"""The commands run with the packages that they use, where no others can be imported."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from systems.adapters.chat_server import chatting

from gluebench.cli.common.errors import EXTRAS

WITHOUT = """
import sys
from gluebench.__main__ import main
absent = {absent!r}

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in absent else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Without, sys.meta_path)
for line in {lines!r}:
    try:
        main(line.split(), prog_name="gluebench")
    except SystemExit as end:
        if end.code:
            sys.exit(f"gluebench {{line}} ended with {{end.code}}")
"""
"""Runs commands as if packages were not installed."""
BROUGHT = {
    "": (),
    "data": ("pyarrow", "urllib3", "tqdm"),
    "plot": ("matplotlib",),
    "audit": ("sklearn", "scipy", "joblib"),
    "data,leaderboard": ("pyarrow", "urllib3", "tqdm", "django", "jinja2", "yaml"),
    "train": ("torch", "h5py", "accelerate", "safetensors", "tensorboard", "huggingface_hub", "yaml", "tqdm"),
}
"""Optional packages that each install brings, so far as commands look for them; without extras, none."""
OPTIONAL = {*EXTRAS, "joblib", "dask", "distributed", "submitit", "ray", "matplotlib", "django", "jinja2"}
OPTIONAL |= {"tensorboard", "pandas"}
MODEL = """
class Model:
    def predict(self, task, examples):
        return [task.words[0] if task.labels else 2.5 for _ in examples]
"""
MANIFEST = """
[benchmark]
name = "rte"
extends = "sample"
tasks = ["RTE"]
"""
SCORED = "--benchmark sample --gold data/sample/gold"
RTE = "--benchmark sample --data data --tasks RTE"
COMMANDS = {
    "": (
        "data get sample --to again",
        "data show RTE --benchmark sample --data data --limit 1 --no-pager",
        "data stats sample --data data",
        "data croissant sample --data data",
        "benchmark list",
        "benchmark lint ./rte.toml --data data/sample --gold data/sample/gold",
        "write predictions --benchmark sample --out written.zip",
        "check one.zip --benchmark sample",
        f"grade one.zip {SCORED}",
        f"compare one.zip two.zip {SCORED}",
        f"rank one.zip two.zip {SCORED}",
        f"diagnose one.zip {SCORED}",
        f"errors one.zip {SCORED} --data data --task RTE",
        f"export one.zip {SCORED} --model a/b --eee eee --organization x --relationship other",
        f"run system:majority {RTE} --out system.zip",
        f"run py:mine:Model {RTE} --out py.zip",
        f"sweep --row system:majority {RTE} --seeds 1,2 --out sweep",
        "results one.run --benchmark sample",
        "annotate draw --benchmark sample --data data --out human --seed 1",
    ),
    "data": (
        "data verify sample --data data",
        "data get sample --from data --to parquet",
        f"run api:m@ADDRESS {RTE} --out api.zip --cache kept",
    ),
    "plot": (f"grade one.zip {SCORED} --plot one.svg", f"rank one.zip two.zip {SCORED} --plot two.svg"),
    "audit": ("audit --benchmark sample --data data --gold data/sample/gold --train RTE --test RTE:test",),
    "data,leaderboard": (f"run system:majority {RTE} --out site.zip", "leaderboard init --site site"),
    "train": (f"run cbow {RTE} --out cbow.zip",),
}
"""Plain uses of commands, by the smallest install that they need."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("light")
    (folder / "mine.py").write_text(MODEL)
    (folder / "rte.toml").write_text(MANIFEST)
    runs = [
        f"run system:{system} --benchmark sample --data data --out {name}.zip"
        for name, system in (("one", "majority"), ("two", "overlap"))
    ]
    run_commands(folder, ["data get sample --to data", *runs])
    (folder / "predictions").mkdir()
    (folder / "predictions/RTE.tsv").write_bytes((folder / "data/sample/gold/RTE.tsv").read_bytes())
    return folder


def run_commands(folder: Path, lines: Sequence[str], extras: str = "") -> None:
    """Run commands in a process that can import the optional packages of these extras alone."""
    code = WITHOUT.format(absent=OPTIONAL.difference(BROUGHT[extras]), lines=lines)
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def cases() -> Iterator[Any]:
    """The commands of each install; those that load PyTorch or make a site are left to the longer tests."""
    for extras, lines in COMMANDS.items():
        long = [line for line in lines if "torch" in BROUGHT[extras] or line.startswith("leaderboard init")]
        short = [line for line in lines if line not in long]
        if short:
            yield pytest.param(extras, short, id=extras or "none")
        if long:
            yield pytest.param(extras, long, marks=pytest.mark.slow, id=f"{extras}, long")


@pytest.mark.parametrize(("extras", "lines"), cases())
def test_commands_run_with_no_more_than_they_use(extras: str, lines: list[str], home: Path) -> None:
    for package in BROUGHT[extras]:
        pytest.importorskip(package, reason=f"{package} is not installed; pip install 'gluebench[{extras}]'")
    with chatting(lambda request: "entailment") as server:
        run_commands(home, [line.replace("ADDRESS", server.address) for line in lines], extras)

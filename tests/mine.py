"""A benchmark of the tests' own that is released on the hub and in archives of a local server."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import CliRunner, Result
from local_server import LocalServer

from gluebench.cli import main
from gluebench.data.fingerprint import fingerprint

SIZES = {"train": 1000, "dev": 20, "test": 30}
REVISION = "c0ffee0123456789"
LABELS = ("bad", "good")
TASKS = ("Mood", "Tone")
MANIFEST = """
[benchmark]
name = "mine"
"""
TASK = """
[tasks.{name}]
columns = ["text"]
labels = {{ bad = "a bad one", good = "a good one" }}
metrics = [{{ name = "accuracy" }}]
source = {{ corpus = "own text", license = "The license of {name}.", citation = "none" }}
"""


def texts(task: str, split: str) -> list[str]:
    return [f'{task} {split} {number}: {number * 7919 % 1000003:x} "quoted' for number in range(SIZES[split])]


def labels(split: str) -> list[str] | None:
    return None if split == "test" else [LABELS[number * number % 3 % 2] for number in range(SIZES[split])]


def published(task: str, split: str) -> str:
    return fingerprint({"text": texts(task, split)}, labels(split))


def parquet(task: str, split: str, *, change: str = "") -> bytes:
    """The split as the hub has it: class numbers for words, -1 where they are hidden."""
    words = labels(split)
    numbers = [LABELS.index(word) for word in words] if words else [-1] * SIZES[split]
    rows = {
        "text": [text + change for text in texts(task, split)],
        "label": numbers,
        "idx": range(len(numbers)),
    }
    out = io.BytesIO()
    pq.write_table(pa.table({name: pa.array(values) for name, values in rows.items()}), out)
    return out.getvalue()


def tsv(task: str, split: str, *, rows: int | None = None) -> bytes:
    """The split as its archive has it."""
    words = labels(split)
    lines = ["index\ttext" + ("\tlabel" if words else "")]
    for number, text in enumerate(texts(task, split)[:rows]):
        lines.append(f"{number}\t{text}" + (f"\t{words[number]}" if words else ""))
    return ("\n".join(lines) + "\n").encode()


def zipped(members: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def archive(task: str) -> bytes:
    return zipped({f"{task}/{split}.tsv": tsv(task, split) for split in SIZES})


def hub_path(task: str, split: str) -> str:
    """Where the server has a split's file."""
    return f"/datasets/me/mine/resolve/{REVISION}/{task.lower()}/{split}-00000-of-00001.parquet"


class Mine:
    """The manifest and release in a folder, their files on a server, and the command run on them."""

    def __init__(self, root: Path, server: LocalServer) -> None:
        self.root = root
        self.server = server
        self.manifest = root / "mine.toml"
        self.release = root / "mine.release.toml"
        self.to = root / "data"
        self.home = self.to / "mine"
        self.manifest.write_text(MANIFEST + "".join(map(self._task, TASKS)))
        self.release.write_text(
            f'[hub]\nendpoint = "{server.address}"\nrepository = "me/mine"\nrevision = "{REVISION}"\n'
            + "".join(map(self._release, TASKS))
        )

    def get(self, *options: object, env: Mapping[str, str] | None = None) -> Result:
        """`gluebench data get`, not patient."""
        words = [str(self.manifest), "--to", str(self.to), "--retries", "1", *map(str, options)]
        return CliRunner(env=env).invoke(main, ["data", "get", *words], prog_name="gluebench")

    def prepared(self, task: str = "Mood") -> dict[str, bytes]:
        """Every file of a prepared task."""
        return {path.name: path.read_bytes() for path in sorted((self.home / task).iterdir())}

    def _task(self, name: str) -> str:
        splits = "".join(
            f'splits.{split} = {{ size = {size}, fingerprint = "{published(name, split)}" }}\n'
            for split, size in SIZES.items()
        )
        return TASK.format(name=name) + splits

    def _release(self, name: str) -> str:
        lines = [f'[tasks.{name}]\narchive = "{self.server.address}/archives/{name}.zip"\n']
        self.server.files[f"/archives/{name}.zip"] = archive(name)
        for split in SIZES:
            path, content = hub_path(name, split), parquet(name, split)
            self.server.files[path] = content
            sha256 = hashlib.sha256(content).hexdigest()
            inside = path.partition(f"{REVISION}/")[2]
            lines.append(f"[tasks.{name}.splits.{split}]\n")
            lines.append(f'hub = {{ path = "{inside}", bytes = {len(content)}, sha256 = "{sha256}" }}\n')
        return "".join(lines)

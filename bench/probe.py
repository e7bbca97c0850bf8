"""Probing a task of MNLI's size on 4096-d vectors: the memory that is the process's own.

    python bench/probe.py [--share 0.1]

A child process trains the probe for two epochs on random vectors of a share of MNLI's sentences, stored as
float16, and watches its own RssAnon: memory that nothing on disk backs, unlike the mapped vectors, which the
system takes back when it needs to. A second one does the same at half the share, and the line through both
is drawn on to the whole of MNLI; pair features alone would be 25.7 GB there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

DIM, PAIRS, DEV = 4096, 392_702, 19_647
GOAL = 2.5e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(probe(options.child, options.share)))
        return
    half, found = (measured(share) for share in (options.share / 2, options.share))
    grown = (found["peak"] - half["peak"]) / (options.share / 2)  # for each whole of MNLI
    whole = found["peak"] + grown * (1 - options.share)
    print(f"vectors on disk                        {found['disk'] / 1e9:6.2f} GB")
    print(f"encoding                               {found['encoding']:6.1f} s")
    print(f"two epochs, four penalties             {found['training']:6.1f} s")
    print(f"anonymous memory with PyTorch loaded   {found['start'] / 1e9:6.2f} GB")
    print(f"its peak at {options.share / 2:5.3f} of MNLI             {half['peak'] / 1e9:6.2f} GB")
    print(f"its peak at {options.share:5.3f} of MNLI             {found['peak'] / 1e9:6.2f} GB")
    print(f"along that line at the whole of MNLI   {whole / 1e9:6.2f} GB   goal <= {GOAL / 1e9} GB")
    if whole > GOAL:
        raise SystemExit("more than the goal")


def measured(share: float) -> dict[str, float]:
    """What a process of its own found at a share of MNLI."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--child", folder, "--share", str(share)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def probe(folder: Path, share: float) -> dict[str, float]:
    """Encode and train, and what that took."""
    import numpy as np

    from gluebench.benchmark import load_benchmark
    from gluebench.data import Example
    from gluebench.systems.probe.settings import Preset, ProbeSettings
    from gluebench.systems.probe.system import ProbedEncoder

    task = load_benchmark("glue").task("MNLI")
    preset = Preset("bench", "", ProbeSettings(epoch_size=1, max_epoch=1))
    system = ProbedEncoder(Random(DIM), preset, vectors=folder / "v.npy", precision="float16")
    start = anonymous()  # PyTorch is loaded; no example is
    peak = Peak()
    peak.start()

    def examples(count: int, prefix: str) -> list[Example]:
        """Sentences of about MNLI's lengths, each premise with three hypotheses."""
        rng = np.random.default_rng(0)
        words = task.words
        return [
            Example(
                n,
                dict(
                    zip(
                        task.columns,
                        (f"{prefix} premise {n // 3} ".ljust(110, "x"), f"{prefix} {n} ".ljust(55, "y")),
                        strict=True,
                    )
                ),
                words[rng.integers(3)],
            )
            for n in range(count)
        ]

    train, dev = examples(round(PAIRS * share), "t"), examples(round(DEV * share), "d")
    began = time.perf_counter()
    for split in (train, dev):
        system._features(task, split)
    encoded = time.perf_counter()
    system.fit(task, train, dev)
    peak.stop()
    return {
        "start": start,
        "peak": peak.most,
        "disk": (folder / "v.npy").stat().st_size,
        "encoding": encoded - began,
        "training": time.perf_counter() - encoded,
    }


class Random:
    """Random vectors that depend on the sentence alone."""

    def __init__(self, dim: int) -> None:
        self.name, self.dim = "random", dim

    def encode(self, sentences):  # type: ignore[no-untyped-def]
        import zlib

        import numpy as np

        return np.stack(
            [
                np.random.default_rng(zlib.crc32(text.encode())).standard_normal(self.dim, dtype=np.float32)
                for text in sentences
            ]
        )


def anonymous() -> int:
    """Bytes of this process's memory that no file backs."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("this system does not tell RssAnon; Linux does")


class Peak(threading.Thread):
    """Looks at the memory twenty times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(0.05):
            self.most = max(self.most, anonymous())

    def stop(self) -> None:
        self._over.set()
        self.join()


if __name__ == "__main__":
    main()

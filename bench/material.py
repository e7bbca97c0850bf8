"""What the timings run on: a generated submission and gold of GLUE's exact sizes, and the peers."""

from __future__ import annotations

import argparse
import io
import random
import statistics
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gluebench.benchmark import Benchmark, TestFile, load_benchmark

HEADERS = {"prediction": "index\tprediction\n", "label": "index\tlabel\n"}
AX_TAGS = 1540


def world_options(description: str | None, *, quick: int) -> argparse.ArgumentParser:
    """What every simulation may be told; `--quick` takes that many worlds."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", dest="worlds", action="store_const", const=quick, help=f"{quick} worlds")
    return parser


def write_material(folder: Path, *, seed: int = 0) -> None:
    """Write `good.zip`, `shuffled.zip`, `broken.zip`, `other.zip` of another system, and a gold folder."""
    glue = load_benchmark("glue")
    rng = random.Random(seed)
    gold_folder = folder / "gold"
    gold_folder.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for file in glue.files():
        gold = _gold(file, glue, rng)
        (gold_folder / f"{file.name}.tsv").write_text(HEADERS["label"] + _table(gold))
        rows[file.name] = [_predicted(label, file, glue, rng) for label in gold]
        others[file.name] = [_predicted(label, file, glue, rng) for label in gold]
    _write_tags(gold_folder, glue, rng)
    write_zip(folder / "good.zip", rows, lambda lines: lines)
    write_zip(folder / "other.zip", others, lambda lines: lines)
    write_zip(folder / "shuffled.zip", rows, lambda lines: rng.sample(lines, len(lines)))
    write_zip(folder / "broken.zip", rows, _broken)


def _gold(file: TestFile, glue: Benchmark, rng: random.Random) -> list[str]:
    task = glue.task(file.task)
    if not task.words:
        return [f"{rng.uniform(0, 5):.3f}" for _ in range(file.size())]
    return rng.choices(task.words, k=file.size())


def _predicted(label: str, file: TestFile, glue: Benchmark, rng: random.Random) -> str:
    task = glue.task(file.task)
    if not task.words:
        return f"{min(5.0, max(0.0, float(label) + rng.gauss(0, 0.8))):.3f}"
    return label if rng.random() < 0.85 else rng.choice(task.words)


def _write_tags(folder: Path, glue: Benchmark, rng: random.Random) -> None:
    phenomena, size = glue.task("AX").phenomena, glue.file("AX").size()
    tagged = [*range(size), *rng.choices(range(size), k=AX_TAGS - size)]
    lines = [
        f"{index}\t{phenomenon.coarse}\t{phenomenon.name}"
        for index in sorted(tagged)
        for phenomenon in [rng.choice(phenomena)]
    ]
    (folder / "AX.phenomena.tsv").write_text("index\tcoarse\tfine\n" + "\n".join(dict.fromkeys(lines)) + "\n")
    domains = ["News", "Reddit", "Wikipedia", "ACL", "Artificial"]
    rows = [f"{i}\t{i // 2}\t{('forward', 'backward')[i % 2]}\t{domains[i // 2 % 5]}" for i in range(size)]
    (folder / "AX.metadata.tsv").write_text("index\tgroup\tdirection\tdomain\n" + "\n".join(rows) + "\n")


def _table(values: Sequence[str]) -> str:
    return "".join(f"{index}\t{value}\n" for index, value in enumerate(values))


def write_zip(path: Path, rows: Mapping[str, list[str]], change: Callable[[list[str]], list[str]]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in rows.items():
            lines = change([f"{index}\t{value}\n" for index, value in enumerate(values)])
            archive.writestr(f"{name}.tsv", HEADERS["prediction"] + "".join(lines))


def _broken(lines: list[str]) -> list[str]:
    """Every second row carries a label that does not exist."""
    return [line.replace("\n", "?\n") if at % 2 else line for at, line in enumerate(lines)]


def read_members(path: Path) -> dict[str, bytes]:
    """The limit for reading: `zipfile.read` of every member."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def tuned_pandas(path: Path, gold: Mapping[str, object], folder: Path) -> dict[str, float]:
    """The fastest idiom a user would write: read_csv with inferred dtypes and scikit-learn's metrics.

    `gold` holds the label series by test file, as `pandas_gold` reads them.
    """
    import numpy as np
    import pandas as pd  # noqa: TID251
    from scipy import stats
    from sklearn import metrics  # noqa: TID251

    scores: dict[str, float] = {}
    for member, data in read_members(path).items():
        name = member.removesuffix(".tsv")
        frame = pd.read_csv(io.BytesIO(data), sep="\t", index_col="index", quoting=3).sort_index()
        predicted, labels = frame["prediction"].to_numpy(), np.asarray(gold[name])
        if name == "STS-B":
            scores["STS-B.pearson"] = float(stats.pearsonr(labels, predicted)[0])
            scores["STS-B.spearman"] = float(stats.spearmanr(labels, predicted)[0])
        elif name in ("CoLA", "AX"):
            scores[name] = float(metrics.matthews_corrcoef(labels, predicted))
        else:
            scores[name] = float(np.mean(labels == predicted))
        if name in ("MRPC", "QQP"):
            scores[f"{name}.f1"] = float(metrics.f1_score(labels, predicted))
        if name == "AX":
            tags = pd.read_csv(folder / "gold" / "AX.phenomena.tsv", sep="\t")
            for column in ("coarse", "fine"):
                for category, rows in tags.groupby(column)["index"]:
                    at = rows.unique()
                    scores[f"AX.{category}"] = float(metrics.matthews_corrcoef(labels[at], predicted[at]))
    return scores


def pandas_gold(folder: Path) -> dict[str, object]:
    """The gold columns as pandas reads them."""
    import pandas as pd  # noqa: TID251

    return {
        path.stem: pd.read_csv(path, sep="\t", quoting=3)["label"].to_numpy()
        for path in sorted((folder / "gold").glob("*.tsv"))
        if "." not in path.stem
    }


def interleaved(work: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """CPU seconds of each piece of work, in turn in every round, so that drift of the machine hits all alike.

    Each runs once untimed before it is timed, so that none pays for the caches its neighbor has emptied.
    """
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, each in work.items():
            each()
            start = time.process_time()
            each()
            seconds[name].append(time.process_time() - start)
    return seconds


def ratio(seconds: Mapping[str, Sequence[float]], one: str, other: str) -> float:
    """The median over rounds of one piece of work's time over the other's."""
    return statistics.median(a / b for a, b in zip(seconds[one], seconds[other], strict=True))

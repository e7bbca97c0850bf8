"""What real clients write: variants that lose nothing give the same predictions; no mutation raises."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gluebench.benchmark import Benchmark
from gluebench.submission import check

Texts = dict[str, str]


def per_line(change: Callable[[str], str]) -> Callable[[Texts], Texts]:
    return lambda files: {name: change(text) for name, text in files.items()}


def renamed(change: Callable[[str], str]) -> Callable[[Texts], Texts]:
    return lambda files: {change(name): text for name, text in files.items()}


def reordered(seed: int) -> Callable[[str], str]:
    def change(text: str) -> str:
        header, *rows = text.splitlines(keepends=True)
        random.Random(seed).shuffle(rows)
        return header + "".join(rows)

    return change


def descending(text: str) -> str:
    header, *rows = text.splitlines(keepends=True)
    return header + "".join(reversed(rows))


def with_extra(**extra: str) -> Callable[[Texts], Texts]:
    return lambda files: files | extra


TEXTS: dict[str, Callable[[Texts], Texts]] = {
    "as written": per_line(str),
    "CRLF": per_line(lambda text: text.replace("\n", "\r\n")),
    "CR": per_line(lambda text: text.replace("\n", "\r")),
    "CRLF and LF mixed": per_line(lambda text: text.replace("\n", "\r\n", 2)),
    "byte order mark": per_line(lambda text: "\ufeff" + text),
    "byte order mark and CRLF": per_line(lambda text: "\ufeff" + text.replace("\n", "\r\n")),
    "no last line end": per_line(lambda text: text.removesuffix("\n")),
    "blank lines at the end": per_line(lambda text: text + "\n\n"),
    "blank line in the middle": per_line(lambda text: text.replace("2\t", "\n2\t", 1)),
    "blank first data line": per_line(lambda text: text.replace("\n", "\n\n", 1)),
    "shuffled": per_line(reordered(1)),
    "shuffled otherwise": per_line(reordered(2)),
    "descending": per_line(descending),
    "shuffled with CRLF": per_line(lambda text: reordered(3)(text).replace("\n", "\r\n")),
    "header id": per_line(lambda text: text.replace("index", "id", 1)),
    "header Id": per_line(lambda text: text.replace("index", "Id", 1)),
    "blank header": per_line(lambda text: text.replace("index", "", 1)),
    "capital header": per_line(lambda text: text.replace("index\tprediction", "Index\tPrediction", 1)),
    "lower-case names": renamed(str.lower),
    "upper-case names": renamed(str.upper),
    "diagnostic.tsv": renamed(lambda name: name.replace("DX", "diagnostic")),
    "wrapper folder": renamed(lambda name: "submission/" + name),
    "Windows separators": renamed(lambda name: "submission\\" + name),
    "__MACOSX": with_extra(**{"__MACOSX/._Para.tsv": "\0\5\x16\7", "__MACOSX/._Sim.tsv": "x"}),
    ".DS_Store": with_extra(**{".DS_Store": "Bud1"}),
    "other files": with_extra(**{"README.md": "mine", "config.json": "{}", "predictions_raw.csv": "1,2"}),
    "words for 0 and 1": lambda files: (
        files
        | {"Refer.tsv": files["Refer.tsv"].replace("\t0", "\tnot_entailment").replace("\t1", "\tentailment")}
    ),
    "scores with exponents": lambda files: (
        files | {"Sim.tsv": files["Sim.tsv"].replace("1.5", "15e-1").replace("\t5\n", "\t+5.000\n")}
    ),
}
FORMS: dict[str, dict[str, int]] = {
    "deflated": {"compression": zipfile.ZIP_DEFLATED},
    "stored": {"compression": zipfile.ZIP_STORED},
}


def zipped(files: Texts, **form: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **form) as archive:  # type: ignore[call-overload]
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("variant", TEXTS)
def test_every_variant_gives_the_same_predictions(
    tiny: Benchmark, good: Texts, tmp_path: Path, variant: str, form: str
) -> None:
    path = tmp_path / "submission.zip"
    path.write_bytes(zipped(good))
    expected = check(path, tiny).predictions
    path.write_bytes(zipped(TEXTS[variant](good), **FORMS[form]))
    submission = check(path, tiny)
    assert submission.verdict == "valid", submission.problems
    assert submission.predictions == expected


def test_there_are_at_least_twenty_five_variants() -> None:
    assert len(TEXTS) >= 25


def fuzz(tiny: Benchmark, good: Texts, folder: Path, runs: int, seed: int) -> None:
    """Mutate files and archives: a verdict always comes, with a place for every error."""
    rng, path = random.Random(seed), folder / "s.zip"
    for _ in range(runs):
        files = dict(good)
        name = rng.choice(list(files))
        files[name] = mutated(files[name].encode(), rng).decode("latin-1")
        data = zipped(files, compression=zipfile.ZIP_DEFLATED)
        path.write_bytes(mutated(data, rng) if rng.random() < 0.5 else data)
        submission = check(path, tiny)
        assert (submission.verdict == "invalid") == bool(submission.errors)
        for problem in submission.errors:
            assert problem.expected
            assert problem.fix
            assert str(problem).isprintable() or "\t" in str(problem)


def mutated(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(changed) + 1)
        kind = rng.random()
        if kind < 0.35:
            changed[place:place] = rng.randbytes(rng.randint(1, 5))
        elif kind < 0.7:
            del changed[place : place + rng.randint(1, 20)]
        elif place < len(changed):
            changed[place] ^= 1 << rng.randrange(8)
    return bytes(changed)


def test_mutated_submissions_always_get_a_verdict(tiny: Benchmark, good: Texts, tmp_path: Path) -> None:
    fuzz(tiny, good, tmp_path, runs=600, seed=0)


@pytest.mark.slow
def test_ten_thousand_mutated_submissions_always_get_a_verdict(
    tiny: Benchmark, good: Texts, tmp_path: Path
) -> None:
    fuzz(tiny, good, tmp_path, runs=10_000, seed=1)

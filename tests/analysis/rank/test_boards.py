"""All boards of a benchmark: they agree with each other, with `rank`, and with what is kept of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scoring.material import TASKS, manifest_text, table, write_gold

from gluebench.analysis.board import rank_all
from gluebench.analysis.rank import rank
from gluebench.analysis.rank.decisions import rank_sets
from gluebench.analysis.rank.packed import indistinguishable, restrict, unpack_decisions, unpack_p_values
from gluebench.benchmark import load_benchmark
from gluebench.scoring import Gold, grade, read_gold
from gluebench.scoring.feedback import rounded_report
from gluebench.submission import check

NAMES = ["a", "b", "c", "d", "e"]
NOISE = dict(zip(NAMES, (0.02, 0.1, 0.1, 0.4, 0.9), strict=True))


def answers(gold: Gold, noise: float, seed: int) -> dict[str, list[object]]:
    """Predictions that differ from the labels in about that share of the rows."""
    rng = np.random.default_rng(seed)
    columns: dict[str, list[object]] = {}
    for name, column in gold.columns.items():
        wrong = rng.random(len(column)) < noise
        if not column.labels:
            shifted = np.array(column.values) + rng.normal(0, 5 * noise, len(column))
            columns[name] = shifted.clip(0, 5).round(3).tolist()
            continue
        shift = rng.integers(1, len(column.labels), len(column))
        codes = (np.frombuffer(column.values, np.uint8) + wrong * shift) % len(column.labels)
        columns[name] = [column.labels[code] for code in codes]
    return columns


@pytest.fixture(params=["public", "hidden"])
def board(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Gold, files of five systems, and their scores as shown; labels are public or hidden."""
    more = "private = false\n" if request.param == "public" else ""
    manifest = tmp_path / "small.toml"
    manifest.write_text(manifest_text({name: more + task for name, task in TASKS.items()}))
    gold = read_gold(write_gold(tmp_path / "gold"), load_benchmark(manifest))
    systems, shown = {}, {}
    for seed, name in enumerate(NAMES):
        folder = tmp_path / name
        folder.mkdir()
        for file, values in answers(gold, NOISE[name], seed).items():
            (folder / f"{file}.tsv").write_text(table(values, "prediction"))
        systems[name] = str(folder)
        report = rounded_report(grade(check(folder, gold.benchmark), gold), gold.benchmark)
        shown[name] = {task: part.score.value for task, part in report.tasks.items() if part.score}
    return gold, systems, shown


def ranked(board: Any, **options: Any) -> dict[str, Any]:
    gold, systems, shown = board
    chosen = options.pop("names", list(systems))
    result = rank_all({name: systems[name] for name in chosen}, gold, majorities=[()], shown=shown, **options)
    assert json.loads(json.dumps(result)) == json.loads(json.dumps(result)), "JSON-ready"
    return result


def test_all_boards_agree_with_themselves(board: Any) -> None:
    result = ranked(board)
    assert result["names"] == NAMES
    boards = {"", "Accept", "Pairs", "Pairs/accuracy", "Pairs/f1", "Like/pearson", "Halves", "Probe"}
    assert {*result["decisions"]} > boards | {"Probe:coarse:Logic", "Probe:direction:forward"}
    assert {*result["sets"]} == {*result["decisions"]}
    for name, text in result["decisions"].items():
        better = unpack_decisions(text, 5)
        assert not (better & better.T).any()
        low, high = rank_sets(better)
        sets = result["sets"][name]
        if not name:
            places = result["boards"][""]["rules"]["mean"]["places"]
            assert sets["low"] == [place["rank_low"] for place in places]
            assert sets["high"] == [place["rank_high"] for place in places]
        for at in range(5):
            if sets["withheld"][at] is None:
                assert (sets["low"][at], sets["high"][at]) == (low[at], high[at])
            else:
                assert sets["low"][at] is None
    p = unpack_p_values(result["p_values"][""], 5)
    better = unpack_decisions(result["decisions"][""], 5)
    assert ((p.adjusted <= 0.05) == (better | better.T)).all()
    assert (p.raw <= p.adjusted * (1 + 1e-6)).all()
    assert better.any()
    assert restrict(better, [0, 4])[0].tolist() == [1, 2]
    assert indistinguishable(result["decisions"][""], 5, 0) == [
        at for at in range(1, 5) if not better[0, at] | better[at, 0]
    ]


def test_where_labels_are_public_the_usual_board_is_that_of_rank(board: Any) -> None:
    gold, systems, _ = board
    result = ranked(board)
    ranking = rank(systems, gold)
    places = dict(zip(NAMES, result["boards"][""]["rules"]["mean"]["places"], strict=True))
    better = unpack_decisions(result["decisions"][""], 5)
    for system in ranking.systems:
        place, at = places[system.name], NAMES.index(system.name)
        if gold.benchmark.scored[0].labels_public:
            ends = (system.rank, system.rank_low, system.rank_high)
            assert (place["rank"], place["rank_low"], place["rank_high"]) == ends
            assert system.indistinguishable is not None
            alike = {NAMES[other] for other in indistinguishable(result["decisions"][""], 5, at)}
            assert alike == {*system.indistinguishable}
        else:
            assert place["rank_low"] <= system.rank_low, "rounding widens the sets"
            assert place["rank_high"] >= system.rank_high
    exact = sum(pair.adjusted <= 0.05 for pair in ranking.pairs)
    assert 0 < better.sum() <= exact


def test_neither_rows_nor_systems_nor_labels_have_an_order(board: Any) -> None:
    """The same answers in another order of rows, systems and tasks: every number to 1e-12, and all ranks."""
    gold, *_ = board
    columns = {
        name: [*map(column.labels.__getitem__, column.values)] if column.labels else [*column.values]
        for name, column in gold.columns.items()
        if name != "Probe"
    }
    systems = {name: answers(gold, NOISE[name], seed) for seed, name in enumerate(NAMES)}
    one = rank(
        {name: {file: own[file] for file in columns} for name, own in systems.items()},
        columns,
        benchmark=gold.benchmark,
    )
    rng = np.random.default_rng(3)
    for _ in range(3):
        orders = {file: rng.permutation(len(values)) for file, values in columns.items()}
        turned = {
            name: {file: [own[file][at] for at in orders[file]] for file in reversed([*columns])}
            for name, own in reversed(systems.items())
        }
        labels = {file: [values[at] for at in orders[file]] for file, values in columns.items()}
        other = rank(turned, labels, benchmark=gold.benchmark)
        for system, again in zip(one.systems, other.systems, strict=True):
            assert (system.name, system.text) == (again.name, again.text)
            assert system.value == pytest.approx(again.value, rel=1e-12)
        numbers = {frozenset(pair[:2]): pair[3:] for pair in other.pairs}
        for pair in one.pairs:
            assert numbers[frozenset(pair[:2])] == pytest.approx(pair[3:], rel=1e-10, abs=1e-300)


def test_what_is_kept_changes_nothing(board: Any, tmp_path: Path) -> None:
    fresh = ranked(board)
    cache = tmp_path / "cache" / "small"
    assert ranked(board, cache=cache) == fresh
    assert ranked(board, cache=cache) == fresh
    assert cache.stat().st_mode & 0o777 == 0o700
    fewer = ranked(board, cache=cache, names=NAMES[:4])
    kept = {path.name for path in cache.iterdir()}
    assert fewer == ranked(board, names=NAMES[:4])
    assert ranked(board, cache=cache) == fresh, "one more system"
    assert len({path.name for path in cache.iterdir()} - kept) == 2, "its facts and its influence values"
    for path in cache.iterdir():
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert ranked(board, cache=cache) == fresh, "damaged entries are computed again"
    turned = ranked(board, cache=cache, names=NAMES[::-1])
    assert turned["sets"]["Pairs"]["low"] == fresh["sets"]["Pairs"]["low"][::-1]


def test_a_private_category_needs_the_smallest_size(board: Any) -> None:
    gold, *_ = board
    names = {*ranked(board, smallest=30)["sets"]}
    assert "Probe:coarse:Logic" in names  # 40 examples
    public = gold.benchmark.task("Probe").labels_public
    assert ("Probe:coarse:Knowledge" in names) == public  # 20 examples
    assert "Probe:coarse:Knowledge" in {*ranked(board)["sets"]}


def test_a_system_that_lacks_a_set_has_no_rank_there(board: Any) -> None:
    _, systems, _ = board
    (Path(systems["b"]) / "Probe.tsv").unlink()
    sets = ranked(board)["sets"]["Probe"]
    assert sets["low"][1] is None
    assert sets["withheld"] == [None, "it has no score there", None, None, None]
    assert {*sets["high"]} <= {None, 1, 2, 3, 4}


def test_a_submission_that_is_not_valid_is_left_out(board: Any) -> None:
    _, systems, _ = board
    (Path(systems["c"]) / "Pairs.tsv").write_text(table([1, 0], "prediction"))
    assert ranked(board)["names"] == ["a", "b", "d", "e"]
    with pytest.raises(ValueError, match="1 of 2 submissions are valid; expected at least two"):
        ranked(board, names=["a", "c"])


def test_a_majority_task_makes_no_difference(board: Any) -> None:
    gold, systems, shown = board
    result = rank_all(systems, gold, majorities=[(), ("Accept",)], shown=shown)
    of_majority = result["boards"]["Accept"]
    at = of_majority["tasks"].index("Accept")
    assert len({row[at] for row in of_majority["scores"]}) == 1
    assert "Accept" not in result["decisions"] or result["decisions"]["Accept"] != ""
    for rule in ("mean", "rank-score"):
        low = [place["rank_low"] for place in of_majority["rules"][rule]["places"]]
        assert low.count(None) == 0


@pytest.mark.slow
def test_hidden_labels_tell_no_equal_systems_apart(tmp_path: Path) -> None:
    """Nearly identical systems on either side of a rounding step are not told apart more often than 5 %."""
    from gluebench.analysis.rank.decisions import PairVariances, covariances, decide
    from gluebench.scoring.feedback import rounded_value, rounding_width

    rng = np.random.default_rng(0)
    worlds = 600
    for systems, size, change in ((2, 300, 0.01), (2, 300, 0.1), (10, 300, 0.1), (10, 1000, 0.02)):
        wrong = 0
        for _ in range(worlds):
            base = rng.random(size) < 0.8
            right = (base ^ (rng.random((systems, size)) < change)).astype(float)
            means = right.mean(axis=1)
            shown = np.array([rounded_value(mean, size, 0.0) for mean in means])
            widths = np.array([rounding_width(mean, size, 0.0) for mean in means])
            influence = right - means[:, np.newaxis]
            variances = PairVariances(systems)
            variances.add(covariances(lambda part, of=influence: of[:, part], systems, size), size)
            z = variances.deviates(shown, rounding=widths**2 / 6)
            wrong += decide(z).better.any()
        assert wrong / worlds <= 0.077, (systems, size, change)  # 0.05 and three standard errors

"""What the probe learns, against scikit-learn, PyTorch's own optimizers and hand-worked targets."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nearly import same_weights
from sklearn.linear_model import LogisticRegression  # noqa: TID251 the oracle
from sklearn.metrics import matthews_corrcoef  # noqa: TID251 the oracle

torch = pytest.importorskip("torch", reason="the probe needs gluebench[train]")

from gluebench.systems.probe.classifier import (  # noqa: E402
    Features,
    Probe,
    Run,
    SideBySide,
    expected_score,
    fit_classifier,
    fit_regression,
    four_ways,
    levels,
    outputs,
    two_hot,
    two_ways,
)
from gluebench.systems.probe.settings import (  # noqa: E402
    DEFAULT,
    PRESETS,
    ProbeSettings,
    RelatednessSettings,
    preset_called,
)

QUICK = ProbeSettings(epoch_size=1, max_epoch=15)


def split(count: int, seed: int, *, noise: float = 0.0, dim: int = 8) -> tuple[np.ndarray, list[int]]:
    """Vectors and classes that a fixed linear rule gives them, with so much noise before the rule."""
    weights = np.random.default_rng(99).standard_normal((dim, 3))
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((count, dim)).astype(np.float32)
    scores = rows @ weights + noise * rng.standard_normal((count, 3))
    return 10 * rows, [int(code) for code in scores.argmax(axis=1)]


def single(rows: np.ndarray) -> Features:
    return Features(rows, np.arange(len(rows))[:, None])


def fitted(settings: ProbeSettings, *, noise: float = 0.0) -> tuple[Probe, float, float]:
    """A probe, its accuracy on other data, and that of scikit-learn there."""
    rows, codes = split(400, 1, noise=noise)
    dev, dev_codes = split(300, 2, noise=noise)
    test, test_codes = split(1000, 3, noise=noise)
    probe = fit_classifier(single(rows), codes, single(dev), dev_codes, classes=3, settings=settings)
    found = probe.outputs(single(test)).argmax(dim=1).numpy()
    oracle = LogisticRegression(max_iter=1000).fit(rows, codes)
    return probe, float((found == test_codes).mean()), float(oracle.score(test, test_codes))


@pytest.mark.parametrize("noise", [0.0, 2.0])
@pytest.mark.parametrize("optim", ["adam", "rmsprop"])
def test_as_good_as_scikit_learn_on_what_a_line_parts(optim: str, noise: float) -> None:
    settings = ProbeSettings(optim=optim, batch_size=16, tenacity=5, penalties=(1e-5, 1e-3))  # type: ignore[arg-type]
    probe, ours, theirs = fitted(settings, noise=noise)
    assert ours == pytest.approx(theirs, abs=0.03)
    assert theirs > 0.9 if noise == 0 else 0.5 < theirs < 0.85
    assert probe.runs[probe.chosen].score == max(run.score for run in probe.runs)


def test_nothing_is_learned_where_there_is_nothing() -> None:
    rng = np.random.default_rng(0)
    rows, codes = rng.standard_normal((400, 8)).astype(np.float32), rng.integers(0, 2, 400).tolist()
    test, wanted = rng.standard_normal((2000, 8)).astype(np.float32), rng.integers(0, 2, 2000)
    probe = fit_classifier(single(rows), codes, single(rows), codes, classes=2, settings=QUICK)
    assert float((probe.outputs(single(test)).argmax(dim=1).numpy() == wanted).mean()) == pytest.approx(
        0.5, abs=0.04
    )


def test_a_hidden_layer_learns_what_no_line_parts() -> None:
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, 1, (400, 2)).astype(np.float32)
    codes = ((rows[:, 0] > 0) ^ (rows[:, 1] > 0)).astype(int).tolist()
    settings = ProbeSettings(optim="rmsprop", batch_size=16, penalties=(1e-5,), max_epoch=30)
    args = (single(rows[:300]), codes[:300], single(rows[300:]), codes[300:])
    flat = fit_classifier(*args, classes=2, settings=settings)
    deep = fit_classifier(*args, classes=2, settings=replace(settings, nhid=32))
    assert flat.runs[0].score < 0.7
    assert deep.runs[0].score > 0.9
    again = replace(settings, nhid=32, dropout=0.3, max_epoch=3)
    one, two, other = (
        fit_classifier(*args, classes=2, settings=replace(again, seed=seed)).model.state_dict()
        for seed in (1, 1, 2)
    )
    assert same_weights(one, two), "dropout too is drawn from the seed"
    assert not same_weights(one, other)


def test_the_same_seed_gives_the_same_weights_and_leaves_torch_as_it_was() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, two = (fitted(QUICK)[0].model.state_dict() for _ in range(2))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert same_weights(one, two)
    other = fitted(replace(QUICK, seed=2))[0].model.state_dict()
    assert not same_weights(one, other)


@pytest.mark.parametrize("optim", ["adam", "rmsprop"])
@pytest.mark.parametrize("nhid", [0, 5])
@pytest.mark.parametrize("loss", ["mean", "sum"])
def test_runs_side_by_side_are_pytorchs_own_with_weight_decay(optim: str, nhid: int, loss: str) -> None:
    """Each penalty alone, in a plain loop with nn.Linear and weight_decay, ends at the same weights."""
    penalties = (1e-3, 0.3)
    settings = ProbeSettings(
        optim=optim,  # type: ignore[arg-type]
        loss=loss,  # type: ignore[arg-type]
        nhid=nhid,
        penalties=penalties,
        epoch_size=2,
        max_epoch=0,
        batch_size=16,
    )
    rows, codes = split(70, 1)
    probe = fit_classifier(single(rows), codes, single(rows), codes, classes=3, settings=settings)
    torch.manual_seed(settings.seed)
    layers = [torch.nn.Linear(8, nhid), torch.nn.Sigmoid(), torch.nn.Linear(nhid, 3)] if nhid else []
    model = torch.nn.Sequential(*(layers or [torch.nn.Linear(8, 3)]))
    kind = torch.optim.Adam if optim == "adam" else torch.optim.RMSprop
    optimizer = kind(model.parameters(), weight_decay=penalties[probe.chosen])
    criterion = torch.nn.CrossEntropyLoss(reduction=loss)
    order = torch.Generator().manual_seed(settings.seed)
    for _ in range(2):
        for chosen in torch.randperm(70, generator=order).split(16):
            optimizer.zero_grad()
            criterion(model(torch.tensor(rows)[chosen]), torch.tensor(codes)[chosen]).backward()
            optimizer.step()
    with torch.no_grad():
        theirs = model(torch.tensor(rows))
    torch.testing.assert_close(probe.outputs(single(rows)), theirs, atol=2e-5, rtol=1e-4)


def test_epochs_are_counted_and_the_best_look_is_kept() -> None:
    rows, codes = split(200, 1)
    wrong = [(code + 1) % 3 for code in codes]  # the more it learns, the worse on dev
    probe = fit_classifier(single(rows), codes, single(rows), wrong, classes=3, settings=QUICK)
    best = [run.score for run in probe.runs]
    assert all(run.epochs <= 16 for run in probe.runs)
    short = fit_classifier(
        single(rows), codes, single(rows), wrong, classes=3, settings=replace(QUICK, tenacity=0)
    )
    assert [run.epochs for run in short.runs] == [2] * 4, "the second look is the first without improvement"
    kept = float((probe.outputs(single(rows)).argmax(dim=1).numpy() == wrong).mean())
    assert kept == pytest.approx(max(best))
    whole = fit_classifier(
        single(rows), codes, single(rows), codes, classes=3, settings=replace(QUICK, tenacity=99)
    )
    assert [run.epochs for run in whole.runs] == [16] * 4


# ---------------------------------------------------------------- when it stops


def test_a_round_is_begun_after_exactly_max_epoch_epochs() -> None:
    rows, codes = split(8, 1)
    for max_epoch, epoch_size, epochs in (
        (15, 1, 16), (200, 4, 204), (200, 2, 202), (3, 4, 4), (7, 4, 8), (8, 4, 12), (0, 1, 1)
    ):  # fmt: skip
        done = 0
        while done <= max_epoch:  # the original's loop
            done += epoch_size
        limits = {"max_epoch": max_epoch, "epoch_size": epoch_size, "tenacity": 999, "penalties": (0.0,)}
        settings = ProbeSettings(**limits)  # type: ignore[arg-type]
        probe = fit_classifier(single(rows), codes, single(rows), codes, classes=3, settings=settings)
        assert probe.runs[0].epochs == epochs == done


def test_a_regression_ends_with_max_epoch_epochs() -> None:
    rows, _ = split(4, 1)
    scale, scores = levels((0.0, 5.0)), [0.0, 1.0, 3.0, 5.0]
    for max_epoch, epochs in ((250, 250), (120, 150), (50, 50)):
        own = RelatednessSettings(max_epoch=max_epoch, tenacity=999)
        settings = ProbeSettings(relatedness=own)
        args = (single(rows), scores, single(rows), scores)
        assert fit_regression(*args, scale=scale, settings=settings).runs[0].epochs == epochs


def stopped(scores: list[float], tenacity: int) -> Run:
    """The run of a classifier that has these scores on dev, one after each epoch."""
    rows, script = single(np.eye(2, dtype=np.float32)), iter(scores)
    settings = ProbeSettings(tenacity=tenacity, epoch_size=1, max_epoch=len(scores) - 1, penalties=(0.0,))
    fitted = fit_classifier(
        rows, [0, 1], rows, [0, 1], classes=2, settings=settings, score=lambda _: next(script)
    )
    return fitted.runs[0]


def looks(scores: list[float], tenacity: int) -> int:
    """How many scores are looked at until the end."""
    return stopped(scores, tenacity).epochs


def test_misses_count_in_all_and_not_in_a_row() -> None:
    #         best  miss  best  miss  miss  best  miss
    scores = [0.50, 0.40, 0.60, 0.60, 0.55, 0.70, 0.10, 0.80]
    assert looks(scores, 0) == 2
    assert looks(scores, 1) == 4, "an equal score is not an improvement, an improvement takes no miss back"
    assert looks(scores, 2) == 5
    assert looks(scores, 3) == 7
    assert looks(scores, 4) == 8


def test_the_best_score_is_kept_and_nan_is_0() -> None:
    scores = [-0.5, math.nan, 0.0, 0.2, 0.1]
    assert [stopped(scores[:number], 5).score for number in range(1, 6)] == [-0.5, 0.0, 0.0, 0.2, 0.2]
    assert looks(scores, 0) == 3, "NaN is 0, which is better than -0.5 and no worse than 0"


# ---------------------------------------------------------------- features


def test_features_of_pairs_and_of_one_text_by_hand() -> None:
    vectors = np.array([[1, 2], [3, -1], [0, 5]], dtype=np.float16)
    rows = np.array([[0, 1], [2, 2]])
    four = Features(vectors, rows, four_ways)
    assert four.width == 8
    assert four.batch(slice(0, 2)).tolist() == [[1, 2, 3, -1, 3, -2, 2, 3], [0, 5, 0, 5, 0, 25, 0, 0]]
    two = Features(vectors, rows, two_ways)
    assert two.batch(np.array([1, 0])).tolist() == [[0, 0, 0, 25], [2, 3, 3, -2]]
    one = Features(vectors, rows[:, :1], four_ways)
    assert (one.width, len(one)) == (2, 2)
    assert one.batch(slice(0, 1)).tolist() == [[1, 2]]


def test_answers_do_not_depend_on_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _ = split(100, 4)
    model = SideBySide(8, 3, runs=2)
    whole = outputs(model, single(rows))
    monkeypatch.setattr("gluebench.systems.probe.classifier.BLOCK", 56)
    torch.testing.assert_close(outputs(model, single(rows)), whole)


# ---------------------------------------------------------------- relatedness


def test_two_hot_targets_by_hand() -> None:
    paper, whole = levels((1.0, 5.0)), levels((0.0, 5.0))
    assert paper.tolist() == [1, 2, 3, 4, 5]
    assert whole.tolist() == [0, 1, 2, 3, 4, 5]
    found = two_hot([3.0, 3.6, 5.0, 1.25, 0.4, 0.0], paper)
    assert found == pytest.approx(
        np.array(
            [
                [0, 0, 1, 0, 0],
                [0, 0, 0.4, 0.6, 0],
                [0, 0, 0, 0, 1],
                [0.75, 0.25, 0, 0, 0],
                [0.4, 0, 0, 0, 0],
                [0, 0, 0, 0, 0],
            ]
        )
    )
    assert two_hot([0.4, 0.0], whole) == pytest.approx(np.array([[0.6, 0.4, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]]))


@given(st.floats(0, 5))
def test_a_score_on_the_scale_has_shares_that_average_to_it(score: float) -> None:
    scale = levels((0.0, 5.0))
    shares = two_hot([score], scale)[0].astype(float)
    assert shares.sum() == pytest.approx(1, abs=1e-6)
    assert shares @ scale == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("scale", [(0.0, 1.0), (0.0, 100.0), (-1.5, 2.0)])
def test_other_scales_have_six_levels(scale: tuple[float, float]) -> None:
    found = levels(scale)
    assert len(found) == 6
    assert (found[0], found[-1]) == scale


def test_the_expected_score_is_the_mean_of_the_levels() -> None:
    scale = levels((1.0, 5.0))
    sure = torch.tensor([[0.0, 50.0, 0, 0, 0], [0.0, 0, 0, 0, 0]])
    assert expected_score(sure, scale) == pytest.approx([2.0, 3.0])


def test_likeness_is_learnt() -> None:
    rng = np.random.default_rng(0)
    first = rng.standard_normal((500, 6))
    blend = rng.uniform(0, 1, 500)[:, None]
    second = blend * first + (1 - blend) * rng.standard_normal((500, 6))
    scores = (5 * blend[:, 0]).tolist()
    vectors = np.concatenate([first, second]).astype(np.float32)
    pairs = np.stack([np.arange(500), np.arange(500, 1000)], axis=1)
    train, dev = (Features(vectors, pairs[part], two_ways) for part in (slice(0, 400), slice(400, 500)))
    probe = fit_regression(
        train,
        scores[:400],
        dev,
        scores[400:],
        scale=levels((0.0, 5.0)),
        settings=ProbeSettings(relatedness=RelatednessSettings(epoch_size=10, max_epoch=100), seed=1),
    )
    found = expected_score(probe.outputs(dev), levels((0.0, 5.0)))
    assert np.corrcoef(found, scores[400:])[0, 1] == pytest.approx(probe.runs[0].score, abs=1e-6)
    assert probe.runs[0].score > 0.75


# ---------------------------------------------------------------- presets


def test_the_paper_rows_as_their_scripts_ran_them() -> None:
    """Optimizer, batch, tenacity and epochs a round, which SST-2 keeps; one epoch a round elsewhere."""
    rows = {
        "cbow": ("adam", 16, 5, 4),
        "skip-thought": ("adam", 64, 5, 4),
        "infersent": ("rmsprop", 128, 3, 2),
        "dissent": ("adam", 64, 5, 4),
        "gensen": ("adam", 16, 5, 4),
    }
    for row, wanted in rows.items():
        preset = preset_called(f"paper:{row}")
        own, forced = preset.of("SST-2"), preset.of("MNLI")
        assert (own.optim, own.batch_size, own.tenacity, own.epoch_size) == wanted
        assert (own.max_epoch, forced.max_epoch, forced.epoch_size) == (200, 15, 1)
        assert forced == replace(own, max_epoch=15, epoch_size=1)
        assert own.relatedness.scale == (1.0, 5.0)
        assert {each.seed for each in (preset.seeded(7).of("SST-2"), preset.seeded(7).of("RTE"))} == {7}
    assert len(PRESETS) == len(rows) + 3
    assert preset_called("senteval-default").of("SST-2") == ProbeSettings()


def test_the_metric_chooses_balanced_classes_where_accuracy_leaves_one_out() -> None:
    rng = np.random.default_rng(0)
    codes = (rng.random(400) < 0.8).astype(int)
    rows = rng.standard_normal((400, 5)).astype(np.float32)
    rows[:, 0] += 0.75 * (codes - 0.5)
    part = slice(0, 200), slice(200, 400)
    train, dev = (single(rows[own]) for own in part)
    labels = [codes[own].tolist() for own in part]
    plain = ProbeSettings(batch_size=16, epoch_size=2, max_epoch=24, penalties=(1e-5, 1e-3))
    probe = fit_classifier(train, labels[0], dev, labels[1], classes=2, settings=plain)
    accuracy_only = probe.outputs(dev).argmax(dim=1).numpy()
    by_metric = replace(plain, choose="metric", balance=True)
    chosen = fit_classifier(
        train,
        labels[0],
        dev,
        labels[1],
        classes=2,
        settings=by_metric,
        score=lambda predicted: float(matthews_corrcoef(labels[1], predicted)),
    )
    assert [run.balanced for run in chosen.runs] == [False, False, True, True]
    assert chosen.runs[chosen.chosen].balanced
    predicted = chosen.outputs(dev).argmax(dim=1).numpy()
    assert chosen.runs[chosen.chosen].score == pytest.approx(matthews_corrcoef(labels[1], predicted))
    assert chosen.runs[chosen.chosen].score > matthews_corrcoef(labels[1], accuracy_only)
    oracle = LogisticRegression(C=100, class_weight="balanced").fit(rows[part[0]], labels[0])
    theirs = matthews_corrcoef(labels[1], oracle.predict(rows[part[1]]))
    assert chosen.runs[chosen.chosen].score == pytest.approx(theirs, abs=0.1)
    assert theirs > 0.1


def test_only_the_default_preset_chooses_by_the_metric() -> None:
    assert {name for name, preset in PRESETS.items() if preset.settings.choose == "metric"} == {DEFAULT}
    assert not any(own.balance for preset in PRESETS.values() for own in preset.tasks.values())

"""Metrics of text, sets, probabilities and distributions against scikit-learn, scipy and plain loops."""

from __future__ import annotations

import re
import string
from collections import Counter

import numpy as np
import pytest
from scipy.spatial.distance import cityblock, jensenshannon
from scipy.stats import wasserstein_distance
from scoring.columns import RESAMPLES, left_out, resampled, spread_error
from sklearn import metrics as sk  # noqa: TID251

from gluebench.benchmark import Metric
from gluebench.scoring import measure
from gluebench.scoring.inference import file_intervals
from gluebench.scoring.intervals import TOO_FEW
from gluebench.scoring.metrics import METRICS, point
from gluebench.scoring.metrics.plain import pairs_of
from gluebench.scoring.metrics.texts import normalize, tokens_of
from gluebench.scoring.paired import paired_tests
from gluebench.scoring.units import units_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
RNG = np.random.default_rng
TOPICS = ("art", "law", "music", "war")
WORDS = ["The", "a", "cat", "cats,", "Cat!", "an", "", "ran", "the-cat", "Ünal", "«x»"]


def plain_text(text: str) -> str:
    """In the steps of the published description."""
    text = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def plain_token_f1(gold: str, predicted: str, empty: float) -> float:
    first, second = plain_text(gold).split(), plain_text(predicted).split()
    if not first and not second:
        return empty
    shared = sum((Counter(first) & Counter(second)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(second), shared / len(first)
    return 2 * precision * recall / (precision + recall)


def longest_common_run(first, second) -> int:
    """By comparing all slices."""
    slices = {tuple(second[at:end]) for at in range(len(second)) for end in range(at, len(second) + 1)}
    runs = (tuple(first[at:end]) for at in range(len(first)) for end in range(at, len(first) + 1))
    return max(map(len, slices.intersection(runs)), default=0)


def plain_run_f1(gold, predicted) -> float:
    """The harmonic mean of the shares of both that their longest common run covers."""
    if not gold or not predicted:
        return float(gold == predicted)
    run = longest_common_run(gold, predicted)
    precision, recall = run / len(predicted), run / len(gold)
    return 2 * precision * recall / (precision + recall) if run else 0.0


def korean(text: str) -> str:
    """As KLUE's published code normalizes texts."""
    return " ".join("".join(letter for letter in text.lower() if letter not in string.punctuation).split())


CMRC_MARKS = {*"-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』"}


def chinese(text: str) -> str:
    """As CMRC 2018's published code does for exact match."""
    return "".join(letter for letter in text.lower().strip() if letter not in CMRC_MARKS)


def chinese_tokens(text: str) -> list[str]:
    """Chinese characters, and the words between them."""
    spaced = "".join(f" {letter} " if "一" <= letter <= "龥" else letter for letter in chinese(text))
    return spaced.split()


def test_longest_runs_against_a_loop() -> None:
    words = [
        "서울",
        "서울시",
        "KBS",
        "kbs 1TV",
        "a",
        "the",
        "《北京》",
        "北京大学",
        "大学",
        "78.1",
        "Windows-10",
        "",
    ]
    for seed in range(40):
        rng = RNG(seed)
        gold = [["".join(rng.choice([*words, " "], rng.integers(0, 4))) for _ in range(rng.integers(1, 3))]
                for _ in range(20)]  # fmt: skip
        predicted = ["".join(rng.choice([*words, " "], rng.integers(0, 4))) for _ in gold]
        pairs = list(zip(gold, predicted, strict=True))
        for name, language, parts in (
            ("substring_f1", "", plain_text),
            ("substring_f1", "ko", korean),
            ("token_run_f1", "", lambda text: plain_text(text).split()),
            ("token_run_f1", "zh-CMRC", chinese_tokens),
            ("exact_match", "ko", korean),
            ("exact_match", "zh-CMRC", chinese),
        ):
            metric = Metric(name, name, "", "", language=language)
            value = point(metric, pairs_of("text", gold, predicted)).value
            same = plain_run_f1 if name != "exact_match" else lambda a, b: float(a == b)
            scores = [max(same(parts(each), parts(p)) for each in answers) for answers, p in pairs]
            assert value == pytest.approx(np.mean(scores), abs=1e-12), (name, language)


def test_longest_runs_by_hand() -> None:
    assert measure("substring_f1", [["이순신 장군"]], ["순신 장군님"]) == pytest.approx(2 * 5 / 12)
    assert measure("substring_f1", ["", "x", ""], ["", "", "y"]) == pytest.approx(1 / 3)
    long = "ab" * 150
    assert measure("substring_f1", [long], [long[1:]]) == pytest.approx(2 * 299 / 599), (
        "frequent letters count"
    )
    assert measure("token_run_f1", ["a b c d"], ["b c x d"]) == pytest.approx(2 * 2 / 7), (
        "without the article"
    )


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("《Windows系统》，3.5 KB", ["windows", "系", "统", "3.5", "kb"]),
        ("约1,000人（78.1%）", ["约", "1,000", "人", "78.1", "%"]),
        ("St. John", ["st.", "john"]),
        ("(U.S.) a, b.", ["(", "u.s.", ")", "a", ",", "b", "."]),
        ("-- 1 - 2", ["1", "2"]),
    ],
)
def test_tokens_of_cmrc(text: str, tokens: list[str]) -> None:
    """As its script has them, with NLTK's word_tokenize between Chinese characters."""
    assert tokens_of(text, "zh-CMRC") == tokens


def texts(rng, size: int):
    def text():
        return " ".join(rng.choice(WORDS, rng.integers(0, 4)))

    return [[text() for _ in range(rng.integers(1, 4))] for _ in range(size)], [text() for _ in range(size)]


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("", "The «x»", ["«x»"]),
        ("en", "The «x», an A-b", ["x", "ab"]),
        ("de", "Der Hund (des Königs) …", ["hund", "königs"]),
        ("es", "¿Las casas? el", ["casas"]),
        ("vi", "những cái nhà", ["nhà"]),
        ("ar", "الكتاب الجديد", ["كتاب", "جديد"]),
        ("hi", "किताब। the नई", ["किताब", "the", "नई"]),
        ("zh", "在1999年，the UN", ["在", "1999", "年", "the", "un"]),
    ],
)
def test_texts_of_a_language(language: str, text: str, tokens: list[str]) -> None:
    """As the published description of MLQA's scorer has it; without a language as SQuAD's."""
    assert normalize(text, language).split() == tokens


def test_texts_against_a_loop() -> None:
    for seed in range(40):
        gold, predicted = texts(RNG(seed), 30)
        pairs = list(zip(gold, predicted, strict=True))
        exact = np.mean([plain_text(p) in [plain_text(each) for each in answers] for answers, p in pairs])
        assert measure("exact_match", gold, predicted) == pytest.approx(exact, abs=1e-12)
        for name, empty in (("token_f1", 0.0), ("token_f1_v2", 1.0)):
            f1 = np.mean([max(plain_token_f1(each, p, empty) for each in answers) for answers, p in pairs])
            assert measure(name, gold, predicted) == pytest.approx(f1, abs=1e-12)


def test_texts_by_hand() -> None:
    assert measure("exact_match", ["The  U.S."], ["us"]) == 1.0
    assert measure("token_f1", [["blue cat", "a cat ran"]], ["cat ran off"]) == pytest.approx(0.8)
    assert measure("token_f1", ["", "x"], ["", ""]) == 0.0
    assert measure("token_f1_v2", ["", "x"], ["the", ""]) == 0.5, "an unanswerable question"


def some_sets(rng, size: int, chance: float):
    table = rng.random((size, len(TOPICS))) < chance
    return table, [[topic for topic, there in zip(TOPICS, row, strict=True) if there] for row in table]


SETS = {
    "sets_accuracy": sk.accuracy_score,
    "sets_jaccard": lambda *tables: sk.jaccard_score(*tables, average="samples", zero_division=1),
    "sets_sample_f1": lambda *tables: sk.f1_score(*tables, average="samples", zero_division=1),
    "sets_micro_f1": lambda *tables: sk.f1_score(*tables, average="micro", zero_division=0),
    "sets_macro_f1": lambda *tables: sk.f1_score(*tables, average="macro", zero_division=0),
    "sets_macro_f1_gold": lambda gold, predicted: np.mean(
        sk.f1_score(gold, predicted, average=None, zero_division=0)[gold.any(axis=0)]
    ) if gold.any() else 0.0,
    "sets_weighted_f1": lambda *tables: sk.f1_score(*tables, average="weighted", zero_division=0),
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_sets_are_scikit_learns(name: str) -> None:
    for seed in range(40):
        rng = RNG(seed)
        size, chances = int(rng.integers(1, 30)), rng.choice([0, 0.05, 0.4, 1], 2)
        (table, gold), (of_system, predicted) = (some_sets(rng, size, chance) for chance in chances)
        value = measure(name, gold, predicted, labels=TOPICS)
        assert value == pytest.approx(SETS[name](table, of_system), abs=1e-12)


def test_without_labels_a_macro_f1_of_sets_is_over_those_that_occur() -> None:
    assert measure("sets_macro_f1", [["a"], ["b"]], [{"a"}, {"c"}]) == pytest.approx(1 / 3)


def some_probabilities(rng, size: int, classes: int, *, sharp: float = 2.0):
    logits = rng.normal(0, sharp, (size, classes))
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return shares, np.array([rng.choice(classes, p=row) for row in shares])


def calibration_error(gold, shares) -> float:
    """A loop over 15 bins, each with its upper end."""
    confidence, right = shares.max(axis=1), shares.argmax(axis=1) == gold
    error = 0.0
    for lower in range(15):
        inside = (confidence > lower / 15) & (confidence <= (lower + 1) / 15)
        if inside.any():
            error += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    return -error


PROBABILITIES = {
    "neg_log_loss": lambda gold, shares: -sk.log_loss(gold, shares, labels=range(shares.shape[1])),
    "neg_brier": lambda gold, shares: -sk.brier_score_loss(
        np.eye(shares.shape[1])[gold] if shares.shape[1] > 2 else gold,
        shares if shares.shape[1] > 2 else shares[:, 1],
    ),
    "neg_ece": calibration_error,
    "probability_accuracy": lambda gold, shares: np.mean(shares.argmax(axis=1) == gold),
    "probability_micro_f1_without": lambda gold, shares: sk.f1_score(
        gold, shares.argmax(axis=1), labels=[0, *range(2, shares.shape[1])], average="micro", zero_division=0
    ),
    "roc_auc": lambda gold, shares: sk.roc_auc_score(gold == 1, shares[:, 1])
    if 0 < (gold == 1).sum() < len(gold) else 0.0,
    "macro_average_precision": lambda gold, shares: np.mean(
        [sk.average_precision_score(gold == code, shares[:, code]) for code in np.unique(gold)]
    ),
    "macro_pr_auc": lambda gold, shares: np.mean(
        [klue_pr_auc(gold == code, shares[:, code]) for code in np.unique(gold)]
    ),
}  # fmt: skip


def klue_pr_auc(own, given) -> float:
    """As KLUE's published code calls scikit-learn for each relation."""
    precision, recall, _ = sk.precision_recall_curve(own, given)
    return float(sk.auc(recall, precision))


def test_areas_of_a_label_that_is_not_in_gold_are_left_out() -> None:
    gold, shares = ["art", "art", "law"], [[0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.3, 0.4, 0.3]]
    two = [row[:2] for row in shares]
    for name in ("macro_average_precision", "macro_pr_auc"):
        of_two = measure(name, gold, two, labels=TOPICS[:2], exclusive=False)
        assert measure(name, gold, shares, labels=TOPICS[:3]) == of_two


@pytest.mark.parametrize("name", PROBABILITIES)
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_scikit_learns(name: str, classes: int) -> None:
    for seed in range(40):
        rng = RNG(seed)
        shares, gold = some_probabilities(
            rng, int(rng.integers(2, 40)), classes, sharp=rng.choice([0.1, 2, 9])
        )
        shares = shares.round(int(rng.integers(1, 9)))
        shares[:, -1] = np.maximum(1 - shares[:, :-1].sum(axis=1), 0)  # some are 0 or 1
        shares /= shares.sum(axis=1, keepdims=True)
        positive = TOPICS[1] if name in POSITIVE else None
        words = [TOPICS[code] for code in gold]
        value = measure(name, words, shares, positive=positive, labels=TOPICS[:classes])
        assert value == pytest.approx(PROBABILITIES[name](gold, shares), abs=1e-12, rel=1e-12)


def test_distributions_are_scipys() -> None:
    for seed in range(40):
        rng = RNG(seed)
        gold, _ = some_probabilities(rng, 20, 4, sharp=rng.choice([0.1, 5, 40]))
        shares, _ = some_probabilities(rng, 20, 4)
        gold[rng.random(20) < 0.3] = np.eye(4)[1]
        shares[rng.random(20) < 0.3] = np.eye(4)[2]
        with np.errstate(invalid="ignore"):  # the root of -0.0000..1 for equal rows
            distance = np.mean(
                np.nan_to_num([jensenshannon(*rows, base=2) for rows in zip(gold, shares, strict=True)])
            )
        assert measure("neg_jensen_shannon", gold, shares) == pytest.approx(-distance, abs=1e-12)
        epsilon = np.finfo(float).eps
        entropy = -sum(
            share * np.log(min(max(answer, epsilon), 1 - epsilon))
            for rows in zip(gold, shares, strict=True) for share, answer in zip(*rows, strict=True)
        )  # fmt: skip
        assert measure("neg_cross_entropy", gold, shares) == pytest.approx(-entropy / 20, rel=1e-12)
    assert measure("neg_jensen_shannon", [[1, 0]], [[0, 1]]) == pytest.approx(-1.0)
    assert measure("neg_jensen_shannon", [[0.3, 0.7]], [[0.3, 0.7]]) == 0.0


def test_distances_of_distributions() -> None:
    """Manhattan and Wasserstein distances, each label 1 apart from the next, as scipy has them."""
    for seed in range(40):
        rng = RNG(seed)
        gold, _ = some_probabilities(rng, 20, 6, sharp=rng.choice([0.1, 5, 40]))
        shares, _ = some_probabilities(rng, 20, 6)
        gold[rng.random(20) < 0.3] = np.eye(6)[1]
        rows = [*zip(gold, shares, strict=True)]
        manhattan = -np.mean([cityblock(*each) for each in rows])
        assert measure("neg_manhattan", gold, shares) == pytest.approx(manhattan, abs=1e-12)
        wasserstein = -np.mean([wasserstein_distance(range(6), range(6), *each) for each in rows])
        assert measure("neg_wasserstein", gold, shares) == pytest.approx(wasserstein, abs=1e-12)
    assert measure("neg_manhattan", [[1, 0, 0]], [[0, 0, 1]]) == -2.0
    assert measure("neg_wasserstein", [[1, 0, 0]], [[0, 0, 1]]) == -2.0
    assert measure("neg_wasserstein", [[1, 0, 0]], [[0, 1, 0]]) == -1.0


DISTRIBUTIONS = ("neg_cross_entropy", "neg_jensen_shannon", "neg_manhattan", "neg_wasserstein")


def systems_of(name: str, size: int):
    """Two systems of the metric's form, the first with better answers."""
    rng = RNG(5)
    if METRICS[name].name.startswith("sets"):
        table, gold = some_sets(rng, size, 0.4)
        answers = [table ^ (rng.random(table.shape) < share) for share in (0.1, 0.2)]
        columns = [
            [[t for t, there in zip(TOPICS, row, strict=True) if there] for row in each] for each in answers
        ]
        return [pairs_of("sets", gold, each) for each in columns]
    if name in (*PROBABILITIES, *ANSWERED):
        shares, gold = some_probabilities(rng, size, 3)
        noisy, _ = some_probabilities(rng, size, 3, sharp=1.0)
        words = [TOPICS[code] for code in gold]
        return [
            pairs_of("probabilities", words, each, labels=TOPICS[:3])
            for each in (shares, (shares + noisy) / 2)
        ]
    if name in DISTRIBUTIONS:
        gold, _ = some_probabilities(rng, size, 3)
        noisy, _ = some_probabilities(rng, size, 3)
        return [pairs_of("distributions", gold, gold * (1 - part) + noisy * part) for part in (0.3, 0.6)]
    gold = [" ".join(rng.choice(["cat", "dog", "ran", "sat"], rng.integers(0, 4))) for _ in range(size)]
    return [
        pairs_of("text", gold, [each if rng.random() < share else "cat" for each in gold])
        for share in (0.8, 0.5)
    ]


POSITIVE = ("roc_auc", "f05_u", "f1_answered", "probability_micro_f1_without")
ANSWERED = ("c_at_1", "f05_u", "f1_answered")
CELLS = [
    *SETS,
    *PROBABILITIES,
    *ANSWERED,
    *DISTRIBUTIONS,
    "exact_match",
    "token_f1",
    "token_f1_v2",
    "substring_f1",
    "token_run_f1",
]


@pytest.mark.parametrize("resamples", RESAMPLES)
@pytest.mark.parametrize("name", CELLS)
def test_intervals_and_tests_follow(name: str, resamples: int) -> None:
    size = 250 if name != "neg_ece" else 500
    systems = systems_of(name, size)
    metric = Metric(name, name, name, "F", TOPICS[1] if name in POSITIVE else None, TOPICS)
    units = units_of([metric], systems)
    without = [row for row in range(size) if row != 17]
    values = [point(metric, pairs.subset(without)).value for pairs in systems]
    # of the area under the ROC curve, components are not changes (test_influence.py)
    tolerance = 1e-4 if name == "roc_auc" else 1e-12
    assert left_out(metric, systems)[:, 17] == pytest.approx(values, abs=tolerance)
    drawn = resampled(metric, systems, resamples)
    (bar,) = file_intervals([metric], systems[0], [point(metric, systems[0])])
    low, high = np.percentile(drawn[0], [2.5, 97.5])
    # the calibration error of a resample is larger on average
    tolerance = 0.7 if name == "neg_ece" else 2 * spread_error(resamples)
    assert (bar.low, bar.high) == pytest.approx((low, high), abs=tolerance * (high - low))
    lowest, highest = METRICS[name].bounds
    assert lowest <= bar.low < bar.high <= highest
    (test,) = paired_tests(units, resamples=999, rng=RNG(3))
    error = 0.6 if name == "neg_ece" else 1.5 * spread_error(resamples)
    assert test.error == pytest.approx((drawn[0] - drawn[1]).std(), rel=error)
    assert test.difference == pytest.approx(np.subtract(*units.values()[0]))


def test_a_calibration_error_needs_more_examples_for_an_interval() -> None:
    metric = Metric("neg_ece", "neg_ece", "", "")
    for size, withheld in ((499, TOO_FEW), (500, None)):
        pairs = systems_of("neg_ece", size)[0]
        assert file_intervals([metric], pairs, [point(metric, pairs)])[0].withheld == withheld


def test_a_value_of_zero_has_a_reason() -> None:
    def reason(name: str, *columns, form: str):
        return point(Metric(name, name, "", "", "a"), pairs_of(form, *columns)).undefined

    assert reason("sets_micro_f1", [[]], [[]], form="sets") == "neither gold nor predictions have any label"
    assert reason("sets_micro_f1", [["a"]], [[]], form="sets") is None
    assert (
        reason("roc_auc", ["a"], [[1.0]], form="probabilities") == "gold has only positive examples, or none"
    )


@pytest.mark.parametrize(
    ("name", "columns", "message"),
    [
        ("sets_accuracy", ([["a"], ["b"]], [["a"], ["b", "b"]]), "predictions: .*'b', 'b'.* at position 1 "),
        (
            "neg_log_loss",
            (["a", "b"], [[1.0, 0, 0], [0.5]]),
            "predictions: .* at position 0 .*; expected 2 plain decimals that sum to 1, in the order a, b",
        ),
        ("exact_match", (["a"], [None]), "predictions: None at position 0"),
        (
            "neg_cross_entropy",
            ([[0.5, 0.5]], [[1.0, 0, 0]]),
            "predictions: .*1.0.* expected 2 plain decimals",
        ),
        (
            "roc_auc",
            (["a", "b"], [[1, 0], [0, 1]]),
            "positive=None is none of the labels that occur: 'a', 'b'",
        ),
        ("sets_accuracy", ([], []), "there are no examples"),
        ("group_agreement", (["a"], ["a"]), "there are 2 groups and 1 examples"),
    ],
)
def test_what_cannot_be_compared_is_explained(name: str, columns, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure(name, *columns, groups=[1, 2] if name == "group_agreement" else None)


@pytest.mark.parametrize(
    ("gold", "predicted", "squad", "plain", "numeric"),
    [
        ("A", "", 1, 0, 0),
        ("3.14", "314", 1, 0, 0),
        ("-5", "5", 1, 0, 0),
        ("C++", "C", 1, 0, 0),
        ("The cat", "cat", 1, 0, 0),
        ("C++", " C++ ", 1, 1, 1),
        ("3.14", "3.140", 0, 0, 1),
        ("1,000", "1e3", 0, 0, 1),
        ("1,00", "100", 1, 0, 0),
        ("0.1", "0.10000000000000001", 0, 0, 0),
        ("nan", "NaN", 1, 0, 0),
    ],
)
def test_exact_matches_by_three_rules(
    gold: str, predicted: str, squad: int, plain: int, numeric: int
) -> None:
    names = ("exact_match", "plain_exact_match", "numeric_exact_match")
    assert [measure(name, [[gold, "else"]], [predicted]) for name in names] == [squad, plain, numeric]
    assert all(measure(name, [gold], [gold]) == 1 for name in names)

"""Predictions and labels given from Python: every usual container means the same, and others are refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluebench
from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.scoring import GoldError, metrics, read_gold

Values = Sequence[Any]
LABELS, NUMBERS = [1, 0, 0, 1, 1, 0], [0, 1, 5, 3, 2]
WORDS = ["neutral", "entailment", "entailment", "contradiction", "neutral", "neutral"]


@pytest.fixture(scope="module")
def tiny() -> Benchmark:
    return load_benchmark(Path(__file__).parents[1] / "tiny.toml")


def torch_values() -> dict[str, Callable[[Values], Any]]:
    """What PyTorch makes of a column, where it is installed (the train extra)."""
    if find_spec("torch") is None:
        return {}
    import torch

    return {
        "tensor": torch.tensor,
        "tensor of floats": lambda values: torch.tensor(values, dtype=torch.float32),
        "bfloat16": lambda values: torch.tensor(values, dtype=torch.bfloat16),
        "with a gradient": lambda values: torch.tensor(values, dtype=torch.float32, requires_grad=True),
        "list of tensors": lambda values: [torch.tensor(value) for value in values],
        "formatted column": lambda values: column(values, "torch"),
    }


def column(values: Values, form: str | None = None) -> Any:
    import datasets

    return datasets.Dataset.from_dict({"label": list(values)}).with_format(form)["label"]


def numeric() -> dict[str, Callable[[Values], Any]]:
    import pandas as pd  # noqa: TID251 - what a user gives
    import polars as pl
    import pyarrow as pa

    return {
        "tuple": tuple,
        "generator": iter,
        "integers": np.array,
        "whole floats": lambda values: np.array(values, np.float64),
        "half floats": lambda values: np.array(values, np.float16),
        "list of NumPy's": lambda values: list(np.array(values)),
        "list of float32": lambda values: [np.float32(value) for value in values],
        "Series": pd.Series,
        "nullable Int64": lambda values: pd.Series(values, dtype="Int64"),
        "nullable Float64": lambda values: pd.Series(values, dtype="Float64"),
        "Series of Arrow": lambda values: pd.Series(values, dtype=pd.ArrowDtype(pa.int64())),
        "categorical": lambda values: pd.Series(values, dtype="category"),
        "polars": pl.Series,
        "Arrow": pa.array,
        "chunked": lambda values: pa.chunked_array([values[:2], values[2:]]),
        "Arrow scalars": lambda values: list(pa.array(values)),
        "datasets": column,
        "datasets of NumPy": lambda values: column(values, "numpy"),
    }


def indexed() -> dict[str, Callable[[Values, str], Any]]:
    import datasets
    import pandas as pd  # noqa: TID251 - what a user gives
    import polars as pl
    import pyarrow as pa

    return {
        "dict": lambda values, _: dict(reversed(list(enumerate(values)))),
        "dict of columns": lambda values, name: {name: list(values), "index": range(len(values))},
        "DataFrame": lambda values, name: pd.DataFrame({"index": range(len(values)), name: values})[::-1],
        "polars frame": lambda values, name: pl.DataFrame({name: values, "index": range(len(values))}),
        "Arrow table": lambda values, name: pa.table({"index": range(len(values)), name: values}),
        "Dataset": lambda values, name: datasets.Dataset.from_dict(
            {name: values, "index": range(len(values))}
        ),
    }


def test_every_container_of_numbers_is_the_same_as_a_list(tiny: Benchmark) -> None:
    expected = read_gold({"Para": LABELS, "Sim": NUMBERS}, tiny).columns
    predicted = [0, 0, 1, 1, 1, 0]
    wrong = []
    for name, make in {**numeric(), **torch_values()}.items():
        labels = {"Para": make(LABELS), "Sim": make(NUMBERS)}
        report = gluebench.grade(labels, {"Para": make(LABELS), "Sim": NUMBERS}, benchmark=tiny)
        same = read_gold({"Para": make(LABELS), "Sim": make(NUMBERS)}, tiny).columns == expected
        same &= [task.score and task.score.value for task in report.tasks.values()] == [1.0, 1.0, None, None]
        same &= metrics.f1(make(LABELS), predicted, positive=1) == metrics.f1(LABELS, predicted, positive=1)
        same &= metrics.pearson(NUMBERS[::-1], make(NUMBERS)) == metrics.pearson(NUMBERS[::-1], NUMBERS)
        wrong += [] if same else [name]
    assert wrong == []


def test_words_and_indexed_values_in_every_container(tiny: Benchmark) -> None:
    import pandas as pd  # noqa: TID251 - what a user gives
    import polars as pl
    import pyarrow as pa

    gold = read_gold({"Infer-m": WORDS}, tiny)
    plain: dict[str, Callable[[Values], Any]] = {
        "object array": lambda values: np.array(values, object),
        "array of strings": np.array,
        "StringDtype": lambda values: pd.Series(values, dtype="string"),
        "categories of polars": lambda values: pl.Series(values, dtype=pl.Categorical),
        "dictionary of Arrow": lambda values: pa.array(values).dictionary_encode(),
        "datasets": column,
    }
    wrong = []
    for name, make in plain.items():
        report = gluebench.grade({"Infer-m": make(WORDS)}, gold)
        if report.tasks["Infer"].metrics["matched_accuracy"].value != 1.0:
            wrong.append(name)
    for name, make_indexed in indexed().items():
        report = gluebench.grade({"Infer-m": make_indexed(WORDS, "prediction")}, gold)
        same = report.tasks["Infer"].metrics["matched_accuracy"].value == 1.0
        same &= read_gold({"Infer-m": make_indexed(WORDS, "label")}, tiny).columns == gold.columns
        wrong += [] if same else [name]
    assert wrong == []


def test_true_and_false_are_the_labels_1_and_0(tiny: Benchmark) -> None:
    import pandas as pd  # noqa: TID251 - what a user gives
    import pyarrow as pa

    booleans = [bool(label) for label in LABELS]
    for values in (booleans, np.array(booleans), pd.Series(booleans, dtype="boolean"), pa.array(booleans)):
        assert read_gold({"Para": values}, tiny).columns["Para"].words() == [str(label) for label in LABELS]
        assert metrics.accuracy(LABELS, values) == 1.0


def test_whatever_is_not_one_value_per_example_is_refused() -> None:
    import pandas as pd  # noqa: TID251 - what a user gives

    frame = pd.DataFrame({"index": range(6), "prediction": LABELS})
    cases: list[tuple[Any, str]] = [
        (np.zeros((6, 2)), r"shape \(6, 2\); .* take the label with the highest"),
        (np.zeros((6, 1)), r"shape \(6, 1\); expected one"),
        ("110010", "found str '110010'"),
        ({1, 0}, r"found set \{0, 1\}"),
        (3, "found int 3"),
        (np.array(3), r"shape \(\)"),
        ([[1], [0]], r"found list \[1\] at position 0; expected one label or number"),
        ([1, {"label": 0}], r"found dict \{'label': 0\} at position 1"),
        (dict(enumerate(LABELS)), "found dict"),
        (frame, "found a DataFrame of shape"),
        (pd.Series([1, None], dtype="Int64"), "predictions: None at position 1"),
        (["1", "0"], "mix label words and numbers"),
    ]
    for values, message in cases:
        gold = LABELS[: len(values)] if hasattr(values, "__len__") and len(np.shape(values)) else LABELS
        with pytest.raises(ValueError, match=message):
            metrics.accuracy(gold, values)


def test_labels_that_are_wrong_name_their_place(tiny: Benchmark) -> None:
    with pytest.raises(GoldError, match=r"(?s)gold labels in the mapping given.*Para.*index 2.*found '7'"):
        read_gold({"Para": [1, 0, 7, 1, 1, 0]}, tiny)
    with pytest.raises(GoldError, match="one row for each example"):
        read_gold({"Para": [1, 0]}, tiny)
    assert len(read_gold({"Para": {0: 1, 4: 0}}, tiny, partial=True).columns["Para"]) == 2
    with pytest.raises(ValueError, match=r"the gold labels of Para: found .* shape \(6, 3\)"):
        read_gold({"Para": np.zeros((6, 3))}, tiny)
    with pytest.raises(gluebench.UnknownNameError, match="Parra"):
        read_gold({"Parra": LABELS}, tiny)
    gold = read_gold({"Para": LABELS}, tiny)
    assert (gold.version, gold.warnings) == (None, ()), "no key can be kept beside a mapping"

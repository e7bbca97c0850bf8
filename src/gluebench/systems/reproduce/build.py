"""From a row's name to a system that fits and predicts tasks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.protocols import TrainablePredictor
from gluebench.systems.reproduce.files import Files, check_files
from gluebench.systems.reproduce.presets import DEFAULT, Recipe, recipe
from gluebench.systems.reproduce.row import row_called

PathLike = str | os.PathLike[str]


def system(
    name: str,
    corpus: Corpus,
    *,
    preset: str = DEFAULT,
    vectors: PathLike | None = None,
    weights: PathLike | None = None,
    folder: PathLike | None = None,
    seeds: Sequence[int] = (),
    device: str = "cpu",
    say: Callable[[str], None] | None = None,
) -> TrainablePredictor:
    """The system of a row of Table 4, made from its file; `corpus` is the benchmark that it will answer.

    `vectors` is a file of word vectors, `weights` a folder of published weights, `folder` where runs are
    kept. A BiLSTM row trains a run for each seed and answers with the best on dev, a frozen row takes the
    first seed. Raises UnknownNameError for a row or preset, CannotBeHadError for files that are not there.
    """
    files = Files(Path(vectors) if vectors else None, Path(weights) if weights else None)
    row_recipe = recipe(row_called(name), preset, seeds=seeds)
    return made(row_recipe, corpus, files, folder=Path(folder) if folder else None, device=device, say=say)


def made(
    row_recipe: Recipe,
    corpus: Corpus,
    files: Files,
    *,
    folder: Path | None = None,
    device: str = "cpu",
    say: Callable[[str], None] | None = None,
) -> TrainablePredictor:
    """The system of a recipe. Raises CannotBeHadError for files that are not there."""
    check_files(row_recipe, files)
    if row_recipe.probe is None:
        from gluebench.systems.reproduce.neural import NeuralSystem

        return NeuralSystem(row_recipe, corpus, files, folder=folder, device=device, say=say)
    from gluebench.systems.reproduce.frozen import probed

    return probed(row_recipe, files, corpus, folder=folder, device=device)

"""QNLI from SQuAD, or from any question-answering set of its shape; recipes.toml has the procedure."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.errors import DataError, gathered, refuse
from gluebench.data.recipes import Columns, RecipeResult
from gluebench.data.recipes.qa_pairs import (
    Contest,
    Passage,
    balance_labels,
    contests,
    passage,
    read_squad,
    words,
)
from gluebench.data.recipes.reading import Reader, table
from gluebench.data.recipes.sentences import ENGLISH, RELEASED, Splitter
from gluebench.data.vectors import Vectors, read_vectors

Pair = tuple[Contest, str, str]
"""One example before it has an index: its contest, sentence and label."""


def build(folder: Path, task: Task, options: Mapping[str, Any]) -> RecipeResult:
    """The splits of a QNLI-shaped task from the SQuAD-shaped files of a folder. Raises DataError."""
    reader = Reader(folder, task, options)
    reader.inputs(2)
    reader.words(("answer", "no answer"))
    _check(options)
    paths = {split: folder / options[split] for split in ("train", "dev", "test") if options[split]}
    present = {split: path for split, path in paths.items() if path.exists()}
    if not present:
        names = " or ".join(path.name for path in paths.values())
        raise DataError(f"{folder}: holds no {names}; name the files with the options train, dev and test")
    notes = []
    for split, path in paths.items():
        if split not in present:
            notes.append(f"no {path.name}: the {split} split was not built")
    passages_of_splits = _passages(present, options)
    vectors = read_vectors(options["vectors"], _vocabulary(passages_of_splits.values()))
    columns = task.columns + ("label", "question_id", "article")
    splits: dict[str, Columns] = {}
    for split, passages in passages_of_splits.items():
        rng = random.Random(f"{options['seed']} {split}")
        pairs = _pairs(passages, split, vectors, task, options, rng, notes)
        for name, part in _divide_dev(pairs, split, options, rng).items():
            rows = []
            for contest, sentence, label in part:
                rows.append((contest.question, sentence, label, contest.id, contest.article))
            splits[name] = table(columns, rows)
    # Options record a file by its name only; the list of files read has its path and content.
    used = {name: value.name if isinstance(value, Path) else value for name, value in options.items()}
    files = list(present.values())
    files += [options[name] for name in ("vectors", "abbreviations") if options[name]]
    return RecipeResult(splits, used, tuple(files), tuple(notes))


def _vocabulary(passages_of_splits: Iterable[Sequence[Passage]]) -> set[str]:
    """All words of the texts, also in lower case."""
    vocabulary: set[str] = set()
    for passages in passages_of_splits:
        for one in passages:
            for text in one.texts:
                vocabulary.update(words(text))
    return vocabulary | {word.lower() for word in vocabulary}


def _check(options: Mapping[str, Any]) -> None:
    problems = []
    if not options["vectors"]:
        problems.append("option vectors: not given; expected a file of word vectors, as glove.840B.300d.txt")
    if not 0 <= options["min-overlap"] <= 1:
        problems.append(f"option min-overlap: {options['min-overlap']}; expected a share from 0 to 1")
    if options["margin"] is not None and not options["margin"] >= 0:
        problems.append(f"option margin: {options['margin']}; expected a difference of cosines, 0 or more")
    refuse(problems)


def _passages(paths: Mapping[str, Path], options: Mapping[str, Any]) -> dict[str, list[Passage]]:
    """The paragraphs of each file, split into sentences. Raises DataError with the problems of all files."""
    paragraphs_of_splits = gathered(lambda _, path: read_squad(path), paths)
    contexts = [paragraph.context for paragraph in chain.from_iterable(paragraphs_of_splits.values())]
    as_released = options["sentences"] == "release"
    abbreviations = RELEASED if as_released else ENGLISH
    if options["abbreviations"]:
        abbreviations = _abbreviations(options["abbreviations"])
    splitter = Splitter(contexts, abbreviations=abbreviations, strays=as_released)
    passages = {}
    for split, paragraphs in paragraphs_of_splits.items():
        passages[split] = [
            passage(paragraph, splitter, line_break=options["line-break"]) for paragraph in paragraphs
        ]
    return passages


def _abbreviations(path: Path) -> frozenset[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").lower().split()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise DataError(f"{path}: {reason}; expected abbreviations, one on each line") from None
    return frozenset(line.removesuffix(".") for line in lines)


def _pairs(
    passages: Sequence[Passage],
    split: str,
    vectors: Vectors,
    task: Task,
    options: Mapping[str, Any],
    rng: random.Random,
    notes: list[str],
) -> list[Pair]:
    """Two pairs of each selected question, in random order; appends to `notes`."""
    rivals = list(contests(passages, vectors, min_overlap=options["min-overlap"]))
    lost, won = balance_labels(rivals, margin=options["margin"], second=options["second"], rng=rng)
    notes.extend(_notes(split, passages, rivals, lost, won))
    holds, lacks = task.words
    pairs: list[Pair] = []
    for contest in lost + won:
        pairs += [(contest, contest.answer, holds), (contest, contest.distractor, lacks)]
    rng.shuffle(pairs)
    return pairs


def _notes(
    split: str,
    passages: Sequence[Passage],
    rivals: Sequence[Contest],
    lost: Sequence[Contest],
    won: Sequence[Contest],
) -> list[str]:
    questions = list(chain.from_iterable(one.questions for one in passages))
    several = sum(sum(question.holds) > 1 for question in questions)
    nowhere = sum(not any(question.holds) for question in questions)
    alone = len(questions) - several - nowhere - len(rivals)
    misled = sum(contest.lead < 0 for contest in rivals)
    return [
        f"{split}: {len(questions)} questions with answers; passed over: {several} with an answer in several "
        f"sentences, {nowhere} in none, {alone} with no other sentence or no known word; "
        f"{sum(one.unanswered for one in passages)} without an answer",
        f"{split}: the answer's sentence was not the most similar one for {misled} of {len(rivals)} "
        f"questions; taken: {len(lost)} of those, and {len(won)} where it was",
    ]


def _divide_dev(
    pairs: Sequence[Pair], split: str, options: Mapping[str, Any], rng: random.Random
) -> dict[str, list[Pair]]:
    """Split the pairs of the dev file into dev and test, unless test has its own file."""
    if split != "dev" or options["test"]:
        return {split: list(pairs)}
    keys: list[object] = list(range(len(pairs)))
    if options["deal"] != "pairs":
        attribute = {"questions": "id", "articles": "article"}[options["deal"]]
        keys = [getattr(contest, attribute) for contest, _, _ in pairs]
    sizes = Counter(keys)
    order = list(sizes)
    rng.shuffle(order)
    dev: set[object] = set()
    count = 0
    for key in order:
        if 2 * (count + sizes[key]) <= len(pairs):
            dev.add(key)
            count += sizes[key]
    halves: dict[str, list[Pair]] = {"dev": [], "test": []}
    for key, pair in zip(keys, pairs, strict=True):
        half = "dev" if key in dev else "test"
        halves[half].append(pair)
    return halves

"""QNLI from SQuAD, or from any question-answering set of its shape; recipes.toml has the procedure."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.errors import DataError, gathered, refuse
from gluebench.data.recipes import Built, Columns
from gluebench.data.recipes.qa_pairs import Contest, Passage, balanced, contests, passage, read_squad, words
from gluebench.data.recipes.reading import Reader, table
from gluebench.data.recipes.sentences import ENGLISH, RELEASED, Splitter
from gluebench.data.vectors import Vectors, read_vectors

Pair = tuple[Contest, str, str]
"""One example before it has an index: its contest, sentence and label."""


def build(folder: Path, task: Task, options: Mapping[str, Any]) -> Built:
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
    notes = [
        f"no {path.name}: the {split} split was not built"
        for split, path in paths.items()
        if split not in present
    ]
    passages = _passages(present, options)
    texts = (text for part in passages.values() for one in part for text in one.texts)
    vocabulary = {word for text in texts for word in words(text)}
    vectors = read_vectors(options["vectors"], vocabulary | {word.lower() for word in vocabulary})
    columns = (*task.columns, "label", "question_id", "article")
    splits: dict[str, Columns] = {}
    for split, part in passages.items():
        rng = random.Random(f"{options['seed']} {split}")
        pairs = _pairs(part, split, vectors, task, options, rng, notes)
        for name, dealt in _dealt(pairs, split, options, rng).items():
            rows = ((one.question, text, label, one.id, one.article) for one, text, label in dealt)
            splits[name] = table(columns, rows)
    # Options record a file by its name only; the list of files read has its path and content.
    used = {name: value.name if isinstance(value, Path) else value for name, value in options.items()}
    files = (*present.values(), options["vectors"], options["abbreviations"])
    return Built(splits, used, tuple(filter(None, files)), tuple(notes))


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
    paragraphs = gathered(lambda _, path: read_squad(path), paths)
    contexts = (paragraph.context for part in paragraphs.values() for paragraph in part)
    released = options["sentences"] == "release"
    listed = options["abbreviations"]
    known = _abbreviations(listed) if listed else (RELEASED if released else ENGLISH)
    splitter = Splitter(contexts, abbreviations=known, strays=released)
    return {
        split: [passage(paragraph, splitter, line_break=options["line-break"]) for paragraph in part]
        for split, part in paragraphs.items()
    }


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
    lost, won = balanced(rivals, margin=options["margin"], second=options["second"], rng=rng)
    notes.extend(_notes(split, passages, rivals, lost, won))
    holds, lacks = task.words
    pairs: list[Pair] = []
    for contest in (*lost, *won):
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
    questions = [question for one in passages for question in one.questions]
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


def _dealt(
    pairs: Sequence[Pair], split: str, options: Mapping[str, Any], rng: random.Random
) -> dict[str, list[Pair]]:
    """Split the pairs of the dev file into dev and test, unless test has its own file."""
    if split != "dev" or options["test"]:
        return {split: list(pairs)}
    keys: list[object] = list(range(len(pairs)))
    if options["deal"] != "pairs":
        attribute = {"questions": "id", "articles": "article"}[options["deal"]]
        keys = [getattr(contest, attribute) for contest, *_ in pairs]
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
        halves["dev" if key in dev else "test"].append(pair)
    return halves

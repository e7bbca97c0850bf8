"""SST-2 from the Stanford Sentiment Treebank; recipes.toml has the procedure."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark import Task
from gluebench.data.recipes import Columns, RecipeResult
from gluebench.data.recipes.reading import Reader

SPLITS = {"1": "train", "2": "test", "3": "dev"}
NEGATIVE = 0.4
"""The highest score of a negative phrase."""
POSITIVE = 0.6
"""The highest score of a neutral phrase; those above are positive."""
ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


class Sentence(NamedTuple):
    """One sentence: its line in the treebank's files, its split, its phrases (the last is the sentence)."""

    line: int
    split: str
    phrases: Sequence[str]


def build(corpus: Path, task: Task, options: Mapping[str, Any]) -> RecipeResult:
    """The phrases of train and the sentences of dev and test, neutral ones left out."""
    reader = Reader(corpus, task, options)
    scores = _scores(reader)
    sentences = list(_sentences(reader))
    reader.check()
    splits = {}
    notes = []
    for split in ("train", "dev", "test"):
        all_phrases = options["phrases"] == "yes" and split == "train"
        examples = _examples(sentences, split, all_phrases=all_phrases)
        splits[split], neutral = _columns(reader, examples, scores)
        notes.append(f"{split}: {neutral} neutral of {len(examples)} left out")
    reader.check()
    notes += reader.hide_labels(splits)
    return reader.built(splits, notes)


def _examples(sentences: Sequence[Sentence], split: str, *, all_phrases: bool) -> list[tuple[int, str]]:
    """Line and text of each example: distinct phrases, or whole sentences with repeats."""
    own = [sentence for sentence in sentences if sentence.split == split]
    if not all_phrases:
        return [(sentence.line, sentence.phrases[-1]) for sentence in own]
    first: dict[str, int] = {}
    for sentence in own:
        for phrase in reversed(sentence.phrases):
            first.setdefault(phrase, sentence.line)
    return [(line, phrase) for phrase, line in first.items()]


def _columns(
    reader: Reader, examples: Sequence[tuple[int, str]], scores: Mapping[str, float]
) -> tuple[Columns, int]:
    """The columns of a split, and the number of neutral examples, which are left out."""
    [name] = reader.inputs(1)
    negative, positive = reader.words("01").values()
    columns: Columns = {name: [], "label": [], "score": []}
    neutral = 0
    for line, phrase in examples:
        score = scores.get(phrase)
        if score is None:
            reader.reject("SOStr.txt", line, f'"{phrase}" is not in dictionary.txt')
        elif NEGATIVE < score <= POSITIVE:
            neutral += 1
        else:
            text = " ".join(ESCAPES.get(word, word) for word in phrase.split(" "))
            columns[name].append(text.replace("\\/", "/").replace("\\*", "*").lower())
            columns["label"].append(positive if score > POSITIVE else negative)
            columns["score"].append(score)
    return columns, neutral


def _scores(reader: Reader) -> dict[str, float]:
    """Phrase to its mean sentiment score, 0 to 1."""
    path = reader.need("dictionary.txt")
    ids = {}
    for number, line in enumerate(reader.lines(path), 1):
        phrase, bar, identity = line.rpartition("|")
        if bar and identity.isdecimal():
            ids[phrase] = identity
        else:
            reader.reject(path, number, "expected a phrase, | and a number")
    labels = reader.need("sentiment_labels.txt")
    scores = {}
    for number, (identity, text) in reader.rows(labels, reader.lines(labels), widths=(2,), first=2, sep="|"):
        scores[identity] = -1.0
        with suppress(ValueError):
            scores[identity] = float(text)
        if not 0 <= scores[identity] <= 1:
            reader.reject(labels, number, f'the score is "{text}", expected a number from 0 to 1')
    by_phrase = {}
    for phrase, identity in ids.items():
        if identity in scores:
            by_phrase[phrase] = scores[identity]
        else:
            reader.problems.append(f'{path}: "{phrase}" has no score in sentiment_labels.txt')
    return by_phrase


def _sentences(reader: Reader) -> Iterator[Sentence]:
    words_file = reader.need("SOStr.txt")
    trees_file = reader.need("STree.txt")
    splits_file = reader.need("datasetSplit.txt")
    words = reader.lines(words_file)
    trees = reader.lines(trees_file)
    rows = reader.lines(splits_file)
    if not len(words) == len(trees) == len(rows) - 1:
        sizes = f"{len(words)}, {len(trees)} and {len(rows) - 1}"
        reader.problems.append(f"{reader.corpus}: SOStr, STree and datasetSplit have {sizes} sentences")
        return
    for number, (_, code) in reader.rows(splits_file, rows, widths=(2,), first=2, sep=","):
        if code not in SPLITS:
            reader.reject(splits_file, number, f'the split is "{code}", expected 1, 2 or 3')
            continue
        texts = phrases(words[number - 2].split("|"), trees[number - 2].split("|"))
        if texts is None:
            problem = "not a binary tree over the words of this line of SOStr.txt"
            reader.reject(trees_file, number - 1, problem)
            continue
        yield Sentence(number - 1, SPLITS[code], texts)


def phrases(words: Sequence[str], parents: Sequence[str]) -> list[str] | None:
    """The text under each node, the root's last; None if the parents do not form a tree over the words.

    Nodes are numbered from 1, the words first; the parent of the root is 0.
    """
    numbers = [int(parent) if parent.isdecimal() else -1 for parent in parents]
    valid = len(numbers) >= len(words) and all(0 <= number <= len(numbers) for number in numbers)
    if not valid or numbers.count(0) != 1:
        return None
    below: list[list[int]] = [[] for _ in numbers]
    for leaf in range(len(words)):
        node = leaf
        for _ in numbers:
            below[node].append(leaf)
            if not numbers[node]:
                break
            node = numbers[node] - 1
        else:  # a cycle: no path to the root
            return None
    if any(not leaves or leaves[-1] - leaves[0] >= len(leaves) for leaves in below):
        return None
    return [" ".join(words[leaves[0] : leaves[-1] + 1]) for leaves in sorted(below, key=len)]

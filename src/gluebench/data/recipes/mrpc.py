"""MRPC from the Microsoft Research Paraphrase Corpus; recipes.toml has the procedure."""

import re
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.recipes import Columns, RecipeResult
from gluebench.data.recipes.reading import Reader, select, table

HEADER = ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String")
DEV_IDS = "mrpc_dev_ids.txt"
DAMAGED = (
    "several rows lack columns or have too many: this looks like a copy that a spreadsheet has saved "
    "again, in which commas became tabs and quotation marks were lost; fetch Microsoft's own file"
)


def build(corpus: Path, task: Task, options: Mapping[str, Any]) -> RecipeResult:
    """Train without the dev pairs, the dev pairs, and test."""
    reader = Reader(corpus, task, options)
    rows = _columns(reader, "msr_paraphrase_train.txt")
    test = _columns(reader, "msr_paraphrase_test.txt")
    dev_ids = _dev_ids(reader)
    reader.check()
    pairs = list(zip(rows["id1"], rows["id2"], strict=True))
    dev = [row for row, pair in enumerate(pairs) if pair in dev_ids]
    train = [row for row, pair in enumerate(pairs) if pair not in dev_ids]
    splits = {"train": select(rows, train), "dev": select(rows, dev), "test": test}
    if options["tokenize"] == "yes":
        for columns in splits.values():
            for name in task.columns:
                columns[name] = [tokenize(text) for text in columns[name]]
    notes = []
    missing = len(dev_ids - set(pairs))
    if missing:
        notes.append(f"dev: {missing} of the listed pairs are not in the train file")
    notes += reader.hide_labels(splits)
    return reader.built(splits, notes)


def _columns(reader: Reader, name: str) -> Columns:
    path = reader.need(name)
    earlier = len(reader.problems)
    columns = table(reader.inputs(2) + ("label", "id1", "id2"), _read_rows(reader, path))
    if len(reader.problems) - earlier > 2:
        reader.problems.insert(earlier, f"{path}: {DAMAGED}")
    return columns


def _read_rows(reader: Reader, path: Path) -> Iterator[tuple[str, ...]]:
    lines = reader.lines(path)
    reader.header(path, lines[0].split("\t"), HEADER)
    words = reader.words("01")
    for number, fields in reader.rows(path, lines, widths=(5,), first=2):
        quality, first_id, second_id, first, second = fields
        if quality in words and (first_id + second_id).isdecimal():
            yield first, second, words[quality], first_id, second_id
        else:
            shown = f'"{quality}", "{first_id}", "{second_id}"'
            reader.reject(path, number, f"the row begins {shown}, expected 0 or 1 and two ids")


def _dev_ids(reader: Reader) -> set[tuple[str, str]]:
    """GLUE's dev pairs, or those of a list in the corpus folder."""
    path = reader.find("mrpc_dev_ids.tsv", "dev_ids.tsv")
    if path is not None:
        lines = reader.lines(path)
        shown = str(path)
    else:
        shown = DEV_IDS
        lines = reader.split(DEV_IDS, resources.files(__package__).joinpath(DEV_IDS).read_bytes())
    ids = set()
    for number, fields in enumerate(map(str.split, lines), 1):
        if len(fields) == 2 and all(field.isdecimal() for field in fields):
            ids.add((fields[0], fields[1]))
        else:
            reader.reject(shown, number, f'"{" ".join(fields)}", expected two ids')
    return ids


_LETTER = r"[^\W\d_]"
_OTHER = r"[\W\d_]"
_STEPS = [
    (re.compile(r"[\x00-\x1f]"), ""),
    (re.compile(r"\s+"), " "),
    (re.compile(r"([^\w\s.'`,-]|_)"), r" \1 "),
    # A comma is not separated within a number.
    (re.compile(r"(\D),"), r"\1 , "),
    (re.compile(r",(\D)"), r" , \1"),
    # Between two letters, an apostrophe begins the next token: "didn 't", but "boys ' club".
    (re.compile(f"({_OTHER})'({_OTHER})"), r"\1 ' \2"),
    (re.compile(rf"([\W_])'({_LETTER})"), r"\1 ' \2"),
    (re.compile(f"({_LETTER})'({_OTHER})"), r"\1 ' \2"),
    (re.compile(f"({_LETTER})'({_LETTER})"), r"\1 '\2"),
    (re.compile(r"(\d)'(s)"), r"\1 '\2"),
]
_DOTS = re.compile(r"\.{2,}")
_DOT = "\ue000"
"""Placeholder of each full stop of an ellipsis, which is one token, while other stops are separated."""

# Words that keep their full stop although no small letter follows, as seen in GLUE's copy.
_ABBREVIATIONS = {
    "Adm", "Brig", "Bros", "Capt", "Cmdr", "Col", "Corp", "Cpl", "Dr", "Gen", "Gov", "Lt", "Maj", "Mr",
    "Mrs", "Ms", "Pfc", "Rep", "Rev", "Sen", "Sens", "Sgt", "Sr", "St", "v", "vs",
}  # fmt: skip
_BEFORE_NUMBERS = {"Aug", "Dec", "Feb", "Jan", "No", "Nov", "Oct"}


def tokenize(text: str) -> str:
    """Tokenize an English sentence; tokens are separated by one space."""
    text = f" {text} "
    for pattern, replacement in _STEPS[:3]:
        text = pattern.sub(replacement, text)
    text = _DOTS.sub(lambda dots: f" {_DOT * len(dots[0])} ", text)
    for pattern, replacement in _STEPS[3:]:
        text = pattern.sub(replacement, text)
    words = text.split()
    tokens: list[str] = []
    for position, token in enumerate(words):
        after = words[position + 1] if position + 1 < len(words) else ""
        word = token.removesuffix(".")
        has_stop = word not in ("", token)
        if has_stop and not _keeps_stop(word, after):
            tokens += [word, "."]
        else:
            tokens.append(token)
    return " ".join(tokens).replace(_DOT, ".")


def _keeps_stop(word: str, after: str) -> bool:
    """Whether the full stop after a word belongs to it."""
    if word in _ABBREVIATIONS or after[:1].islower():
        return True
    initial = len(word) == 1 and "A" <= word <= "Z"
    has_inner_stop = "." in word and re.search(_LETTER, word) is not None
    before_number = word in _BEFORE_NUMBERS and after[:1].isdigit()
    return initial or has_inner_stop or before_number

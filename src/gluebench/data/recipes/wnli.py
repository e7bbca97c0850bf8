"""WNLI from Winograd schemas; recipes.toml has the procedure."""

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from gluebench.benchmark import Task
from gluebench.data.errors import DataError, refuse
from gluebench.data.recipes import Built, Columns
from gluebench.data.recipes.reading import Reader, table
from gluebench.data.recipes.substitution import Language, closed, hypothesis, language_of
from gluebench.data.recipes.winograd import Schema, read_winograd

_SPLITS = ("train", "dev", "test")


class Pair(NamedTuple):
    """One example, before it has an index."""

    premise: str
    hypothesis: str
    right: bool | None
    schema: str
    """File and number of its schema."""
    family: str
    """Its candidates as one key, equal for twin schemas."""
    split: str | None
    """The split its file assigns."""


def build(corpus: Path, task: Task, options: Mapping[str, Any]) -> Built:
    """The splits of a task like WNLI; raises DataError with everything that is wrong."""
    reader = Reader(corpus, task, options)
    reader.inputs(2)
    reader.words(("not entailed", "entailed"))
    problems = _misfits(options)
    refuse(problems)
    language = language_of(options)
    names = [corpus / name.strip() for name in options["files"].split(",") if name.strip()]
    test = corpus / options["test"] if options["test"] else None
    notes: list[str] = []
    schemas = _distinct([read_winograd(path, problems) for path in names], notes)
    pairs = _pairs(schemas, language, problems, notes)
    tested = _pairs(read_winograd(test, problems), language, problems, notes) if test else []
    problems += [
        f"{pair.schema}: no label; expected one, but for the file that --test names"
        for pair in pairs
        if pair.right is None and pair.split != "test"
    ]
    refuse(problems)
    splits = _split(pairs, options, notes)
    splits["test"] += tested
    hidden = sum(pair.right is None for pair in splits["test"])
    if not splits["test"]:
        private = "GLUE's was shared privately with its authors"
        notes.append(f"no test split: name a file for it with --test ({private})")
    elif 0 < hidden < len(splits["test"]):
        notes.append(f"test is without labels: {hidden} of its {len(splits['test'])} pairs have none")
    columns = {name: _columns(splits[name], task) for name in _SPLITS if splits[name]}
    unknown = [name for name in columns if name not in task.splits]
    if unknown:
        expected = "expected train, dev and test"
        raise DataError([f"{task.name} has no split {name}; {expected}" for name in unknown])
    return Built(columns, dict(options), (*names, *([test] if test else [])), tuple(notes))


def _misfits(options: Mapping[str, Any]) -> list[str]:
    """Problems of the options."""
    problems = []
    if not options["files"].strip(", "):
        problems.append("--files is empty; expected the names of files in the folder, parted by commas")
    dev = float(options["dev"])
    if not (0 <= dev < 1 or (dev >= 1 and dev.is_integer())):
        problems.append(f"--dev is {dev}; expected a share below 1 or a whole number of pairs")
    return problems + _misspelled(options)


def _misspelled(options: Mapping[str, Any]) -> list[str]:
    """Problems of the options with the rules of the language."""
    problems = []
    for name in ("possessive-form", "plural-form", "definite-form"):
        if options[name].count("{name}") != 1 or re.search(r"[{}]", options[name].replace("{name}", "")):
            problems.append(f'--{name} is "{options[name]}"; expected a text with {{name}} in it once')
    for change in filter(None, options["agreement"].split(",")):
        if change.count("=") != 1:
            problems.append(f'--agreement has "{change.strip()}"; expected plural=singular, parted by commas')
    return problems


def _distinct(files: Sequence[Sequence[Schema]], notes: list[str]) -> list[Schema]:
    """The schemas of all files without repeats, ignoring spacing, punctuation and case."""
    kept: list[Schema] = []
    seen: set[tuple[str, ...]] = set()
    for schemas in files:
        parts = [(one.before, one.pronoun, one.after, one.hypothesis or "") for one in schemas]
        keys = [tuple(re.sub(r"\W", "", part).casefold() for part in texts) for texts in parts]
        new = [schema for schema, key in zip(schemas, keys, strict=True) if key not in seen]
        if len(new) < len(schemas):
            name = schemas[0].place.rpartition(":")[0]
            notes.append(f"{name}: {len(schemas) - len(new)} schemas left out, an earlier file has them")
        seen.update(keys)
        kept += new
    return kept


def _pairs(
    schemas: Sequence[Schema], language: Language, problems: list[str], notes: list[str]
) -> list[Pair]:
    """A pair for each candidate, without repeats; a repeat with another label is a problem."""
    pairs: dict[tuple[str, str], Pair] = {}
    repeated = 0
    for schema in schemas:
        premise = closed(schema.premise, language.stop)
        family = "|".join(sorted(candidate.text.casefold() for candidate in schema.candidates))
        for candidate in schema.candidates:
            text = hypothesis(schema, candidate.text, language)
            pair = Pair(premise, text, candidate.right, schema.place, family, schema.split)
            old = pairs.setdefault((premise, text), pair)
            repeated += old is not pair
            if old.right is not candidate.right:
                problems.append(
                    f'{schema.place}: "{text}" has another label than at {old.schema}, the text is the same'
                )
    if repeated:
        notes.append(f"{repeated} pairs left out that came before, word for word")
    return list(pairs.values())


def _split(pairs: Sequence[Pair], options: Mapping[str, Any], notes: list[str]) -> dict[str, list[Pair]]:
    """The pairs by split: assigned by their files, else drawn for train and dev."""
    splits: dict[str, list[Pair]] = {name: [pair for pair in pairs if pair.split == name] for name in _SPLITS}
    free = [pair for pair in pairs if pair.split not in _SPLITS]
    share = options["dev"]
    size = round(share * len(free)) if share < 1 else int(share)
    keys = [(pair.premise, pair.hypothesis, pair.family) for pair in free]
    chosen = drawn(keys, min(size, len(free)), options["pairing"], Random(options["seed"]))
    if len(chosen) != size and free:
        short = f"dev has {len(chosen)} of the {size} pairs asked for"
        notes.append(f"{short}: no more can be drawn in this pairing")
    for number, pair in enumerate(free):
        splits["dev" if number in chosen else "train"].append(pair)
    return splits


def _columns(pairs: Sequence[Pair], task: Task) -> Columns:
    """The columns of a split; labels only if every pair has one."""
    rows = ((pair.premise, pair.hypothesis, task.words[bool(pair.right)], pair.schema) for pair in pairs)
    columns = table((*task.columns, "label", "schema"), rows)
    if any(pair.right is None for pair in pairs):
        del columns["label"]
    return columns


def drawn(keys: Sequence[tuple[Hashable, ...]], size: int, pairing: str, chance: Random) -> set[int]:
    """The positions of up to `size` pairs for dev; the keys are premise, hypothesis and family.

    random: any pairs. apart: at most one pair per premise, with another of that premise left for train.
    together: pairs that share any key are all in dev or all in train.
    """
    order = chance.sample(range(len(keys)), len(keys))
    if pairing == "random":
        return set(order[:size])
    chosen: set[int] = set()
    if pairing == "apart":
        count = Counter(key[0] for key in keys)
        first: dict[Hashable, int] = {}
        for place in order:
            first.setdefault(keys[place][0], place)
        return set([place for premise, place in first.items() if count[premise] > 1][:size])
    families = _families(keys)
    for root in dict.fromkeys(families[place] for place in order):
        family = {place for place, other in enumerate(families) if other == root}
        if len(chosen) + len(family) <= size:
            chosen |= family
    return chosen


def _families(keys: Sequence[tuple[Hashable, ...]]) -> list[int]:
    """The connected component of each pair, as its first pair; pairs with a key in common are connected."""
    parent = list(range(len(keys)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    first: dict[tuple[int, Hashable], int] = {}
    for place, key in enumerate(keys):
        for column, value in enumerate(key):
            if value != "":
                one, other = sorted((root(first.setdefault((column, value), place)), root(place)))
                parent[other] = one
    return [root(place) for place in range(len(keys))]

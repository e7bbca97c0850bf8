"""WNLI from Winograd schemas; recipes.toml has the procedure."""

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from gluebench.benchmark import Task
from gluebench.data.errors import refuse
from gluebench.data.recipes import Columns, RecipeResult
from gluebench.data.recipes.reading import Reader, table
from gluebench.data.recipes.substitution import Language, hypothesis, language_of, with_stop
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


def build(corpus: Path, task: Task, options: Mapping[str, Any]) -> RecipeResult:
    """The splits of a task like WNLI; raises DataError with everything that is wrong."""
    reader = Reader(corpus, task, options)
    reader.inputs(2)
    reader.words(("not entailed", "entailed"))
    problems = _option_problems(options)
    refuse(problems)
    language = language_of(options)
    files = [corpus / name.strip() for name in options["files"].split(",") if name.strip()]
    notes: list[str] = []
    schemas = _distinct([read_winograd(path, problems) for path in files], notes)
    pairs = _pairs(schemas, language, problems, notes)
    test_pairs: list[Pair] = []
    if options["test"]:
        test_file = corpus / options["test"]
        files.append(test_file)
        test_pairs = _pairs(read_winograd(test_file, problems), language, problems, notes)
    for pair in pairs:
        if pair.right is None and pair.split != "test":
            problems.append(f"{pair.schema}: no label; expected one, but for the file that --test names")
    refuse(problems)
    splits = _split(pairs, options, notes)
    splits["test"] += test_pairs
    hidden = sum(pair.right is None for pair in splits["test"])
    if not splits["test"]:
        private = "GLUE's was shared privately with its authors"
        notes.append(f"no test split: name a file for it with --test ({private})")
    elif 0 < hidden < len(splits["test"]):
        notes.append(f"test is without labels: {hidden} of its {len(splits['test'])} pairs have none")
    columns = {name: _columns(splits[name], task) for name in _SPLITS if splits[name]}
    expected = "expected train, dev and test"
    refuse([f"{task.name} has no split {name}; {expected}" for name in columns if name not in task.splits])
    return RecipeResult(columns, dict(options), tuple(files), tuple(notes))


def _option_problems(options: Mapping[str, Any]) -> list[str]:
    """Problems of the options."""
    problems = []
    if not options["files"].strip(", "):
        problems.append("--files is empty; expected the names of files in the folder, parted by commas")
    dev = float(options["dev"])
    if not (0 <= dev < 1 or (dev >= 1 and dev.is_integer())):
        problems.append(f"--dev is {dev}; expected a share below 1 or a whole number of pairs")
    return problems + _language_problems(options)


def _language_problems(options: Mapping[str, Any]) -> list[str]:
    """Problems of the options with the rules of the language."""
    problems = []
    for name in ("possessive-form", "plural-form", "definite-form"):
        form = options[name]
        other_braces = re.search(r"[{}]", form.replace("{name}", ""))
        if form.count("{name}") != 1 or other_braces:
            problems.append(f'--{name} is "{form}"; expected a text with {{name}} in it once')
    for change in options["agreement"].split(","):
        if change and change.count("=") != 1:
            problems.append(f'--agreement has "{change.strip()}"; expected plural=singular, parted by commas')
    return problems


def _distinct(files: Sequence[Sequence[Schema]], notes: list[str]) -> list[Schema]:
    """The schemas of all files without repeats, ignoring spacing, punctuation and case."""
    distinct: list[Schema] = []
    keys_of_earlier_files: set[tuple[str, ...]] = set()
    for schemas in files:
        keys = [_key(schema) for schema in schemas]
        repeated = 0
        for schema, key in zip(schemas, keys, strict=True):
            if key in keys_of_earlier_files:
                repeated += 1
            else:
                distinct.append(schema)
        if repeated:
            name = schemas[0].place.rpartition(":")[0]
            notes.append(f"{name}: {repeated} schemas left out, an earlier file has them")
        keys_of_earlier_files.update(keys)
    return distinct


def _key(schema: Schema) -> tuple[str, ...]:
    """The same for schemas that differ only in spacing, punctuation and case."""
    texts = (schema.before, schema.pronoun, schema.after, schema.hypothesis or "")
    return tuple(re.sub(r"\W", "", text).casefold() for text in texts)


def _pairs(
    schemas: Sequence[Schema], language: Language, problems: list[str], notes: list[str]
) -> list[Pair]:
    """A pair for each candidate, without repeats; a repeat with another label is a problem."""
    pairs: dict[tuple[str, str], Pair] = {}
    repeated = 0
    for schema in schemas:
        premise = with_stop(schema.premise, language.stop)
        family = "|".join(sorted(candidate.text.casefold() for candidate in schema.candidates))
        for candidate in schema.candidates:
            text = hypothesis(schema, candidate.text, language)
            pair = Pair(premise, text, candidate.right, schema.place, family, schema.split)
            first = pairs.setdefault((premise, text), pair)
            if first is not pair:
                repeated += 1
            if first.right is not candidate.right:
                problem = f'"{text}" has another label than at {first.schema}, the text is the same'
                problems.append(f"{schema.place}: {problem}")
    if repeated:
        notes.append(f"{repeated} pairs left out that came before, word for word")
    return list(pairs.values())


def _split(pairs: Sequence[Pair], options: Mapping[str, Any], notes: list[str]) -> dict[str, list[Pair]]:
    """The pairs by split: assigned by their files, else drawn for train and dev."""
    splits: dict[str, list[Pair]] = {name: [] for name in _SPLITS}
    free = []
    for pair in pairs:
        if pair.split in _SPLITS:
            splits[pair.split].append(pair)
        else:
            free.append(pair)
    dev = options["dev"]
    size = round(dev * len(free)) if dev < 1 else int(dev)
    keys = [(pair.premise, pair.hypothesis, pair.family) for pair in free]
    positions = draw_dev(keys, min(size, len(free)), options["pairing"], Random(options["seed"]))
    if len(positions) != size and free:
        fewer = f"dev has {len(positions)} of the {size} pairs asked for"
        notes.append(f"{fewer}: no more can be drawn in this pairing")
    for position, pair in enumerate(free):
        name = "dev" if position in positions else "train"
        splits[name].append(pair)
    return splits


def _columns(pairs: Sequence[Pair], task: Task) -> Columns:
    """The columns of a split; labels only if every pair has one."""
    rows = ((pair.premise, pair.hypothesis, task.words[bool(pair.right)], pair.schema) for pair in pairs)
    columns = table(task.columns + ("label", "schema"), rows)
    if any(pair.right is None for pair in pairs):
        del columns["label"]
    return columns


def draw_dev(keys: Sequence[tuple[Hashable, ...]], size: int, pairing: str, chance: Random) -> set[int]:
    """The positions of up to `size` pairs for dev; the keys are premise, hypothesis and family.

    random: any pairs. apart: at most one pair per premise, with another of that premise left for train.
    together: pairs that share any key are all in dev or all in train.
    """
    order = chance.sample(range(len(keys)), len(keys))
    if pairing == "random":
        return set(order[:size])
    if pairing == "apart":
        count = Counter(premise for premise, *_ in keys)
        first: dict[Hashable, int] = {}
        for position in order:
            premise = keys[position][0]
            if count[premise] > 1:
                first.setdefault(premise, position)
        return set(list(first.values())[:size])
    dev: set[int] = set()
    families = _families(keys)
    for root in dict.fromkeys(families[position] for position in order):
        family = {position for position, other in enumerate(families) if other == root}
        if len(dev) + len(family) <= size:
            dev |= family
    return dev


def _families(keys: Sequence[tuple[Hashable, ...]]) -> list[int]:
    """The connected component of each pair, as its first pair; pairs with a key in common are connected."""
    parent = list(range(len(keys)))

    def root(position: int) -> int:
        while parent[position] != position:
            parent[position] = parent[parent[position]]
            position = parent[position]
        return position

    first: dict[tuple[int, Hashable], int] = {}
    for position, key in enumerate(keys):
        for column, value in enumerate(key):
            if value == "":  # no key
                continue
            connected = first.setdefault((column, value), position)
            earlier, later = sorted((root(connected), root(position)))
            parent[later] = earlier
    return [root(position) for position in range(len(keys))]

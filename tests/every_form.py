"""Benchmarks with every form of answers, FORMS of shares, LOSSES, and MIXED of both; gold and submissions."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROWS = 40
WORDS = ("joy", "fear", "anger")
FORMS = f"""
[benchmark]
name = "forms"
title = "Every Form"

[tasks.Emotions]
form = "sets"
labels = {{ joy = "joy", fear = "fear", anger = "anger" }}
metrics = [{{ name = "macro_f1", function = "sets_macro_f1", title = "macro F1" }}]
columns = ["sentence"]
splits.train = {{ size = {ROWS}, ids = "tr_{{:03}}" }}
splits.test = {{ size = {ROWS}, ids = "em_{{:03}}" }}
references = [{{ name = "People", scores = {{ macro_f1 = 0.9 }}, source = "us" }}]

[tasks.Certainty]
form = "probabilities"
labels = {{ no = "no", yes = "yes" }}
weight = 2
metrics = [
    {{ name = "accuracy", function = "probability_accuracy", title = "acc." }},
    {{ name = "neg_brier", scale = [-0.5, 0.0], title = "Brier score" }},
]
columns = ["sentence"]
splits.train.size = {ROWS}
splits.test.size = {ROWS}

[tasks.Answers]
form = "text"
metrics = [{{ name = "token_f1", title = "F1" }}]
columns = ["sentence"]
splits.train.size = {ROWS}
splits.test.size = {ROWS}

[tasks.Names]
form = "tokens"
labels = {{ O = "O", B-PER = "B-PER", I-PER = "I-PER" }}
metrics = [{{ name = "entity_f1", title = "F1" }}]
columns = ["sentence"]
splits.train.size = {ROWS}
splits.test.size = {ROWS}

[tasks.Places]
form = "spans"
labels = {{ LOC = "a place" }}
metrics = [{{ name = "span_iou", title = "IoU" }}]
columns = ["sentence"]
splits.train.size = {ROWS}
splits.test.size = {ROWS}

[tasks.Retrieval]
form = "ranking"
metrics = [{{ name = "map", title = "MAP" }}]
columns = ["sentence"]
splits.train.size = {ROWS}
splits.test.size = {ROWS}

[tasks.Causes]
form = "relations"
labels = {{ ARG0 = "cause", ARG1 = "effect", SIG = "signal" }}
metrics = [
    {{ name = "relation_f1", title = "F1" }},
    {{ name = "cause", function = "relation_recall", title = "recall", positive = "ARG0" }},
]
columns = ["sentence"]
splits.train.size = {ROWS}
splits.test.size = {ROWS}

[tasks."Opinión política"]
labels = {{ left = "left", right = "right", center = "center" }}
metrics = [{{ name = "macro_f1", title = "macro F1" }}]
columns = ["sentence"]
splits.train.size = {ROWS}
splits.test.size = {ROWS}

[tasks.Humor]
labels = {{ 0 = "not humorous", 1 = "humorous" }}
metrics = [{{ name = "f1", positive = "1", title = "F1" }}]
columns = ["sentence"]
splits.train.size = {ROWS}
splits.test.size = {ROWS}
files = [{{ name = "humor", member = "answers.csv", column = "is_humor" }}]

[tasks.Offense]
score_range = [0.0, 5.0]
metrics = [{{ name = "neg_mae", title = "1 − MAE / 5", scale = [-5.0, 0.0] }}]
columns = ["sentence"]
splits.train.size = {ROWS}
splits.test.size = {ROWS}
files = [{{ name = "offense", member = "answers.csv", column = "offense" }}]

[tasks.Probes]
form = "sets"
scored = false
labels = {{ joy = "joy", fear = "fear", anger = "anger" }}
metrics = [{{ name = "jaccard", function = "sets_jaccard", title = "Jaccard" }}]
columns = ["sentence"]
splits.train.size = {ROWS}
splits.test.size = {ROWS}
[tasks.Probes.phenomena]
Syntax = {{ "negation" = [], "question" = [] }}
Mezcla = {{ "ironía" = [] }}
"""
LOSSES = f"""
[benchmark]
name = "losses"
title = "Losses"
references = [{{ name = "People", scores = {{ score = -0.2 }}, source = "us" }}]

[tasks.Rating]
score_range = [0.0, 5.0]
metrics = [{{ name = "neg_rmse", title = "−RMSE" }}]
columns = ["sentence"]
splits.train.size = {ROWS}
splits.test.size = {ROWS}
references = [{{ name = "People", scores = {{ neg_rmse = -0.25 }}, source = "us" }}]

[tasks."Opinión"]
form = "distributions"
labels = {{ no = "no", yes = "yes" }}
metrics = [{{ name = "neg_jensen_shannon" }}, {{ name = "neg_cross_entropy" }}]
columns = ["sentence"]
splits.train.size = {ROWS}
splits.test.size = {ROWS}
"""
MIXED = f"""
[benchmark]
name = "mixed"
title = "Losses and Shares"

[tasks.Rating]
score_range = [0.0, 5.0]
metrics = [{{ name = "neg_rmse", title = "−RMSE" }}]
columns = ["sentence"]
splits.train.size = {ROWS}
splits.test.size = {ROWS}

[tasks.Humor]
labels = {{ 0 = "not humorous", 1 = "humorous" }}
weight = 0
metrics = [{{ name = "accuracy" }}, {{ name = "f1", positive = "1", title = "F1" }}]
columns = ["sentence"]
splits.train.size = {ROWS}
splits.test.size = {ROWS}
files = [{{ name = "jokes" }}]
"""
TASKS: Mapping[str, Sequence[str]] = {
    "forms": (
        *("Emotions", "Certainty", "Answers", "Names", "Places", "Retrieval", "Causes"),
        *("Opinion-politica", "humor", "offense", "Probes"),
    ),
    "losses": ("Rating", "Opinion"),
    "mixed": ("Rating", "jokes"),
}
FOLDERS = {
    "Opinion-politica": "Opinión política",
    "Opinion": "Opinión",
    "humor": "Humor",
    "jokes": "Humor",
    "offense": "Offense",
}
"""Test file to the folder of its task, where that has another name."""


def _set(rng: random.Random) -> str:
    return "|".join(word for word in WORDS if rng.random() < 0.5)


def _spans(rng: random.Random) -> str:
    start = rng.randrange(20)
    return f"{start}-{start + 5}:LOC"


def _tokens(rng: random.Random) -> str:
    return rng.choice(("B-PER I-PER O", "O B-PER O", "O O B-PER"))


def _ranking(rng: random.Random) -> str:
    return " ".join(rng.sample(("d1", "d2", "d3", "d4"), 4))


def _relations(rng: random.Random) -> str:
    both = [
        "<ARG0>the storm</ARG0> <SIG0>caused</SIG0> <ARG1>two floods</ARG1>",
        "the storm caused <ARG1>two floods</ARG1>",
        "<ARG1>the storm</ARG1> caused <ARG0>two floods</ARG0>",
    ]
    return json.dumps(rng.sample(both, rng.randrange(1, 3)))


def _pair(rng: random.Random) -> str:
    no = rng.randrange(1, 20) / 20
    return f"{no:.2f} {1 - no:.2f}"


GOLD: Mapping[str, Callable[[random.Random], str]] = {
    "Emotions": _set,
    "Certainty": lambda rng: rng.choice(("no", "yes")),
    "Answers": lambda rng: json.dumps([rng.choice(("the cat", "a blue dog")), "both"]),
    "Names": _tokens,
    "Places": _spans,
    "Retrieval": lambda rng: f"{rng.choice(('d1', 'd2'))}:2 d3",
    "Causes": _relations,
    "Opinion-politica": lambda rng: rng.choice(("left", "right", "center")),
    "humor": lambda rng: rng.choice("01"),
    "jokes": lambda rng: rng.choice("01"),
    "offense": lambda rng: f"{rng.uniform(0, 5):.2f}",
    "Probes": _set,
    "Rating": lambda rng: f"{rng.uniform(0, 5):.2f}",
    "Opinion": _pair,
}
"""Test file to a cell of its gold."""
GUESS: Mapping[str, Callable[[random.Random], str]] = {
    **GOLD,
    "Certainty": _pair,
    "Answers": lambda rng: rng.choice(("the cat", "a dog", "both")),
    "Retrieval": _ranking,
}
RIGHT: Mapping[str, Callable[[str], str]] = {
    "Certainty": lambda gold: "0.9 0.1" if gold == "no" else "0.2 0.8",
    "Answers": lambda gold: str(json.loads(gold)[0]),
    "Retrieval": lambda gold: f"{gold[:2]} d3 d4",
}
"""Test file to what is right for a cell of the gold, where it is not that cell."""


def _gold(benchmark: str) -> dict[str, list[str]]:
    rng = random.Random(1)
    return {name: [GOLD[name](rng) for _ in range(ROWS)] for name in TASKS[benchmark]}


def key(name: str, at: int) -> str:
    """The id of an example, as the manifest gives it."""
    return f"em_{at:03}" if name == "Emotions" else str(at)


def _table(name: str, heading: str, cells: Sequence[str]) -> str:
    first = "id" if name == "Emotions" else "index"
    return f"{first}\t{heading}\n" + "".join(f"{key(name, at)}\t{cell}\n" for at, cell in enumerate(cells))


def write(folder: Path, benchmark: str) -> Path:
    """Write the manifest, `gold`, `data` and the submissions `runs/0` to `runs/2`, the best last."""
    gold, runs = folder / "gold", folder / "runs"
    gold.mkdir(parents=True)
    manifest = folder / f"{benchmark}.toml"
    manifest.write_text({"forms": FORMS, "losses": LOSSES, "mixed": MIXED}[benchmark], encoding="utf-8")
    right = _gold(benchmark)
    for name, cells in right.items():
        (gold / f"{name}.tsv").write_text(_table(name, "label", cells), encoding="utf-8")
    if benchmark == "forms":
        tags = [("Syntax", "negation"), ("Syntax", "question"), ("Mezcla", "ironía")]
        lines = [f"{at}\t{coarse}\t{fine}\n" for at in range(ROWS) for coarse, fine in [tags[at % 3]]]
        (gold / "Probes.phenomena.tsv").write_text("index\tcoarse\tfine\n" + "".join(lines), encoding="utf-8")
    for name, cells in right.items():
        texts = [f"sentence {at} of {name}" for at in range(ROWS)]
        home = folder / "data" / FOLDERS.get(name, name)
        home.mkdir(parents=True)
        test = _table(name, "sentence", texts)
        (home / "test.tsv").write_text(test, encoding="utf-8")
        rows = [f"training {text}\t{cell}" for text, cell in zip(texts, reversed(cells), strict=True)]
        train = _table(name, "sentence\tlabel", rows).replace("em_", "tr_")
        (home / "train.tsv").write_text(train, encoding="utf-8")
    for number, skill in enumerate((0.3, 0.6, 0.9)):
        _submission(runs / str(number), right, skill=skill, rng=random.Random(number))
    return manifest


def _submission(folder: Path, right: Mapping[str, list[str]], *, skill: float, rng: random.Random) -> None:
    folder.mkdir(parents=True)
    columns = {
        name: [RIGHT.get(name, str)(cell) if rng.random() < skill else GUESS[name](rng) for cell in cells]
        for name, cells in right.items()
    }
    if "humor" in columns:
        rows = zip(columns.pop("humor"), columns.pop("offense"), strict=True)
        lines = [f"{at},{humor},{offense}\n" for at, (humor, offense) in enumerate(rows)]
        (folder / "answers.csv").write_text("id,is_humor,offense\n" + "".join(lines), encoding="utf-8")
    for name, cells in columns.items():
        (folder / f"{name}.tsv").write_text(_table(name, "prediction", cells), encoding="utf-8")

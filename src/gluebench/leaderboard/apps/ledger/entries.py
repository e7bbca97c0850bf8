"""What an entry of the ledger says of a row. Independent of Django."""

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from gluebench.leaderboard.apps.common.fields import FIELDS, as_json
from gluebench.leaderboard.apps.common.formats import BOARD, portable
from gluebench.leaderboard.apps.common.kinds import Facts, Values

_PUBLIC = [field for field in FIELDS.values() if not field.private]
OTHERS = [field for field in _PUBLIC if field.is_numeric or field.kind == "choice" or field.name == "model"]
NAMES = [field for field in _PUBLIC if field not in OTHERS]
"""Fields that go when their author's account is deleted; an entry has a salted hash of them."""
MARKS = ("kind", "verified")


def canonical(values: Any) -> str:
    """JSON with sorted keys, without spaces, in ASCII."""
    return json.dumps(values, sort_keys=True, separators=(",", ":"))


def names_hash(texts: Facts | None) -> str:
    """The salted hash of names; empty where there are none."""
    if not texts:
        return ""
    return sha256(canonical(texts).encode()).hexdigest()


def row_of(read: Callable[[str], Any], scores: Facts) -> Values:
    """What an entry says of a row but for its names; `read` returns the value of a field by its name."""
    values = as_json(read, OTHERS)
    for name in (*MARKS, "submitted"):
        values[name] = read(name)
    if reproductions := read("reproduced"):
        values["reproduced"] = reproductions
    return values | scores_of(scores)


def scores_of(scores: Facts) -> Values:
    """The scores of an entry, from those that a board shows."""
    values = portable({name: scores[name] for name in BOARD})
    tasks = {}
    for name, task in values["tasks"].items():
        score = (task or {}).get("score") or {}
        tasks[name] = score.get("value")
    return {
        "score": (values["score"] or {}).get("value"),
        "tasks": tasks,
        "scores_sha256": sha256(canonical(values).encode()).hexdigest(),
    }

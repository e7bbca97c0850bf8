"""Check a ledger against its checkpoint and against the boards, wherever it is. Independent of Django."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from gluebench.analysis.rank.rules import board_order, competition_ranks
from gluebench.benchmark.records import Rule
from gluebench.data.home import sha256_of
from gluebench.leaderboard.apps.common.fields import as_json, from_json
from gluebench.leaderboard.apps.common.formats import NOT_RANKED
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.ledger import tree
from gluebench.leaderboard.apps.ledger.entries import NAMES, names_hash, row_of, scores_of
from gluebench.leaderboard.apps.ledger.notes import Key, open_note, read_checkpoint, read_key, read_sums
from gluebench.leaderboard.apps.ranks.sets import counts_of, rank_set

if TYPE_CHECKING:
    from gluebench.scoring import Gold

Read = Callable[[str], bytes | None]
"""What is at a path below a site, or None."""
SUMS = "SHA256SUMS"
RELEASE = "release"
DIFFERENCES = {words: name for name, words in NOT_RANKED.items()}
"""What `withheld` says of a row that stands apart, to the difference of its scores."""
BASIS = {"rows": "rows", "tasks": "manifest"}
"""Where the basis of an entry has what scores differ in; of labels it has a name that outlives new files."""
SECONDS = 60
ATTEMPTS = 3
LARGEST = 256 * 1024**2


class MissingFileError(ValueError):
    """A file that a ledger or a copy must have is missing."""


class Verification:
    """What was looked at, and all that is wrong with it."""

    def __init__(self) -> None:
        self.findings: list[str] = []
        self.checked: list[str] = []

    def expect(self, right: object, finding: str) -> None:
        """Add the finding unless it is right."""
        if not right:
            self.findings.append(finding)

    def attempt(self, what: str, check: Callable[[], object]) -> None:
        """Run a check. Altered data may have any shape, so whatever it fails on is a finding."""
        try:
            check()
        except MissingFileError as error:
            self.expect(str(error) in self.findings, str(error))
        except Exception as error:
            self.findings.append(f"{what}: {type(error).__name__}: {error}")


def file_of(address: str) -> str:
    """The file of a frozen copy for an address: that of a.json?phase=2 is a@phase=2.json."""
    path, _, query = address.partition("?")
    if not query:
        return path
    name = PurePosixPath(path)
    return str(name.with_name(f"{name.stem}@{query}{name.suffix}"))


def from_folder(folder: Path) -> Read:
    """Reads from the files of a frozen copy."""
    home = folder.resolve()

    def read(path: str) -> bytes | None:
        file = (home / file_of(path)).resolve()
        if file.is_relative_to(home) and file.is_file():
            return file.read_bytes()
        return None

    return read


def from_address(address: str) -> Read:
    """Reads from a site over the network. Raises OSError where it does not answer."""

    def read(path: str) -> bytes | None:
        request = Request(f"{address.rstrip('/')}/{path}", headers={"User-Agent": "gluebench verify"})
        try:
            with urlopen(request, timeout=SECONDS) as answer:
                data: bytes = answer.read(LARGEST)
                return data
        except HTTPError as error:
            if error.code == 404:
                return None
            raise

    return read


def _require_file(read: Read, path: str) -> bytes:
    data = read(path)
    if data is None:
        raise MissingFileError(f"{path} is missing")
    return data


def verify_copy(
    result: Verification, folder: Path, *, key: Key | None = None, kept: str = "", recompute: bool = False
) -> None:
    """Check a frozen copy: its ledger, its list of files, and with `recompute` its scores."""
    sums = (folder / SUMS).read_text(encoding="utf-8", errors="replace")  # its signature is checked below
    only = sums.partition("\n")[0].partition(" ")[2]
    verify_ledger(result, from_folder(folder), key=key, kept=kept, only=only)
    result.attempt(SUMS, lambda: _check_sums(result, folder, key))
    if recompute and result.findings:
        result.findings.append("Nothing was graded again, because the checks of this copy failed.")
    elif recompute:
        result.attempt(RELEASE, lambda: verify_released(result, folder))


def verify_ledger(
    result: Verification, read: Read, *, key: Key | None = None, kept: str = "", only: str = ""
) -> None:
    """Check the tree against its checkpoint, what it says against the boards, and a `kept` checkpoint.

    Without a `key`, the one that is beside the ledger. `only`: the benchmark whose boards there are.
    """
    for _ in range(ATTEMPTS):
        latest = Verification()
        note = read("ledger/checkpoint")
        latest.attempt("ledger", partial(_check_ledger, latest, read, key, kept, only))
        if not latest.findings or read("ledger/checkpoint") == note:
            break  # else it grew meanwhile
    result.findings += latest.findings
    result.checked += latest.checked


def _check_ledger(result: Verification, read: Read, key: Key | None, kept: str, only: str) -> None:
    about = json.loads(_require_file(read, "ledger/rows.json"))
    rows = about["rows"]
    key = key or read_key(about["key"])
    checkpoint = read_checkpoint(_require_file(read, "ledger/checkpoint").decode(), key)
    entries = list(_entries(result, read, checkpoint.size))
    hashes = [tree.leaf_hash(entry) for entry in entries]
    result.expect(
        len(hashes) == checkpoint.size and tree.root_of_all(hashes) == checkpoint.root,
        f"ledger: the {len(hashes)} entries are not the {checkpoint.size} that the checkpoint signs",
    )
    _check_tiles(result, read, hashes)
    if kept:
        earlier = read_checkpoint(kept, key)
        same = earlier.size <= len(hashes) and tree.root_of_all(hashes[: earlier.size]) == earlier.root
        result.expect(same, f"ledger: its first {earlier.size} entries are not those of the kept checkpoint")
    last = _last_entries(entries)
    if only:
        last = {name: entry for name, entry in last.items() if entry["benchmark"] == only}
    _check_rows(result, last, rows)
    phases = about.get("phases", {})
    for name in sorted({entry["benchmark"] for entry in last.values()}):
        _check_board(result, read, name, last, rows, phases.get(name, ()))
    checked = f"{len(entries)} entries signed by {key}."
    if not kept:
        checked += " Nothing says that it is the log of before: keep its checkpoint."
    result.checked.append(checked)


def _entries(result: Verification, read: Read, size: int) -> Iterator[bytes]:
    for number, width in tree.tiles_of(size):
        path = f"ledger/{tree.tile_path(tree.ENTRIES, number, width)}"
        entries = tree.unbundle(_require_file(read, path))
        result.expect(len(entries) == width, f"{path}: {len(entries)} entries, expected {width}")
        yield from entries


def _check_tiles(result: Verification, read: Read, hashes: list[bytes]) -> None:
    for level, nodes in enumerate(tree.levels_of(hashes)):
        for number, width in tree.tiles_of(len(nodes)):
            path = f"ledger/{tree.tile_path(level, number, width)}"
            expected = b"".join(nodes[number * tree.WIDTH :][:width])
            result.expect(read(path) == expected, f"{path}: not the hashes of its entries")


def _last_entries(entries: list[bytes]) -> dict[str, Values]:
    """The last entry of each submission that boards show, with its index."""
    last: dict[str, Values] = {}
    for index, data in enumerate(entries):
        entry = {"index": index, **json.loads(data)}
        if "submission" in entry:
            last[entry["submission"]] = entry
    return {name: entry for name, entry in last.items() if entry["row"] is not None}


def _check_rows(result: Verification, last: Facts, rows: Facts) -> None:
    """Check the list of rows, and the names in it against their hashes."""
    for name in sorted(last.keys() | rows.keys()):
        entry = last.get(name)
        row = rows.get(name)
        same = entry and row and [row["index"], row["benchmark"]] == [entry["index"], entry["benchmark"]]
        result.expect(same, f"ledger/rows.json: {name} is not as its last entry says")
        if entry and row:
            right = names_hash(row["texts"]) == entry["row"]["names_sha256"]
            result.expect(right, f"ledger/rows.json: the names of {name} are not those of its entry")


def _check_board(
    result: Verification,
    read: Read,
    name: str,
    last: Facts,
    rows: Facts,
    phases: Sequence[int],
) -> None:
    """Check the board of a benchmark, and those of its other phases."""
    path = f"benchmarks/{name}.json"
    addresses = [path]
    addresses += [f"{path}?phase={number}" for number in phases]
    shown: Values = {}
    for board in addresses:
        values = json.loads(_require_file(read, board))
        systems = values["rows"]
        for row in systems:
            shown[row["key"]] = {"reproduced": [], **row}
        _check_apart(result, board, systems, last)
        _check_ranks(result, board, systems, values.get("ranked_by", "mean"))

    expected = {key: entry["row"] for key, entry in last.items() if entry["benchmark"] == name}
    for key in sorted(expected.keys() | shown.keys()):
        if key not in expected:
            result.findings.append(f"{path}: {key} is missing in the ledger")
        elif key not in shown:
            result.findings.append(f"{path}: {key} is missing in the board")
        else:
            texts = (rows.get(key) or {}).get("texts") or {"names": {}}
            _check_row(result, f"{path}: {key}", shown[key], expected[key], texts["names"])
    result.checked.append(f"{len(shown)} rows of {name}, each as its last entry.")


def _check_ranks(result: Verification, board: str, systems: Sequence[Facts], rule: str) -> None:
    """Check that the ranks follow the scores, and that each lies within its rank set."""
    if rule == "mean":  # `recompute` checks the ranks by other rules
        scores = [_ranking_score(row) for row in systems]
        ranks = [row["rank"] for row in systems]
        result.expect(ranks == competition_ranks(scores), f"{board}: the ranks do not follow the scores")
    within = True
    for row in systems:
        if row["rank_low"]:
            # A row without a rank has no rank set either.
            within = within and bool(row["rank"]) and row["rank_low"] <= row["rank"] <= row["rank_high"]
    result.expect(within, f"{board}: a rank is outside its rank set")


def _check_row(result: Verification, which: str, row: Facts, expected: Facts, names: Facts) -> None:
    """Check a row of a board against what its last entry says, and its names against the list of rows."""

    def read_field(name: str) -> Any:
        return from_json(row, name)

    shown = row_of(read_field, row)
    fields = shown.keys() | {"reproduced"}
    same = all(expected.get(field) == shown.get(field) for field in fields)
    result.expect(same, f"{which} is not as its last entry says")
    on_boards = [field for field in NAMES if field.kind != "text"]
    same_names = all(names.get(name) == value for name, value in as_json(read_field, on_boards).items())
    result.expect(same_names, f"{which} has other names than its last entry")


def _stands_apart(row: Facts) -> bool:
    """Whether the board says that the scores of a row are not comparable with those that it ranks."""
    return row.get("withheld") in DIFFERENCES


def _ranking_score(row: Facts) -> float | None:
    """The score by which a board ranks a row; None of incomplete ones and those that stand apart."""
    if _stands_apart(row) or not row["score"]:
        return None
    value: float | None = row["score"]["value"]
    return value


def _check_apart(result: Verification, board: str, systems: Sequence[Facts], last: Facts) -> None:
    """Check that rows that stand apart have no rank and, as far as entries say it, another basis."""
    ranked = [last[row["key"]]["basis"] for row in systems if row["rank"] and row["key"] in last]
    for row in filter(_stands_apart, systems):
        part = BASIS.get(DIFFERENCES[row["withheld"]])
        right = row["rank"] is None
        if part and row["key"] in last:
            own = last[row["key"]]["basis"][part]
            right = right and all(basis[part] != own for basis in ranked)
        result.expect(right, f"{board}: {row['key']} is not “{row['withheld']}”")


def _check_sums(result: Verification, folder: Path, key: Key | None) -> None:
    """Check that a frozen copy has the files of its signed list, each with its SHA-256, and no other."""
    key = key or read_key(json.loads(_require_file(from_folder(folder), "ledger/rows.json"))["key"])
    sums = read_sums((folder / SUMS).read_text(encoding="utf-8"), key)
    files = set()
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_dir():
            files.add(path.relative_to(folder).as_posix())
    files.discard(SUMS)
    for name in sorted(sums.keys() | files):
        if name not in files:
            result.findings.append(f"{name}: missing")
        elif name not in sums:
            result.findings.append(f"{name}: added")
        else:
            result.expect(sha256_of(folder / name) == sums[name], f"{name}: not as it was frozen")
    result.checked.append(f"{len(sums)} files, each with its SHA-256 of the signed list.")


def verify_released(result: Verification, folder: Path) -> None:
    """Grade the released predictions again; ranks and scores must be those of the board."""
    released = sorted((folder / RELEASE).glob("*/release.json"))
    if not released:
        result.checked.append("This copy has no labels, so nothing was graded again.")
    for about in released:
        name = about.parent.name
        if json.loads(about.read_bytes())["ladder"]:
            result.checked.append(f"{name} is not graded again: under the Ladder, scores follow others.")
            continue
        board = json.loads((folder / "benchmarks" / f"{name}.json").read_bytes())
        systems = board["rows"]
        again = recompute(about.parent, systems, board.get("ranked_by", "mean"))
        result.findings += [f"{name}: {text}" for text in _differences(systems, again)]
        keys = [row["key"] for row in systems]
        result.expect(list(again) == keys, f"{name}: the systems have another order when graded again")
        graded = sum(each.scores is not None for each in again.values())
        text = f"{graded} systems of {name} graded again, with the same ranks and rank sets."
        if graded < len(keys):
            text += f" {len(keys) - graded} more are not: their files are not kept, or they stand apart."
        result.checked.append(text)


class Regraded(NamedTuple):
    """What a system has when it is graded and ranked again."""

    rank: int | None
    ends: tuple[int, int] | None
    """The ends of its rank set, where it has one."""
    scores: Facts | None
    """As `scores_of`; None where its predictions are not kept."""


def _differences(systems: Sequence[Facts], graded: Mapping[str, Regraded]) -> Iterator[str]:
    """What differs between the rows of a board and their grading, by system and column."""
    for row in systems:
        again = graded[row["key"]]
        columns: dict[str, tuple[Any, Any]] = {"rank": (row["rank"], again.rank)}
        if row["rank_low"] is not None:
            columns["rank set"] = ((row["rank_low"], row["rank_high"]), again.ends)
        if again.scores is not None:
            shown = scores_of(row)
            scores = again.scores
            columns["score"] = (shown["score"], scores["score"])
            for task in shown["tasks"] | scores["tasks"]:
                columns[f"score of {task}"] = shown["tasks"].get(task), scores["tasks"].get(task)
            if all(before == after for before, after in columns.values()):
                columns["SHA-256 of metrics and intervals"] = shown["scores_sha256"], scores["scores_sha256"]
        for column, (before, after) in columns.items():
            if before != after:
                system = f"{row['name']!r} ({row['key']})"
                yield f"the {column} of {system} is {before} on the board, {after} when graded again"


def _require_plain_name(name: str) -> str:
    """The name of a file, which may not lead out of its folder, in whoever's copy. Raises ValueError."""
    if name in ("", "..") or name != Path(name).name:
        raise ValueError(f"{name!r} is not a plain file name")
    return name


def recompute(home: Path, systems: Sequence[Facts], rule: Rule = "mean") -> dict[str, Regraded]:
    """The rank, rank set and scores of each system of a release, best first, from predictions and labels.

    `systems` are the rows of the board, some of whose predictions may not be kept; those that stand apart are
    not graded. By another rule than the average, those that have ranks are ranked among themselves.
    """
    from gluebench.analysis.board import TooFewSystemsError, rank_all

    about = json.loads((home / "release.json").read_bytes())
    gold = _read_labels(home, about)
    values = {row["key"]: _ranking_score(row) for row in systems}
    apart = {row["key"] for row in systems if _stands_apart(row)}
    again: Facts | None = None
    with tempfile.TemporaryDirectory() as scratch:
        files: dict[str, str] = {}
        for key in values:
            predictions = home / "predictions" / _require_plain_name(key)
            if key not in apart and predictions.exists():
                # By the name that it was sent with: a single table names its task by it.
                link = Path(scratch, key, _require_plain_name(about["filenames"].get(key, key)))
                link.parent.mkdir()
                link.symlink_to(predictions.resolve())
                files[key] = str(link)
        graded = {key: _grade_again(path, gold) for key, path in files.items()}
        tasks = {key: _without_missing(scores["tasks"]) for key, scores in graded.items()}
        with suppress(TooFewSystemsError):
            again = rank_all(files, gold, majorities=[()], shown=tasks)
    values |= {key: scores["score"] for key, scores in graded.items()}
    ends: dict[str, tuple[int, int]] = {}
    if again and rule != "mean":
        values, ends = _by_rule(again, values, rule)
    elif again:
        ranked = sum(value is not None for value in values.values())
        counts = dict(counts_of(again))[""]
        for key, count in zip(again["names"], counts, strict=True):
            if not isinstance(count, str):
                ends[key] = rank_set(count, ranked)
    keys = list(values)
    compared = list(values.values())
    ranks = competition_ranks(compared)
    regraded = {}
    for at in board_order(compared):
        key = keys[at]
        regraded[key] = Regraded(ranks[at], ends.get(key), graded.get(key))
    return regraded


def _read_labels(home: Path, about: Facts) -> Gold:
    """The labels of a release: of all rows, or of those that the board shows."""
    from gluebench.benchmark import load_benchmark
    from gluebench.scoring import read_gold
    from gluebench.scoring.gold import label_key
    from gluebench.scoring.split import part_of

    gold = read_gold(home / "gold", load_benchmark(home / "manifest.toml"))
    if not about["rows"]:
        return gold
    return part_of(gold, about["rows"], share=about["share"], key=label_key(str(home / "gold")))


def _grade_again(path: str, gold: Gold) -> Values:
    """The scores of a file of predictions, as an entry has them."""
    from gluebench.scoring import grade
    from gluebench.scoring.feedback import rounded_report
    from gluebench.scoring.report import report_of
    from gluebench.submission import check

    report = grade(check(path, gold.benchmark), gold).as_dict()
    shown = rounded_report(report_of(report), gold.benchmark)  # a site rounds what it stored
    return scores_of(shown.as_dict())


def _by_rule(
    again: Facts, keys: Iterable[str], rule: Rule
) -> tuple[dict[str, float | None], dict[str, tuple[int, int]]]:
    """Values with the order of the ranks by a rule, and the ends of the rank sets by it."""
    values: dict[str, float | None] = dict.fromkeys(keys)
    ends = {}
    places = again["boards"][""]["rules"][rule]["places"]
    for key, place in zip(again["names"], places, strict=True):
        if place["rank"] is not None:
            values[key] = -float(place["rank"])
        if place["rank_low"] is not None:
            ends[key] = (place["rank_low"], place["rank_high"])
    return values, ends


def _without_missing(scores: Mapping[str, float | None]) -> dict[str, float]:
    """The scores that there are."""
    return {task: score for task, score in scores.items() if score is not None}


def verify_receipt(result: Verification, note: str, key: Key) -> None:
    """Check the signature of a receipt, and say what it states."""

    def check() -> None:
        values = json.loads(open_note(note, key))
        stated = [f"{name} {value}" for name, value in values.items() if value is not None]
        result.checked.append(f"a receipt signed by {key}: {'; '.join(stated)}.")

    result.attempt("receipt", check)

"""The ledger's entries and tree, and what adds to it: each change of a row that a board shows.

An entry has the numbers of a row and a salted hash of its names, which are stored beside it: a person's
names can be deleted, and the tree stays whole.
"""

import json
import logging
import secrets
from collections.abc import Sequence
from datetime import UTC
from typing import Any, NamedTuple

from django.conf import settings
from django.db import models, transaction
from django.dispatch import receiver
from django.utils import timezone
from django.utils.crypto import salted_hmac

from gluebench.leaderboard.apps.audit.models import SEAL, Entry, lock_log, record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.seals import seals_of_parts
from gluebench.leaderboard.apps.common.fields import as_json
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.signals import submissions_changed
from gluebench.leaderboard.apps.ledger import tree
from gluebench.leaderboard.apps.ledger.entries import MARKS, NAMES, OTHERS, canonical, names_hash, row_of
from gluebench.leaderboard.apps.ledger.notes import Checkpoint, Key, NoteError, Signer, read_checkpoint
from gluebench.leaderboard.apps.submissions.anonymity import mask_names
from gluebench.leaderboard.apps.submissions.models import Submission, SubmissionQuerySet

logger = logging.getLogger(__name__)

COLUMNS = ["pk", "key", "benchmark__name", "submitted", "sha256", "scores", "report__provenance", "why"]
COLUMNS += ["public", "approved", "withdrawn", "reproduced"]
COLUMNS += MARKS
COLUMNS += [field.name for field in NAMES + OTHERS]
BATCH = 500
"""Submissions that are looked at together."""


class Leaf(models.Model):
    """One entry. Rows are added and never changed, but for `texts`, which may be deleted."""

    index = models.BigIntegerField(primary_key=True)
    benchmark = models.CharField(max_length=80, blank=True, db_index=True)
    submission = models.CharField(max_length=12, blank=True, db_index=True)
    data = models.TextField()
    """The entry: canonical JSON in ASCII."""
    texts = models.JSONField(null=True)
    """The names that the entry has the hash of, and the salt; null once they are deleted."""
    note = models.TextField(blank=True)
    """The signed checkpoint of the tree that ends with this entry; empty within a batch of entries."""

    class Meta:
        ordering = ["-index"]
        verbose_name_plural = "leaves"

    @property
    def entry(self) -> Values:
        """The entry's values."""
        values: Values = json.loads(self.data)
        return values

    def fault(self, key: Key | None) -> bool:
        """Whether something stored beside the entry does not fit it; without `key`, its note is not read."""
        try:
            signed = self.index
            if key and self.note:
                signed = read_checkpoint(self.note, key).size - 1
            entry = self.entry
            names = (entry.get("row") or {}).get("names_sha256", "")
        except (NoteError, ValueError, AttributeError):
            return True
        kept = [entry.get("benchmark", ""), entry.get("submission", ""), names_hash(self.texts) or names]
        return signed != self.index or kept != [self.benchmark, self.submission, names]


class Node(models.Model):
    """One hash of a tile: at level 0 of an entry, above of a full tile of the level below."""

    level = models.PositiveSmallIntegerField()
    index = models.BigIntegerField()
    hash = models.BinaryField(max_length=32)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["level", "index"], name="one_node_per_place")]


class Change(NamedTuple):
    """An entry that is not in the tree yet."""

    values: Facts
    texts: Facts | None = None


def _basis(entry: Facts) -> Values:
    """What a row was graded from: the file, and the versions of all else."""
    by = entry["report__provenance"] or {}
    return {
        "file_sha256": entry["sha256"],
        "labels": by.get("labels"),
        "rows": by.get("rows"),
        "manifest": (by.get("benchmark") or {}).get("fingerprint"),
        "package": by.get("version"),
    }


@receiver(submissions_changed)
def follow(submissions: Sequence[int], *, erased: bool = False, **_: Any) -> None:
    """Add what changed on the boards; called in the transaction of the change."""
    for at in range(0, len(submissions), BATCH):
        pks = submissions[at : at + BATCH]
        if erased:
            keys = Submission.objects.filter(pk__in=pks).values("key")
            Leaf.objects.filter(submission__in=keys).update(texts=None)
        add(changes_of(pks))


@receiver(models.signals.post_save, sender=Entry)
def follow_log(created: bool, raw: bool, **_: Any) -> None:
    """Add how many rows the private log has with a new one, by which cutting off its end shows."""
    if created and not raw:  # raw: of an import, which brings its ledger
        before = log_leaf()
        rows = before.entry["rows"] + 1 if before else Entry.objects.count()
        add([_log_change(rows)])


@receiver(models.signals.post_save, sender="limits.Override")
@receiver(models.signals.post_delete, sender="limits.Override")
@receiver(models.signals.post_save, sender="phases.Extension")
@receiver(models.signals.post_delete, sender="phases.Extension")
def follow_exception(instance: Any, raw: bool = False, **_: Any) -> None:
    """Seal an exception or an extension in the log, whatever changed it."""
    if raw:
        return
    part = "overrides"
    benchmark = getattr(instance, "benchmark", None)
    if benchmark is None:
        part = "extensions"
        benchmark = instance.phase.benchmark
    record(SEAL, benchmark=benchmark, sealed=seals_of_parts(benchmark, part, row=instance.pk))


@receiver(models.signals.m2m_changed, sender=Benchmark.organizers.through)
@receiver(models.signals.m2m_changed, sender=Benchmark.reviewers.through)
def follow_roles(sender: Any, instance: Any, action: str, reverse: bool, pk_set: Any, **_: Any) -> None:
    """Seal a role in the log, whatever gave or took it."""
    if action not in ("post_add", "post_remove"):
        return
    part = "organizers" if sender is Benchmark.organizers.through else "reviewers"
    for pk in pk_set:
        benchmark = instance
        account = pk
        if reverse:  # the account was changed, and `pk_set` names benchmarks
            benchmark = Benchmark.objects.get(pk=pk)
            account = instance.pk
        record(SEAL, benchmark=benchmark, sealed=seals_of_parts(benchmark, part, row=account))


def _log_change(rows: int) -> Change:
    seal = Entry.objects.order_by("pk").values_list("seal", flat=True).last()
    return Change({"kind": "log", "rows": rows, "seal": seal})


def log_leaf() -> Leaf | None:
    """The last entry about the private log."""
    return Leaf.objects.filter(data__contains='"kind":"log"').first()


def _on_boards() -> SubmissionQuerySet:
    rows = Submission.objects.public().filter(benchmark__in=Benchmark.objects.public().values("pk"))
    return rows.exclude(phase=None, benchmark__board_phase__isnull=False)  # sent before the first phase


def changes_of(pks: Sequence[int]) -> list[Change]:
    """What is not in the ledger yet of these submissions."""
    rows = Submission.objects.filter(pk__in=pks).order_by("pk")
    entries: list[Values] = []
    for benchmark in Benchmark.objects.filter(submissions__in=pks).distinct():
        entries += mask_names(benchmark, rows.filter(benchmark=benchmark).values(*COLUMNS))
    shown = _on_boards().filter(pk__in=pks, scores__isnull=False)
    listed = set(shown.values_list("pk", flat=True))
    leaves = Leaf.objects.filter(submission__in=[entry["key"] for entry in entries]).order_by("index")
    known = {leaf.submission: leaf for leaf in leaves}  # the last of each
    changes = []
    for entry in entries:
        change = change_of(entry, known.get(entry["key"]), listed=entry["pk"] in listed)
        if change is not None:
            changes.append(change)
    return changes


def change_of(entry: Facts, last: Leaf | None, *, listed: bool) -> Change | None:
    """What happened to a submission since its last entry; None if boards show it as before."""
    before: Values = last.entry if last else {}
    after: Values = {"row": None}
    texts = None
    if listed:
        texts = _names_and_salt(entry, last)
        submitted = entry["submitted"].astimezone(UTC).isoformat(timespec="seconds")
        row = row_of({**entry, "submitted": submitted}.__getitem__, entry["scores"])
        after = {"row": {**row, "names_sha256": names_hash(texts)}, "basis": _basis(entry)}
    if before.get("row") == after["row"] and before.get("basis") == after.get("basis"):
        return None
    kind = _kind(before, after, entry)
    if kind == "edited" and last and last.texts and texts and last.texts["names"]["name"] != entry["name"]:
        kind = "renamed"
    values = {"kind": kind, "benchmark": entry["benchmark__name"], "submission": entry["key"], **after}
    if kind in ("re-scored", "revealed"):
        values |= {"reason": entry["why"], "before": before["row"]["score"]}
    return Change(values, texts)


def _names_and_salt(entry: Facts, last: Leaf | None) -> Values:
    """What an entry has the hash of: as in the last entry while the names are the same."""
    names = as_json(entry.__getitem__, NAMES)
    if last and last.texts and last.texts["names"] == names:
        texts: Values = last.texts
        return texts
    return {"names": names, "salt": secrets.token_hex(16)}


def _kind(before: Facts, after: Facts, entry: Facts) -> str:
    """The word for a change of a row; `entry` is the submission now."""
    old = before.get("row")
    new = after["row"]
    if new is None:
        if entry["withdrawn"]:
            return "withdrawn"
        return "taken off" if entry["public"] else "made private"
    if old is None:
        return "restored" if before else "added"
    if before["basis"] != after["basis"] or old["scores_sha256"] != new["scores_sha256"]:
        if after["basis"]["rows"] == "held back" and before["basis"]["rows"] != "held back":
            return "revealed"
        return "re-scored"
    if old.get("reproduced") != new.get("reproduced"):
        return "reproduced" if "reproduced" in new else "not reproduced"
    if any(old[name] != new[name] for name in MARKS):
        return "marked"
    return "edited"


def add(changes: Sequence[Change]) -> None:
    """Add entries, and sign the tree; in a transaction that has locked what changed.

    A tree that is not the one that was signed last is never signed: someone edited it.
    """
    if not changes:
        return
    lock_log()
    last = Leaf.objects.first()
    size = last.index + 1 if last else 0
    intact = is_signed(signer().key)
    now = timezone.now().astimezone(UTC).isoformat(timespec="seconds")
    leaves = [
        Leaf(
            index=at,
            benchmark=change.values.get("benchmark", ""),
            submission=change.values.get("submission", ""),
            data=canonical({"time": now, **change.values}),
            texts=change.texts,
        )
        for at, change in enumerate(changes, start=size)
    ]
    _grow(size, [tree.leaf_hash(leaf.data.encode()) for leaf in leaves])
    if intact:
        leaves[-1].note = sign(size + len(leaves))
    else:
        logger.error("The ledger was edited before entry %s, or its key changed: it is not signed.", size)
    Leaf.objects.bulk_create(leaves)


def _grow(size: int, hashes: Sequence[bytes]) -> None:
    """Add hashes of entries to a tree of that size, and those above them."""
    level = 0
    nodes = []
    while hashes:
        nodes += [Node(level=level, index=at, hash=each) for at, each in enumerate(hashes, start=size)]
        full_tiles = size // tree.WIDTH
        unfinished = tile(level, full_tiles)[: size % tree.WIDTH]
        hashes = tree.above(unfinished + list(hashes))
        size = full_tiles
        level += 1
    Node.objects.bulk_create(nodes)


def tile(level: int, number: int) -> list[bytes]:
    """The hashes of a tile, as many as there are."""
    first = number * tree.WIDTH
    nodes = Node.objects.filter(level=level, index__gte=first, index__lt=first + tree.WIDTH)
    return [bytes(each) for each in nodes.order_by("index").values_list("hash", flat=True)]


def root(size: int) -> bytes:
    """The root of the first `size` entries, from the stored hashes."""
    edge: list[list[bytes]] = []
    while size:
        edge.append(tile(len(edge), size // tree.WIDTH)[: size % tree.WIDTH])
        size //= tree.WIDTH
    return tree.root_of(reversed(edge))


def signer() -> Signer:
    """The site's key, which is derived from its secret key; its name stays that of the first checkpoint."""
    first = Leaf.objects.exclude(note="").order_by("index").values_list("note", flat=True).first()
    if first:
        name = first.partition("\n")[0]
    elif settings.RUNNING.hosts:
        name = settings.RUNNING.hosts[0].strip(".") + "/ledger"
    else:
        name = "localhost/ledger"
    return Signer(name, salted_hmac("gluebench.ledger", "Ed25519", algorithm="sha256").digest())


def sign(size: int) -> str:
    """The signed checkpoint of the first `size` entries."""
    by = signer()
    return by.sign(str(Checkpoint(by.name, size, root(size))))


def is_signed(key: Key) -> bool:
    """Whether the stored tree is the one that was signed last, with that key."""
    last = Leaf.objects.first()
    if last is None:
        return True
    try:
        checkpoint = read_checkpoint(last.note, key)
    except NoteError:
        return False
    return checkpoint[1:] == (last.index + 1, root(last.index + 1))


def checkpoint_note() -> str:
    """The last signed checkpoint; that of the empty tree at first."""
    return Leaf.objects.exclude(note="").values_list("note", flat=True).first() or sign(0)


def sign_anew(reason: str) -> None:
    """Sign the tree as it is with the present key, after an entry that says why."""
    with transaction.atomic():
        last = Leaf.objects.first()
        if last and not is_signed(signer().key):
            Leaf.objects.filter(pk=last.pk).update(note=sign(last.index + 1))
            new = Change({"kind": "new key", "reason": reason, "key": str(signer().key)})
            add([new, _log_change(Entry.objects.count())])

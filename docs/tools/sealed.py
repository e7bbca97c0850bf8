"""The reference page of what is not sealed, from the models: `python -m docs.tools.sealed`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping

from django.apps import apps

from gluebench.leaderboard import commands

DERIVED = "follows from what is sealed, and is made again"
QUEUE = "the state of work in the queue; it decides no score"
OWN = "of an account and its access: the operator and its owner change it without a trace here"
ADDRESS = "an invitation, an address or a name of an account or team; what was sent is bound to their numbers"
TEXT = "a text that no result depends on; the log has the act"
WHEN = "when or by whom; the log has the act"
HIDDEN = "seen by its author and the organizers alone"
LABELING = "labels by annotators, which no rank uses"

UNSEALED: Mapping[str, Mapping[str, str]] = {
    "accounts.Team": {
        ADDRESS: "name",
        WHEN: "created",
        OWN: "merging leader",
        "for which benchmark it is; a submission has the team that it counts for": "benchmark",
    },
    "accounts.User": {
        OWN: "password last_login is_superuser is_staff is_active date_joined",
        ADDRESS: "name first_name last_name email",
    },
    "accounts.Membership": {
        "who was in a team, and when; an edit may give somebody its extension": "user team since until",
    },
    "accounts.Token": {OWN: "user name digest scopes created expires used"},
    "benchmarks.Benchmark": {
        "the folder of labels, whose content has the sealed digest": "gold",
        DERIVED: "version due board_phase",
        WHEN: "added",
        "its address, of which its seals are": "name",
    },
    "phases.Phase": {DERIVED: "state"},
    "phases.Extension": {TEXT: "reason", WHEN: "by created"},
    "submissions.Submission": {
        HIDDEN: "declined filename",
        DERIVED: "counts published size begun verdict problems",
        "names the file, whose content has the sealed digest": "file",
        "which upload it took the address of, for its author's history": "replaces",
        "so that an upload that is sent again makes no second row": "retry_key",
        "how far a reproduction agrees with its row, computed from two sealed files": "agreement",
        QUEUE: "status lease renewed attempts spent failure",
    },
    "submissions.Worker": {QUEUE: "name seen"},
    "submissions.Revision": {
        "earlier names and texts; the ledger has an entry for each edit": "submission at by changes",
    },
    "similarity.Sample": {DERIVED: "submission files"},
    "similarity.Comparison": {DERIVED: "benchmark at submissions pairs"},
    "limits.Override": {TEXT: "reason", WHEN: "by created"},
    "limits.Invitation": {
        "a link by which people register or join": "benchmark team code label uses used expires",
        WHEN: "by created",
    },
    "limits.Registration": {
        "who may submit from now on; nothing that was sent depends on it": "benchmark user standing",
        "what a person said, and how the person came to register": "affiliation consent reason invitation",
        WHEN: "at",
    },
    "limits.Acceptance": {
        "who accepted which rules; asked before the first upload": "user benchmark digest at"
    },
    "people.Study": {
        LABELING: "key benchmark task drawn texts by created open public agreement problems scored labels",
    },
    "people.Annotator": {LABELING: "study number code user"},
    "people.Answer": {LABELING: "annotator item label at"},
    "ranks.Ranking": {
        DERIVED: "benchmark phase version stamp since asked at failure systems board pairs health",
    },
    "ranks.Decisions": {DERIVED: "ranking score counts better p_values"},
    "ranks.Pair": {DERIVED: "a b stamp asked at failure found"},
    "results.Results": {DERIVED: "leaders"},
    "news.Announcement": {"news of the site": "site"},
    "news.Notice": {QUEUE: "submission registration event attempt"},
    "news.MailChoice": {OWN: "user pace results"},
    "news.Message": {TEXT: "benchmark title text site", WHEN: "at by"},
    "news.Delivery": {QUEUE: "announcement message notice invitation user due claimed sent refused"},
    "webhooks.Webhook": {OWN: "owner benchmark url created failures"},
    "webhooks.Delivery": {QUEUE: "webhook event body due attempts answer created"},
    "organizing.SiteText": {TEXT: "name text changed"},
    "organizing.FrozenCopy": {
        QUEUE: "benchmark requested labels worker attempts failure made",
        "names a file that has its own signed list": "file size sha256",
    },
    "organizing.DryRun": {"made submissions, which are on no board": "benchmark by at gold results failure"},
}
"""For each model, the reasons why fields are not sealed."""
_INTRODUCTION = """# What is not sealed

An edit in the database, without the secret key, is found by `gluebench leaderboard verify` if the field
is sealed: in [the ledger](../explanation/ledger.md), in the private log, or in its own row. All others are
here, with the reason. This page is generated from the tables: `make docs` writes it again, and a test fails
while it differs, or while a field is neither sealed nor here.

| table | not sealed | because |
|---|---|---|"""


def fields() -> dict[str, set[str]]:
    """The fields of each table of the site, but for the keys of its rows."""
    models = [model for model in apps.get_models() if model.__module__.startswith("gluebench.")]
    return {
        model._meta.label: {field.name for field in model._meta.concrete_fields if field.name != "id"}
        for model in models
    }


def sealed_fields() -> dict[str, set[str]]:
    """The fields of each table that `verify` compares with a seal, the ledger or a sealed result."""
    from gluebench.leaderboard.apps.audit.models import Entry
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.benchmarks.seals import ADDED, COLUMNS, RELATED
    from gluebench.leaderboard.apps.ledger import models as ledger
    from gluebench.leaderboard.apps.submissions.models import Result, Submission

    listed = {name.partition("__")[0] for name in ledger.COLUMNS if name != "pk"}
    as_graded = {"report", "scores", "value", "apart", "finished", "why", "seal"}
    sealed = {
        "audit.Entry": {*Entry.SEALED, "seal"},
        "submissions.Submission": {*Submission.SEALED} | listed | as_graded,
        "submissions.Result": {*Result.SEALED, "seal"},
        "benchmarks.Benchmark": {*COLUMNS, "gold_digest"},
        "ledger.Leaf": {"index", "benchmark", "submission", "data", "texts", "note"},
        "ledger.Node": {"level", "index", "hash"},
    }
    for part, columns in RELATED.items():
        columns = (*columns, *ADDED.get(part, ()))
        model = "phases.Extension"
        if part != "extensions":
            field = Benchmark._meta.get_field(part)
            if field.many_to_many:  # a table of roles, without a model of its own
                continue
            model = field.related_model._meta.label  # type: ignore[union-attr]
        sealed[model] = {*columns, "benchmark"} if part != "extensions" else {*columns}
    known = fields()
    return {
        model: {name if name in known[model] else name.removesuffix("_id") for name in names}
        for model, names in sealed.items()
    }


def page() -> str:
    """The page as Markdown."""
    return "\n".join([_INTRODUCTION, *_rows()])


def _rows() -> Iterator[str]:
    for model, reasons in UNSEALED.items():
        for reason, names in reasons.items():
            listed = ", ".join(f"`{name}`" for name in names.split())
            yield f"| {model.partition('.')[2]} | {listed} | {reason} |"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        commands.init(f"{scratch}/site")
        print(page())

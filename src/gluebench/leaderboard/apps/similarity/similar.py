"""Near-duplicate submissions: signs that two accounts are one person, or share predictions, for organizers.

These are not proof: colleagues share a paper, and two majority-class baselines are equal.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.views.decorators.http import require_POST, require_safe
from django_tasks import task

from gluebench.leaderboard.apps.accounts.models import SignedInRequest, account_name, acting_teams
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import for_organizers, render_tab
from gluebench.leaderboard.apps.common.pages import redirect_with_success
from gluebench.leaderboard.apps.phases.models import tasks_of
from gluebench.leaderboard.apps.similarity.models import Comparison, Sample
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.process import local_paths, run_grader
from gluebench.leaderboard.apps.submissions.queries import Status

AT_A_TIME = 20
MOST = 2000
"""Submissions that are compared, the newest ones: the work grows with the square."""
Linked = tuple[str, list[Submission]]


def find_links(benchmark: Benchmark) -> list[Linked]:
    """What submissions of different accounts have in common, each with these submissions, oldest first."""
    rows = list(_submissions_of(benchmark)[:MOST])
    groups = _groups("The very same file", rows, lambda row: [row.sha256])
    groups += _groups("Email addresses of the same mailbox", rows, lambda row: [mailbox(row.owner.email)])
    groups += _groups(
        "The same link, paper or code", rows, lambda row: {row.link, row.paper, row.code} - {""}
    )
    return groups


def mailbox(email: str) -> str:
    """The address without the parts that mail servers ignore: a +tag, and dots at Gmail."""
    name, _, host = email.casefold().rpartition("@")
    name = name.partition("+")[0]
    if host in ("gmail.com", "googlemail.com"):
        name = name.replace(".", "")
        host = "gmail.com"
    return f"{name}@{host}"


def near(benchmark: Benchmark) -> tuple[Comparison | None, list[tuple[Submission, Submission, float]]]:
    """The last comparison of predictions, and those of its pairs that still exist, with their share."""
    done = Comparison.objects.filter(benchmark=benchmark).first()
    if done is None:
        return None, []
    pks: set[int] = set()
    for first, second, _ in done.pairs:
        pks |= {first, second}
    rows = {row.pk: row for row in _submissions_of(benchmark).filter(pk__in=pks)}
    pairs = []
    for first, second, share in done.pairs:
        if first in rows and second in rows:
            pairs.append((rows[first], rows[second], share))
    return done, pairs


def read_some(benchmark: int) -> int:
    """Sample the predictions of some submissions that have no sample yet; return how many."""
    rows = list(_graded_submissions(benchmark).filter(sample__isnull=True)[:AT_A_TIME])
    if rows:
        owner = tasks_of(rows[0].in_phase)
        rows = [row for row in rows if tasks_of(row.in_phase) == owner]
        manifest = str(owner.manifest_path)
        with local_paths(rows) as paths:
            samples = run_grader({"manifest": manifest, "samples": paths})["samples"]
        Sample.objects.bulk_create(
            [Sample(submission=row, files=files) for row, files in zip(rows, samples, strict=True)],
            ignore_conflicts=True,
        )
    return len(rows)


def renew(benchmark: int) -> Comparison:
    """Compare all samples of a benchmark, and keep the pairs that are near."""
    rows = list(_graded_submissions(benchmark).filter(sample__isnull=False).select_related("sample"))
    samples = []
    for row in rows:
        # Files of two benchmarks may have one name.
        owner = tasks_of(row.in_phase).name
        files = {f"{owner}/{name}": text for name, text in row.sample.files.items()}
        samples.append({"owner": row.owner_id, "files": files})
    matches = run_grader({"compare": samples})["pairs"] if samples else []
    pairs = [[rows[first].pk, rows[second].pk, share] for first, second, share in matches]
    made, _ = Comparison.objects.update_or_create(
        benchmark_id=benchmark, defaults={"submissions": len(rows), "pairs": pairs}
    )
    return made


@task()
def compare_predictions(benchmark: int) -> None:
    """Read some more submissions of a benchmark; once all are read, compare them."""
    if read_some(benchmark):
        # A short task after another, so that submissions are graded in between.
        compare_predictions.enqueue(benchmark)
    else:
        renew(benchmark)


def _graded_submissions(benchmark: int) -> QuerySet[Submission]:
    rows = Submission.objects.filter(benchmark=benchmark, status=Status.GRADED).exclude(file="")
    newest = rows.order_by("-submitted").values("pk")[:MOST]
    rows = Submission.objects.filter(pk__in=newest).select_related("benchmark", "phase__tasks_of")
    return rows.defer("report", "problems")


def _submissions_of(benchmark: Benchmark) -> QuerySet[Submission]:
    rows = benchmark.submissions.select_related("owner").order_by("-submitted")
    return rows.defer("report", "problems", "scores")


def _groups(what: str, rows: Iterable[Submission], keys: Any) -> list[Linked]:
    """The submissions that share a key, where they are of more than one account."""
    groups: dict[Hashable, list[Submission]] = defaultdict(list)
    for row in rows:
        for key in keys(row):
            groups[key].append(row)
    shared = []
    for same in groups.values():
        owners = {row.owner_id for row in same}
        if len(owners) > 1:
            shared.append((what, same[::-1]))
    return shared


@for_organizers(require_safe)
def alike(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Accounts that have something in common, and predictions that are almost the same."""
    comparison, pairs = near(benchmark)
    groups = find_links(benchmark)
    rows: list[Any] = []
    for first, second, _ in pairs:
        rows += [first, second]
    for _, together in groups:
        rows += together
    teams = acting_teams(benchmark.pk)
    for row in rows:
        row.account = account_name(row.owner, request.user)
        row.present_team = teams.get(row.owner_id)
    context = {"comparison": comparison, "pairs": pairs, "groups": groups}
    return render_tab(request, benchmark, "alike", context)


@for_organizers(require_POST)
def compare(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Have the background worker compare all predictions again."""
    compare_predictions.enqueue(benchmark.pk)
    message = "The predictions are being compared; load this page again in a minute."
    return redirect_with_success(request, message, "organize-alike", benchmark.name)

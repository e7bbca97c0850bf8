"""Schemas of the answers, as the OpenAPI document shows them."""

from typing import Any, Literal
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest
from ninja import Field, Schema
from pydantic import AwareDatetime, ConfigDict

from gluebench.benchmark.records import Rule
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.problems import Problem
from gluebench.leaderboard.apps.submissions.queries import Kind, Regime, Status


def answers(shape: Any, *statuses: int) -> dict[int, Any]:
    """Map each status to its schema: `shape`, none, or a problem; 400, 401 and 429 are always included."""
    shapes: dict[int, Any] = {}
    for status in sorted({200, 400, 401, 429}.union(statuses)):
        shapes[status] = None
        if status < 300:
            shapes[status] = shape
        elif status >= 400:
            shapes[status] = Problem
    return shapes


class Paging(Schema):
    """The number of a page and its length."""

    page: int = Field(1, ge=1, le=1_000_000)
    per_page: int = Field(100, ge=1, le=1000)

    def page_of(self, request: HttpRequest, items: Any, **query: Any) -> tuple[Any, Values]:
        """Return the items of the page, and the fields of `PaginatedList`; `query`: other parameters."""
        paginator = Paginator(items, self.per_page)
        pages = paginator.num_pages
        start = (self.page - 1) * self.per_page

        def address(page: int) -> str:
            return f"{request.path}?{urlencode({**query, 'page': page, 'per_page': self.per_page})}"

        return items[start : start + self.per_page], {
            "count": paginator.count,
            "page": self.page,
            "pages": pages,
            "next": address(self.page + 1) if self.page < pages else None,
            "previous": address(min(self.page - 1, pages)) if self.page > 1 else None,
        }


class PaginatedList(Schema):
    """What every list has besides its items."""

    count: int
    """Items in all."""
    page: int
    pages: int
    next: str | None
    previous: str | None


class ExtensibleSchema(Schema):
    """A JSON object with more members than are listed here."""

    model_config = ConfigDict(extra="allow")


class SiteInfo(Schema):
    """The software of this site, and its largest upload."""

    software: str
    version: str
    upload_bytes: int
    """Largest submission taken."""
    docs: str
    openapi: str


class Account(Schema):
    """Who the caller is, and what the token is good for."""

    email: str
    team: str | None
    """The team for all benchmarks."""
    teams: dict[str, str]
    """The other teams, by the name of the benchmark that each is for."""
    scopes: list[str] | None
    """Null for a session, which may do all."""
    expires: AwareDatetime | None


class Strict(Schema):
    """A body without other members than these."""

    model_config = ConfigDict(extra="forbid")


class TeamMember(Schema):
    """A member of the caller's team."""

    account: int
    name: str
    role: str
    """ "leader" or "member"."""
    since: AwareDatetime | None


class TeamDetail(Schema):
    """The caller's team for the `benchmark`, or for all; null without one."""

    benchmark: str | None
    name: str | None
    members: int | None
    people: list[TeamMember]
    code: str | None
    """The secret part of its link, by which others join; null where no link is valid."""
    done: str
    """What an act did, in sentences; empty where nothing was to do."""


class Questions(Schema):
    """What registering asks for."""

    name: bool
    affiliation: bool
    consent: str
    """The text to agree to; empty for none."""


class RegistrationDetail(Schema):
    """The rules of a benchmark, and where the caller stands."""

    benchmark: str
    registration: str
    """Who may take part: "open", "approval", "invitation" or "domain"."""
    rules: str
    """Markdown."""
    version: str
    """SHA-256 of the rules."""
    accepted: bool
    """Whether the caller accepted this version."""
    asks: Questions
    standing: str | None
    """ "waiting", "accepted", "refused" or "blocked"; null without a registration."""
    obstacle: str | None
    """What keeps the caller from submitting; null if nothing does."""
    done: str
    """What an act did, in a sentence; empty where nothing was to do."""


class BenchmarkSummary(Schema):
    """A benchmark in the list."""

    name: str
    title: str
    url: str
    open: bool
    systems: int


class BenchmarkList(PaginatedList):
    """The benchmarks of the site."""

    items: list[BenchmarkSummary]


class PredictionFile(Schema):
    """One file of a submission."""

    name: str
    path: str
    """The file of the zip, and the column if it has several."""
    task: str
    rows: int
    values: str


class TaskDetail(ExtensibleSchema):
    """A task, or a diagnostic set where `scored` is false."""

    name: str
    title: str
    scored: bool
    metrics: list[Values]
    labels: list[str]
    score_range: list[float] | None
    private: bool | None
    """Whether the test labels are; unknown where the manifest does not say."""


class DataFileDetail(Schema):
    """One file of the Data page."""

    path: str
    """Below the Data page: "CoLA/train.tsv"."""
    task: str
    split: str
    rows: int
    size: int
    sha256: str
    url: str
    phase: str | None
    """The phase that it is of; null for a file of the benchmark."""


class ComingFile(Schema):
    """A file that a phase will release."""

    path: str
    phase: str
    released: AwareDatetime | None
    """When; null if it comes with the results of the phase."""
    when: str


class BenchmarkDetail(ExtensibleSchema):
    """What a benchmark is and how this site takes submissions to it."""

    name: str
    title: str
    url: str
    open: bool
    version: int
    """Grows whenever its board changes."""
    tasks: list[TaskDetail]
    files: list[PredictionFile]
    policy: Values
    policy_sentences: list[str]
    """The policy in words."""
    phases: list[Values]
    """Its phases in their order, with times in UTC; empty where it takes submissions at any time."""
    data: list[DataFileDetail]
    """The files that anybody may download."""
    coming_data: list[ComingFile]
    manifest: str
    """The TOML, for `--benchmark FILE` of the commands."""
    parents: list[str]
    """Manifest files that it extends, to be saved beside it as parent-1.toml and so on."""


class PhaseList(Schema):
    """The phases of a benchmark in their order, with times in UTC."""

    items: list[Values]
    """`ends` is the first moment at which a phase is closed for the caller; null where it stays open.

    `takes`: whether a file that the caller sends now is for it, if for any.
    """


class AnnouncementList(PaginatedList):
    """Announcements, newest first: id, title, text, and when it was published and changed."""

    items: list[Values]


class BoardRow(ExtensibleSchema):
    """An entry of the board: who, its rank and rank set, and every score with its interval."""

    rank: int | None
    """By score as observed; equal scores share the best rank."""
    rank_low: int | None
    rank_high: int | None
    """The ends of the rank set; null where there is none."""
    withheld: str | None
    """Why there is none: "being computed", or a reason."""
    key: str
    name: str
    model: str


class Board(PaginatedList, ExtensibleSchema):
    """A page of the board. Ranks and order are those of the whole."""

    benchmark: str
    version: int
    ranked_by: Rule
    """The rule of ranks and order; "mean" while those of another are being computed."""
    may_be_best: list[str]
    """Keys of the systems whose rank sets begin at 1."""
    columns: list[Values]
    rows: list[BoardRow]
    references: list[Values]


class DiagnosticRow(ExtensibleSchema):
    """An entry's scores by phenomenon."""

    key: str
    name: str
    model: str
    diagnostic: Values


class Diagnostics(PaginatedList, ExtensibleSchema):
    """A page of a diagnostic set's table."""

    benchmark: str
    task: str
    rows: list[DiagnosticRow]


class SubmissionDetail(ExtensibleSchema):
    """A submission. `check`, `sha256`, `filename`, `verdict` and `failure` are for its author alone."""

    key: str
    benchmark: str
    name: str
    model: str
    url: str
    status: Status
    public: bool
    regime: Regime
    kind: Kind
    submitted: str


class SubmissionList(PaginatedList):
    """The caller's submissions, newest first, without their reports."""

    items: list[SubmissionDetail]


class SubmissionStatus(Schema):
    """The status of a submission, and its position in the queue."""

    key: str
    status: Status
    label: str
    """The status in words."""
    position: int
    """How many are graded before it is done, itself included; 0 when it is final."""
    stalled: str
    """Why nothing is graded at the moment, where it waits for that; else empty."""
    effect: str
    """While it waits: what it can still change in its phase; else empty."""
    final: bool


class GradingResult(Schema):
    """One grading."""

    at: AwareDatetime
    why: str
    """Why it was graded again; empty for the first time."""
    package: str
    verdict: str
    score: Values | None
    """The macro-average with its interval; null where the policy holds it back, and for incomplete ones."""


class SubmissionEdit(Schema):
    """One edit: for each changed field, its values before and after."""

    at: AwareDatetime
    changes: dict[str, list[Any]]


class History(Schema):
    """What happened to a submission, newest first."""

    results: list[GradingResult]
    edits: list[SubmissionEdit]


class CheckReport(ExtensibleSchema):
    """The validator's problems, as `gluebench check --json` prints them."""

    benchmark: str
    verdict: str
    missing: list[str]
    problems: list[Values]


class ActionResult(Schema):
    """What an organizer's act did."""

    message: str
    """As the page says it."""
    url: str
    """The page that it leads to."""


class Report(ExtensibleSchema):
    """A report of the schema `gluebench.report/1` (docs/reference/report.md)."""

    complete: bool
    missing: list[str]
    score: Values | None
    tasks: Values
    diagnostics: Values
    classes: Values
    """Test file to class to precision, recall, F1 and counts; only of public labels."""


class LimitUsage(ExtensibleSchema):
    """One limit: "day", "month", "total", "at_once", or "invalid" for rejected uploads."""

    name: str
    used: int
    limit: int | None
    remaining: int | None
    next: str | None


class Quota(ExtensibleSchema):
    """The remaining quota; null means no limit."""

    open: bool
    remaining: int | None
    next: str | None
    """When one more is allowed, where none is now."""
    blocked: list[str]
    """Why nothing may be sent now, in sentences."""
    limits: list[LimitUsage]


class Phenomenon(ExtensibleSchema):
    """One phenomenon: what it is about, and each entry's score in it."""

    benchmark: str
    task: str
    phenomenon: str
    kind: Literal["coarse", "fine"]
    about: str | None
    rows: list[Values]


class HumanStudy(ExtensibleSchema):
    """The result of one study; `agreement` is as `gluebench annotate score --json` gives it."""

    key: str
    url: str
    task: str
    agreement: Values | None


class HumanStudyList(Schema):
    """Studies of human performance."""

    items: list[HumanStudy]


class Rules(ExtensibleSchema):
    """Ranks under every rule, and what holds under all. `status` is current, renewing or none."""

    status: str
    detail: str | None
    """Why there is nothing, in words."""
    rows: list[Values]
    holds: list[Values]
    contested: list[Values]


class PairList(ExtensibleSchema):
    """All pairs of the systems of a board whose files are kept, tested at once."""

    status: str
    detail: str | None
    pairs: list[Values]


class Health(ExtensibleSchema):
    """Head-room on the average (task null) and on each task; `shares` is null where nothing is compared."""

    status: str
    detail: str | None
    headroom: list[Values]
    shares: Values | None


class Efficiency(ExtensibleSchema):
    """Scores with what the systems cost, and who is on the Pareto front."""

    rows: list[Values]


class SystemComparison(Schema):
    """Two systems on the same examples: `a` is the older one, and differences are its minus the other's."""

    status: str
    """done, waiting, failed, or none where they may not be compared."""
    detail: str | None
    computed: AwareDatetime | None
    a: Values
    b: Values
    comparison: Values | None
    """Of the schema gluebench.comparison/1: one pair, named beforehand."""
    board: Values | None
    """The same pair among all of the board, tested at once; null where it is not tested."""

"""The pages that take a file: to submit it, to check it only, and to replace one that is not valid."""

import hashlib
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.datastructures import MultiValueDict

from gluebench.leaderboard.apps.accounts.models import SignedInRequest, team_for
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.pages import account_page
from gluebench.leaderboard.apps.common.problems import ProblemError
from gluebench.leaderboard.apps.limits.models import obstacle_for
from gluebench.leaderboard.apps.phases.models import at_phase, policy_at, tasks_of
from gluebench.leaderboard.apps.phases.moments import slot_of
from gluebench.leaderboard.apps.phases.times import MINUTE
from gluebench.leaderboard.apps.phases.wording import describe_phases, time_left
from gluebench.leaderboard.apps.submissions import feedback
from gluebench.leaderboard.apps.submissions.forms import (
    DetailsForm,
    ReproductionForm,
    SubmissionForm,
    UploadForm,
)
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.process import GraderError
from gluebench.leaderboard.apps.submissions.report import files_to_submit
from gluebench.leaderboard.apps.submissions.views import own_submission
from gluebench.leaderboard.apps.uploads import accept
from gluebench.leaderboard.apps.uploads.accept import PendingUpload


@login_required
def submit(request: SignedInRequest, name: str) -> HttpResponse:
    """The form; sends the submission, or only checks its file."""
    benchmark = get_object_or_404(Benchmark.objects.visible_to(request.user), name=name)
    context = {
        **phases_context(benchmark, request),
        "organized": benchmark.has_organizer(request.user),
        "obstacle": obstacle_for(benchmark, request.user),
    }
    phase = context["slot"].phase
    in_phase = at_phase(benchmark, phase)
    owner = tasks_of(in_phase)
    context |= {"files": files_to_submit(in_phase.record), "owner": owner}
    if in_phase.manifest == owner.manifest:
        context["named"] = owner.command_line_name(request.build_absolute_uri(owner.get_absolute_url()))
    else:  # some shells read the review mark without quotes
        address = request.build_absolute_uri(f"{benchmark.get_absolute_url()}?phase={phase.pk}")
        context["named"] = f"'{address}'"
    page = UploadPage(request, benchmark, "submissions/submit.html", context)
    if page.checks_only:
        blank = Submission(benchmark=benchmark)
        return page.check(SubmissionForm(instance=blank, initial=request.POST.dict()))
    submission = page.new_submission()
    if request.method != "POST":
        team = submission.group
        team_name = "" if team is None else team.name
        return page.show(SubmissionForm(instance=submission, initial={"team": team_name}))
    return page.send(SubmissionForm(request.POST, page.files(), instance=submission), submission)


def phases_context(benchmark: Benchmark, request: SignedInRequest) -> Values:
    """The phase that a submission sent now is for, with its rules and the time that is left."""
    now = timezone.now()
    slot = slot_of(benchmark, request.user, now)
    phase = slot.phase
    phases = describe_phases(benchmark, now)
    policy_sentences = []
    for line in phases:
        if line["phase"] == phase:
            policy_sentences += line["sentences"]
    policy_sentences += feedback.explain_policy(benchmark, phase)
    context = {
        "phases": phases,
        "slot": slot,
        "now": now,
        "takes": benchmark.open and not slot.closed,
        "approval": policy_at(benchmark, phase).approval,
        "policy_sentences": policy_sentences,
    }
    if phase is not None and slot.ends is not None:
        context["ends"] = phase.text_of(slot.ends - MINUTE)
        if not slot.late:
            context["time_left"] = time_left(slot.ends, now)
            context["seconds_left"] = int((slot.ends - now).total_seconds())
    return context


@account_page
def replace(request: SignedInRequest, key: str) -> HttpResponse:
    """The page that replaces a file that is not valid."""
    earlier = own_submission(request.user, key)
    context = {"submission": earlier}
    page = UploadPage(request, earlier.benchmark, "submissions/replace.html", context, earlier)
    if page.checks_only:
        return page.check(UploadForm())
    if request.method == "POST":
        return page.send(UploadForm(request.POST, page.files()), page.new_submission())
    if not earlier.is_replaceable:
        raise Http404("Only a file that is not valid can be replaced.")
    return page.show(UploadForm())


@account_page
def reproduce(request: SignedInRequest, key: str) -> HttpResponse:
    """The form by which a second party sends its own predictions of a public system."""
    row = accept.reproducible(request.user, key)
    context = {"row": row, "obstacle": obstacle_for(row.benchmark, request.user)}
    page = UploadPage(request, row.benchmark, "submissions/reproduce.html", context)
    new = page.new_submission()
    new.name = f"Reproduction of {row.key}"
    new.model = "Reproduction"
    new.reproduces = row
    if page.checks_only:
        return page.check(ReproductionForm(instance=new, initial=request.POST.dict()))
    if request.method != "POST":
        return page.show(ReproductionForm(instance=new))
    return page.send(ReproductionForm(request.POST, page.files(), instance=new), new)


@dataclass
class UploadPage:
    """A page with a form that takes a file: it only checks the file, asks about it, or sends it."""

    request: SignedInRequest
    benchmark: Benchmark
    template: str
    context: Facts
    replaces: Submission | None = None

    @property
    def checks_only(self) -> bool:
        """Whether the file is only to be checked."""
        return self.request.POST.get("action") == "check"

    @property
    def wants_json(self) -> bool:
        """Whether a script of the page sends the form, and shows the answer itself."""
        return self.request.headers.get("Accept") == "application/json"

    def new_submission(self) -> Submission:
        """A new row for the upload."""
        user = self.request.user
        moment = accept.upload_started_at(self.request)
        held = self.pending_upload
        if held is not None:  # it was complete before its sender was asked about it
            moment = min(moment, held.since)
        team = team_for(user.pk, self.benchmark.pk)
        return Submission(owner=user, benchmark=self.benchmark, group_id=team, began=moment)

    @property
    def pending_upload(self) -> PendingUpload | None:
        """The upload that is kept for this page, unless another file was sent."""
        post = self.request.POST
        if self.request.FILES and post.get("use") != "fixed":
            return None
        return PendingUpload.find(self.request.user.pk, post.get("kept", ""))

    def files(self) -> MultiValueDict[str, UploadedFile[Any]] | None:
        """The files that were sent or, for a button or an empty field, those kept for this page."""
        held = self.pending_upload
        if held is None:
            return self.request.FILES or None
        file = held.file("fixed" if self.request.POST.get("use") == "fixed" else "own")
        if file is None:
            return MultiValueDict()
        return MultiValueDict({"upload": [file]})

    def show(
        self, form: UploadForm, *, status: int = 200, held: PendingUpload | None = None, **context: Any
    ) -> HttpResponse:
        """The form's page. A kept file need not be chosen again."""
        form.fields["upload"].required = held is None or held.file("own") is None
        context |= {**self.context, "benchmark": self.benchmark, "form": form, "held": held, "here": "submit"}
        return render(self.request, self.template, context, status=422 if form.errors else status)

    def check(self, form: UploadForm) -> HttpResponse:
        """The form with the validator's check of the uploaded file, of which only a fixed copy is kept."""
        sent = UploadForm(self.request.POST, self.files())
        failure = " ".join(map(str, sent.errors.get("upload", [])))
        context: Values = {"check": None, "failure": failure}
        refusal: Exception | None = None
        if sent.is_valid():
            try:
                upload = sent.cleaned_data["upload"]
                review = accept.check_and_keep(self.benchmark, upload, self.request.user.pk, own=False)
                context |= {"review": review, "check": review.check}
            except (GraderError, ProblemError) as error:
                context["failure"] = str(error)
                refusal = error
        if self.request.POST.get("fragment"):
            context["benchmark"] = self.benchmark
            answer = render(self.request, "submissions/findings.html", context)
        else:
            answer = self.show(form, checked=True, **context)
        if isinstance(refusal, ProblemError):
            return refusal.mark(answer)
        return answer

    def send(self, form: UploadForm, submission: Submission) -> HttpResponse:
        """Accept the upload, or answer with the reason why not."""
        if not form.is_valid():
            return self._show_errors(form)
        upload = form.cleaned_data["upload"]
        _fill_row(form, submission, upload)
        sure = self.request.POST.get("use") == "own"
        try:
            stored = accept.accept_once(submission, upload, replaces=self.replaces, sure=sure)
        except accept.UploadReviewError as interruption:
            return self._show_review(form, interruption.review)
        except ProblemError as refusal:
            form.add_error(None, str(refusal))
            return refusal.mark(self._show_errors(form))
        if self.wants_json:
            return JsonResponse({"url": stored.get_absolute_url()}, status=201)
        return redirect(stored)

    def _show_errors(self, form: UploadForm) -> HttpResponse:
        """The form with its errors; as JSON to the page's script, so that the file stays chosen."""
        if self.wants_json:
            return JsonResponse({"errors": form.errors}, status=422)
        upload = form.cleaned_data.get("upload")
        if upload is None or not accept.path_of(upload).exists():  # the storage has moved it
            return self.show(form)
        held = PendingUpload.new(self.request.user.pk)
        held.store(upload, own=True)
        return self.show(form, held=held)

    def _show_review(self, form: UploadForm, review: accept.UploadReview) -> HttpResponse:
        """Show what the check says, or a duplicate, and what its sender may choose."""
        context = {"review": review, "check": review.check}
        if self.wants_json:
            everything = {**context, "benchmark": self.benchmark}
            html = render_to_string("submissions/findings.html", everything, self.request)
            return JsonResponse({"findings": html}, status=422)
        held = PendingUpload.find(self.request.user.pk, review.kept)
        return self.show(form, status=422, held=held, **context)


def _fill_row(form: UploadForm, submission: Submission, upload: UploadedFile[Any]) -> None:
    """Fill in the row and its retry key, so that a page sends a file to a benchmark only once."""
    if isinstance(form, DetailsForm):
        form.save(commit=False)
    submission.sha256 = accept.digest(upload)
    page = form.cleaned_data["retry_key"]
    if page:
        key = f"{page} {submission.benchmark_id} {submission.sha256}"
        submission.retry_key = hashlib.sha256(key.encode()).hexdigest()

"""The steps from a draft to final results, as the Setup page lists them."""

from typing import NamedTuple

from django.urls import reverse

from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.organizing.dry_runs import NO_LABELS


class ChecklistStep(NamedTuple):
    """One thing that an organizer does."""

    title: str
    about: str
    url: str
    is_done: bool
    is_optional: bool = False


def checklist(benchmark: Benchmark, dry_run: Values | None) -> Values:
    """The steps in order, and the first that is needed and not done yet; `dry_run` as it is shown."""

    def url_of(page: str, part: str = "") -> str:
        return reverse(page, args=[benchmark.name]) + part

    is_final = hasattr(benchmark, "results") and benchmark.results.made is not None
    steps = [
        ChecklistStep(
            "Add labels and data",
            "Tables with labels, or a manifest with files.",
            url_of("organize-replace"),
            benchmark.gold_digest != NO_LABELS,
        )
    ]
    if benchmark.gold:
        is_passed = False
        if dry_run and dry_run["rows"] and not dry_run["outdated"]:
            is_passed = all(row["expected"] for row in dry_run["rows"])
        about = "Three made submissions show that check and grading work."
        steps.append(
            ChecklistStep("Pass a dry run", about, url_of("organize-setup", "#dry-run-section"), is_passed)
        )
    steps += [
        ChecklistStep(
            "Write an overview",
            "What the benchmark measures, for whom, and its rules.",
            url_of("organize-texts"),
            bool(benchmark.texts.get("overview")),
        ),
        ChecklistStep(
            "Set deadlines",
            "Phases say when submissions count and when scores are shown.",
            url_of("phases"),
            benchmark.phases.exists(),
            is_optional=True,
        ),
        ChecklistStep(
            "Set limits and feedback",
            "How often people may submit, and what they see.",
            url_of("limits"),
            bool(benchmark.settings),
            is_optional=True,
        ),
        ChecklistStep(
            "Open it to the public",
            "Everybody sees the board and may submit.",
            url_of("organize-setup", "#opening"),
            not benchmark.draft,
        ),
        ChecklistStep(
            "Announce the final results",
            "When all phases are over: an archive with signed tables.",
            url_of("organize-results"),
            is_final,
        ),
    ]
    missing = (step for step in steps if not step.is_done and not step.is_optional)
    return {"steps": steps, "next_step": next(missing, None)}

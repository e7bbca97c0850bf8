"""Policy of a benchmark: how it accepts and shows submissions. Independent of Django.

A policy is a small TOML file, or the form on the organizer's page; missing settings have the defaults below.
"""

import json
import re
import tomllib
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.leaderboard.apps.common.fields import NONE, fields_beside
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.tables import toml_beside

SETTINGS = fields_beside(__file__, "settings.toml")
"""The settings of a policy by name, in the order of the form."""
DAYS = [name for name, field in SETTINGS.items() if field.kind == "day"]
"""The settings that are days, in UTC."""

PHASES = "phases"
"""The tables of phases in a file."""


class PolicyError(ValueError):
    """A policy that cannot be followed. `problems` lists all that is wrong with it."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits and feedback. None means no limit."""

    per_day: int | None = 2
    """Submissions in a day (two, as the paper's appendix C); invalid and failed ones don't count."""
    per_month: int | None = None
    total: int | None = None
    at_once: int | None = 2
    """Submissions waiting or being graded at the same time."""
    invalid_per_day: int | None = 20
    """Uploads in a day that turn out invalid: they cost no quota and have this separate cap."""
    per: str = "person"
    """Whose submissions are counted together: "person" or "team"."""
    team_size: int | None = None
    """Most people of a team, where submissions are counted for teams."""
    merge_until: date | None = None
    """The last day on which such teams take in people and merge; None for any day."""
    window: str = "sliding"
    """"sliding": the last 24 hours and 30 days. "calendar": the day and the month of UTC."""
    incomplete: str = "unranked"
    """A submission that lacks files: "unranked" takes it, "refused" does not."""
    feedback: str = "full"
    """What a submitter sees: "full", "ladder" (a score that is not clearly better than one's own best shows
    that best again; Blum and Hardt 2015), "on-publish" (nothing until it is published), or "with-board"
    (nothing until the board shows its phase)."""
    approval: bool = False
    """Whether an organizer approves each entry before the board shows it."""
    terms: bool = False
    """Whether people accept the rules before their first submission, and again when the rules change."""
    registration: str = "open"
    """Who may take part: "open" (everybody), "approval" (whom an organizer approves), "invitation" (who has
    one), or "domain" (who has a confirmed address of one of `domains`)."""
    domains: str = ""
    """Mail domains, separated by commas: "example.edu, cs.example.org"."""
    ask_name: bool = False
    ask_affiliation: bool = False
    """Whether people give their name, or affiliation, when they register."""
    consent: str = ""
    """A text that people agree to when they register; empty for none."""
    public_share: float | None = None
    """Share of the test rows that scores are of until `reveal`; the rest after it. None: all rows, always."""
    reveal: date | None = None
    """The day from which scores are of the rows that were held back."""
    anonymous: date | None = None
    """The day until which boards and pages show systems without names."""
    smallest_category: int = 30
    """Diagnostic categories with fewer examples are not shown, unless the labels are public anyway."""

    def as_dict(self) -> Values:
        """The policy for JSON; dates as text."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in DAYS:
            if values[name] is not None:
                values[name] = values[name].isoformat()
        return values

    @property
    def registers(self) -> bool:
        """Whether people register before their first submission."""
        asks = self.ask_name or self.ask_affiliation or bool(self.consent)
        return asks or self.registration != "open"

    @property
    def mail_domains(self) -> set[str]:
        """The domains of `domains`, in lower case."""
        return {domain.strip().lower() for domain in self.domains.split(",")} - {""}


def policy_of(values: Facts) -> Policy:
    """A policy from a mapping, as TOML and JSON give one. Raises PolicyError with all that is wrong."""
    problems = []
    settings = {}
    for name, value in values.items():
        if name not in SETTINGS:
            problems.append(f"{name!r} is not a setting; known are {', '.join(SETTINGS)}.")
            continue
        if name in DAYS and isinstance(value, str):
            with suppress(ValueError):
                value = date.fromisoformat(value)
        field = SETTINGS[name]
        if not field.is_valid(value):
            problems.append(f"{name}: expected {field.valid_values}, found {value!r}")
        elif name == "domains" and not _are_domains(value):
            problems.append(f"{name}: expected {DOMAINS}, found {value!r}")
        settings[name] = value
    if not problems and (settings.get("public_share") is None) != (settings.get("reveal") is None):
        problems.append("public_share and reveal belong together: give both or neither.")
    if not problems and settings.get("registration") == "domain" and not settings.get("domains"):
        problems.append("domains: name at least one mail domain, as example.edu.")
    if problems:
        raise PolicyError(problems)
    return Policy(**settings)


class PolicyFile(NamedTuple):
    """What a policy file says."""

    policy: Policy
    phases: list[Values]
    """The tables `[[phases]]`, unchecked."""


def read_policy(path: Path) -> PolicyFile:
    """Read a policy file, once: it may be a pipe. Raises PolicyError, or OSError."""
    settings = _read(path)
    phases = settings.pop(PHASES, [])
    if not isinstance(phases, list) or not all(isinstance(table, dict) for table in phases):
        raise PolicyError([f"{path}: {PHASES} are tables, each below a line [[{PHASES}]]."])
    for name, value in settings.items():
        if value == NONE:
            settings[name] = None
    return PolicyFile(policy_of(settings), phases)


def toml_line(name: str, value: Any) -> str:
    """A setting as a line of a policy file; one without a value is "none" there."""
    text = json.dumps(NONE if value is None else value, ensure_ascii=False)
    return f"{name} = {text}"


def _read(path: Path) -> Values:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError([f"{path} is not a TOML file: {error}"]) from None


DOMAINS = "mail domains separated by commas, as example.edu, cs.example.org"
_DOMAIN = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]", re.IGNORECASE)


def _are_domains(text: str) -> bool:
    return not text or all(_DOMAIN.fullmatch(domain.strip()) for domain in text.split(","))


SENTENCES = toml_beside(__file__)
"""For each rule, or each choice of one, what submitters read."""
SPANS = {
    "sliding": {"per_day": "within 24 hours", "per_month": "within 30 days", "total": "in all"},
    "calendar": {"per_day": "a day (UTC)", "per_month": "a month (UTC)", "total": "in all"},
}
"""By window, the time in which each limit counts submissions."""


def feedback_sentence(policy: Policy) -> str:
    """What submitters see of their scores, and when."""
    text: str = SENTENCES["feedback"][policy.feedback]
    return text.format(**_facts(policy))


def sentences(policy: Policy, *, revealed: bool = False, categories: bool = True) -> list[str]:
    """Describe a policy to submitters, one sentence for each rule.

    `revealed`: the rows that were held back count already. `categories`: there are diagnostic categories
    whose labels are not public.
    """
    facts = _facts(policy)
    rows = ""
    if policy.public_share is not None and policy.reveal is not None:
        rows = "revealed" if revealed else "public"
    rules: dict[str, bool | str] = {
        "limits": bool(facts["limits"]),
        "at_once": bool(policy.at_once),
        "invalid_per_day": bool(policy.invalid_per_day),
        "team_size": policy.per == "team" and policy.team_size is not None,
        "merge_until": policy.per == "team" and policy.merge_until is not None,
        "incomplete": policy.incomplete,
        "registration": policy.registers and policy.registration,
        "terms": policy.terms,
        "approval": policy.approval,
        "anonymous": policy.anonymous is not None,
        "feedback": policy.feedback,
        "rounded": True,
        "rows": rows,
        "smallest_category": categories and policy.smallest_category > 1,
    }
    texts = []
    for rule, choice in rules.items():
        if choice is True:
            texts.append(SENTENCES[rule])
        elif choice:
            texts.append(SENTENCES[rule][choice])
    return [text.format(**facts) for text in texts]


def _facts(policy: Policy) -> Values:
    """The values that the sentences of a policy name."""
    facts = policy.as_dict()
    for name in DAYS:
        if day := getattr(policy, name):
            facts[name] = f"{day.day} {day:%B %Y}"
    limits = []
    for name, span in SPANS[policy.window].items():
        if facts[name] is not None:
            limits.append(f"{facts[name]} {span}")
    facts["limits"] = ", ".join(limits)
    facts["you"] = "you" if policy.per == "person" else "your team"
    facts["whose"] = facts["you"].capitalize()
    facts["share"] = f"{100 * (policy.public_share or 0):.3g} %"
    return facts

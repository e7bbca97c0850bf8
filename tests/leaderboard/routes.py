"""Every address of the site, and what each role is answered there: the one table that tests go by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

ROLES = ("anonymous", "unverified", "other", "owner", "organizer", "foreign", "admin")
"""`unverified` has not confirmed the address, nor shown again who it is; `owner` sent the submission that
{key} names, which is private; `organizer` organizes this benchmark and `foreign` another."""


class Route(NamedTuple):
    """An address and its answers, by role: one word for all, or one for each role.

    A word is a status, or where something else comes first: "login", "again" (show again who one is) or
    "staff" (the door of the admin pages). `post` is the answer to a form with `data`.
    """

    pattern: str
    path: str
    get: str
    post: str
    data: Mapping[str, str] = {}

    def expected(self, method: str, role: str) -> str:
        """What that role is answered."""
        words = (self.get if method == "GET" else self.post).split()
        return words[0] if len(words) == 1 else words[ROLES.index(role)]

    def roles(self, method: str, *, models: bool) -> tuple[str, ...]:
        """The roles of a short walk: nobody, some account, and whoever is answered otherwise than it.

        Who organizes something else asks wherever an organizer has a right. One asks with a method that
        nobody may use, and two ask for the pages of models, which are alike.
        """
        if models:
            return ("organizer", "admin")
        answers = {role: self.expected(method, role) for role in ROLES}
        if {*answers.values()} == {"405"}:
            return ("other",)
        more = {role for role in ROLES if answers[role] != answers["other"]} | {"anonymous", "other"}
        return tuple(role for role in ROLES if role in more or (role == "foreign" and "organizer" in more))


SIGNED_IN = "login 200 200 200 200 200 200"
POST_ONLY = "login 405 405 405 405 405 405"
LED_ON = "login 302 302 302 302 302 302"
NOTHING_YET = "login 404 404 404 404 404 404"
SHOWN_AGAIN = "login again 200 200 200 200 200"
AGAIN = "login again again again again again again"
NOT_THEIRS = "login again 404 404 404 404 404"
ORGANIZERS = "login 403 403 403 200 403 200"
ORGANIZERS_ACT = "login 403 403 403 302 403 302"
CREATORS = "login 403 403 403 403 403 200"
WHO_SEES = "404 404 404 200 200 404 200"
ITS_OWNER = "login 404 404 200 404 404 404"
ITS_OWNER_ACTS = "login 404 404 302 404 404 404"
OF_PHASE = "404 404 404 404 404 200 200"
API_FORM = "401 422 422 422 422 422 422"
API_BODY = "401 400 400 400 400 400 400"
API_OWNER = "401 404 404 200 404 404 404"
API_CHOICE = "401 404 404 409 404 404 404"  # its phase lets nobody choose
API_SIGNED_IN = "401 200 200 200 200 200 200"
ADMINS = "staff staff staff staff staff staff 200"
REFUSED = "staff staff staff staff staff staff 403"
ADMINS_LED_ON = "staff staff staff staff staff staff 302"
NOT_THERE = "staff staff staff staff staff staff 404"
GET_ONLY = "staff staff staff staff staff staff 405"

ACTS = """replace duplicate dry-run dry-run/delete opening/open opening/restrict opening/draft regrade news
roles/remove-organizer roles/remove-reviewer limits/exceptions
limits/exceptions/<int:pk>/remove phases/<int:pk>/extend
phases/<int:pk>/delete phases/<int:pk>/settle phases/files/<int:pk>/remove news/<int:pk>/take-back
participants/approve
participants/<int:pk>/refuse participants/<int:pk>/block participants/<int:pk>/unblock
participants/invitations/<int:pk>/end results/announce results/take-back copy/delete"""
ACTS_THAT_READ = """participants/mail participants/invite participants/invite-by-mail
participants/<int:pk>/approve
copy texts looks limits phases phases/<int:pk> phases/<int:pk>/files news/<int:pk> roles
submissions/<slug:key>/approve submissions/<slug:key>/decline submissions/<slug:key>/mark
submissions/<slug:key>/regrade"""

ROUTES = (
    # for programs of the operator
    Route("healthz", "/healthz", "200", "405"),
    Route("readyz", "/readyz", "200", "405"),
    Route("metrics", "/metrics", "403", "405"),
    # pages
    Route("", "/", "200", "405"),
    Route("benchmarks/<slug:name>", "/benchmarks/tiny", "200", "405"),
    Route("benchmarks/<slug:name>.json", "/benchmarks/tiny.json", "200", "405"),
    Route("benchmarks/<slug:name>.csv", "/benchmarks/tiny.csv", "200", "405"),
    Route("benchmarks/<slug:name>.tex", "/benchmarks/tiny.tex", "200", "405"),
    Route("benchmarks/<slug:name>.md", "/benchmarks/tiny.md", "200", "405"),
    Route("benchmarks/<slug:name>/badge.svg", "/benchmarks/tiny/badge.svg", "200", "405"),
    Route("benchmarks/<slug:name>/embed", "/benchmarks/tiny/embed", "200", "405"),
    Route("benchmarks/<slug:name>/data", "/benchmarks/tiny/data", "200", "405"),
    Route("benchmarks/<slug:name>/changes", "/benchmarks/tiny/changes", "200", "405"),
    Route("benchmarks/<slug:name>/changes.json", "/benchmarks/tiny/changes.json", "200", "405"),
    Route("benchmarks/<slug:name>/croissant.json", "/benchmarks/tiny/croissant.json", "200", "405"),
    Route("benchmarks/<slug:name>/data.json", "/benchmarks/tiny/data.json", "200", "405"),
    Route("benchmarks/<slug:name>/data.zip", "/benchmarks/tiny/data.zip", "200", "405"),
    *(
        Route("benchmarks/<slug:name>/data/<path:path>", f"/benchmarks/tiny/data/{path}", status, "405")
        for path, status in {
            "manifest.toml": "200",
            "sample-submission.zip": "200",
            "Sim/test.tsv": "200",
            "Sim/dev.tsv": "200",
            "gold/Sim.tsv": "404",
            "../labels/Sim.tsv": "404",
        }.items()
    ),
    Route("benchmarks/<slug:name>/tasks/<str:task>", "/benchmarks/tiny/tasks/Sim", "200", "405"),
    Route("benchmarks/<slug:name>/tasks/<str:task>.json", "/benchmarks/tiny/tasks/Sim.json", "200", "405"),
    Route("benchmarks/<slug:name>/tasks/<str:task>.csv", "/benchmarks/tiny/tasks/Sim.csv", "200", "405"),
    Route("benchmarks/<slug:name>/tasks/<str:task>.tex", "/benchmarks/tiny/tasks/Sim.tex", "200", "405"),
    Route("benchmarks/<slug:name>/tasks/<str:task>.md", "/benchmarks/tiny/tasks/Sim.md", "200", "405"),
    Route("benchmarks/<slug:name>/diagnostics/<str:task>", "/benchmarks/tiny/diagnostics/DX", "200", "405"),
    Route(
        "benchmarks/<slug:name>/diagnostics/<str:task>.json",
        "/benchmarks/tiny/diagnostics/DX.json",
        "200",
        "405",
    ),
    Route("benchmarks/<slug:name>/join", "/benchmarks/tiny/join", "200", "login 200 200 200 200 200 200"),
    Route(
        "benchmarks/<slug:name>/join/<slug:code>",
        "/benchmarks/tiny/join/no-such-code",
        "200",
        "login 200 200 200 200 200 200",
    ),
    Route("benchmarks/<slug:name>/news", "/benchmarks/tiny/news", "200", "405"),
    Route("benchmarks/<slug:name>/news.atom", "/benchmarks/tiny/news.atom", "200", "405"),
    Route("unsubscribe/<str:code>", "/unsubscribe/1:altered", "404", "404"),
    Route("unsubscribe/<str:code>", "{unsubscribe}", "200", "200"),
    Route(
        "benchmarks/<slug:name>/submit", "/benchmarks/tiny/submit", SIGNED_IN, "login 422 422 422 422 422 422"
    ),
    Route("submissions", "/submissions", SIGNED_IN, POST_ONLY),
    Route("submissions/<slug:key>", "/submissions/{key}", WHO_SEES, "405"),
    Route("submissions/<slug:key>", "/submissions/{shown}", "200", "405"),
    Route("submissions/<slug:key>.json", "/submissions/{key}.json", WHO_SEES, "405"),
    Route("submissions/<slug:key>.json", "/submissions/{shown}.json", "200", "405"),
    Route("submissions/<slug:key>/badge.svg", "/submissions/{key}/badge.svg", "404", "405"),
    Route("submissions/<slug:key>/badge.svg", "/submissions/{shown}/badge.svg", "200", "405"),
    Route("submissions/<slug:key>.bib", "/submissions/{key}.bib", WHO_SEES, "405"),
    Route("submissions/<slug:key>.eee.json", "/submissions/{key}.eee.json", WHO_SEES, "405"),
    Route("submissions/<slug:key>.eee.json", "/submissions/{shown}.eee.json", "200", "405"),
    Route("submissions/<slug:key>/detail", "/submissions/{key}/detail", WHO_SEES, "405"),
    Route("submissions/<slug:key>/status.json", "/submissions/{key}/status.json", WHO_SEES, "405"),
    Route("submissions/<slug:key>/receipt", "/submissions/{key}/receipt", ITS_OWNER, POST_ONLY),
    Route("ledger", "/ledger", "200", "405"),
    Route("ledger/checkpoint", "/ledger/checkpoint", "200", "405"),
    Route("ledger/rows.json", "/ledger/rows.json", "200", "405"),
    Route("ledger/tile/<slug:level>/<path:path>", "/ledger/tile/entries/000.p/1", "200", "405"),
    Route("ledger/tile/<slug:level>/<path:path>", "/ledger/tile/0/000.p/1", "200", "405"),
    Route("ledger/tile/<slug:level>/<path:path>", "/ledger/tile/0/001", "404", "405"),
    Route("submissions/<slug:key>/file", "/submissions/{key}/file", ITS_OWNER, POST_ONLY),
    Route(
        "submissions/<slug:key>/edit",
        "/submissions/{key}/edit",
        ITS_OWNER,
        ITS_OWNER_ACTS,
        {"name": "Another name", "model": "CBoW", "regime": "other"},
    ),
    Route(
        "submissions/<slug:key>/publish",
        "/submissions/{key}/publish",
        POST_ONLY,
        ITS_OWNER_ACTS,
        {"public": "1"},
    ),
    Route("submissions/<slug:key>/withdraw", "/submissions/{key}/withdraw", POST_ONLY, ITS_OWNER_ACTS),
    Route("submissions/<slug:key>/choose", "/submissions/{key}/choose", POST_ONLY, ITS_OWNER_ACTS),
    Route(
        "submissions/<slug:key>/reproduce",
        "/submissions/{shown}/reproduce",
        "login 200 403 200 200 200 200",
        "login 422 403 422 422 422 422",
    ),
    Route("submissions/<slug:key>/reproduce", "/submissions/{key}/reproduce", NOTHING_YET, NOTHING_YET),
    Route(
        "submissions/<slug:key>/replace",
        "/submissions/{key}/replace",
        NOTHING_YET,
        "login 404 404 422 404 404 404",
    ),
    Route("terms", "/terms", "200", "405"),
    Route("privacy", "/privacy", "200", "405"),
    # ranks, phenomena, people
    *(
        Route(f"benchmarks/<slug:name>/{word}{ending}", f"/benchmarks/tiny/{word}{ending}", "200", "405")
        for word in ("rules", "pairs", "efficiency", "progress")
        for ending in ("", ".json", ".csv")
    ),
    *(
        Route(f"api/v1/benchmarks/<slug:name>/{word}", f"/api/v1/benchmarks/tiny/{word}", "200", "405")
        for word in ("rules", "pairs", "efficiency", "health", "people")
    ),
    *(
        route
        for end in ("", ".json")
        for route in (
            Route(f"benchmarks/<slug:name>/health{end}", f"/benchmarks/tiny/health{end}", "200", "405"),
            Route(
                f"benchmarks/<slug:name>/organize/health{end}",
                f"/benchmarks/tiny/organize/health{end}",
                ORGANIZERS,
                POST_ONLY,
            ),
        )
    ),
    Route("benchmarks/<slug:name>/ranks/status.json", "/benchmarks/tiny/ranks/status.json", "200", "405"),
    Route("benchmarks/<slug:name>/compare", "/benchmarks/tiny/compare", "200", "405"),
    Route(
        "benchmarks/<slug:name>/compare.json", "/benchmarks/tiny/compare.json?a={key}&b={shown}", "404", "405"
    ),
    Route(
        "benchmarks/<slug:name>/compare.csv", "/benchmarks/tiny/compare.csv?a={key}&b={shown}", "404", "405"
    ),
    Route(
        "api/v1/benchmarks/<slug:name>/compare",
        "/api/v1/benchmarks/tiny/compare?a={key}&b={shown}",
        "404",
        "405",
    ),
    Route(
        "benchmarks/<slug:name>/diagnostics/<str:task>.csv",
        "/benchmarks/tiny/diagnostics/DX.csv",
        "200",
        "405",
    ),
    Route(
        "benchmarks/<slug:name>/diagnostics/<str:task>/<str:slug>",
        "/benchmarks/tiny/diagnostics/DX/negation",
        "200",
        "405",
    ),
    Route(
        "benchmarks/<slug:name>/diagnostics/<str:task>/<str:slug>.json",
        "/benchmarks/tiny/diagnostics/DX/negation.json",
        "200",
        "405",
    ),
    Route(
        "api/v1/benchmarks/<slug:name>/diagnostics/<str:task>/phenomena/<str:phenomenon>",
        "/api/v1/benchmarks/tiny/diagnostics/DX/phenomena/negation",
        "200",
        "405",
    ),
    Route(
        "benchmarks/<slug:name>/organize/people",
        "/benchmarks/tiny/organize/people",
        ORGANIZERS,
        "login 403 403 403 422 403 422",
    ),
    Route(
        "benchmarks/<slug:name>/organize/people/<slug:key>",
        "/benchmarks/tiny/organize/people/{study_key}",
        ORGANIZERS,
        ORGANIZERS_ACT,
        {"act": "close"},
    ),
    Route(
        "benchmarks/<slug:name>/organize/people/<slug:key>/sheets.zip",
        "/benchmarks/tiny/organize/people/{study_key}/sheets.zip",
        ORGANIZERS,
        POST_ONLY,
    ),
    *(
        Route(
            f"benchmarks/<slug:name>/people/<slug:key>{ending}",
            f"/benchmarks/tiny/people/{{study_key}}{ending}",
            "404 404 404 404 200 404 200",
            "405",
        )
        for ending in ("", ".json", ".csv")
    ),
    Route("label/<slug:code>", "/label/{link}", "200", "200"),
    Route("label/<slug:code>/<int:number>", "/label/{link}/1", "200", "302", {"label": "neutral"}),
    Route(
        "label/<slug:code>",
        "/label/{invited}",
        "login 404 404 200 404 404 404",
        "login 404 404 200 404 404 404",
    ),
    # organize
    Route("benchmarks/<slug:name>/organize", "/benchmarks/tiny/organize", ORGANIZERS, POST_ONLY),
    Route(
        "benchmarks/<slug:name>/organize/submissions.csv",
        "/benchmarks/tiny/organize/submissions.csv",
        ORGANIZERS,
        "login 405 405 405 405 405 405",
    ),
    Route(
        "benchmarks/<slug:name>/organize/regrade",
        "/benchmarks/tiny/organize/regrade",
        POST_ONLY,
        ORGANIZERS_ACT,
        {"reason": "New labels"},
    ),
    Route(
        "benchmarks/<slug:name>/organize/participants",
        "/benchmarks/tiny/organize/participants",
        ORGANIZERS,
        ORGANIZERS_ACT,
        {"act": "invite", "uses": "1", "days": "7"},
    ),
    Route(
        "benchmarks/<slug:name>/organize/participants.csv",
        "/benchmarks/tiny/organize/participants.csv",
        ORGANIZERS,
        POST_ONLY,
    ),
    Route(
        "benchmarks/<slug:name>/organize/participants/<int:pk>",
        "/benchmarks/tiny/organize/participants/{user}",
        ORGANIZERS,
        ORGANIZERS_ACT,
        {"act": "block", "reason": "Spam"},
    ),
    Route(
        "benchmarks/<slug:name>/organize/participants/<int:pk>",
        "/benchmarks/another/organize/participants/{user}",
        "login 403 403 403 403 404 404",
        "login 403 403 403 403 404 404",
        {"act": "block", "reason": "Spam"},
    ),
    Route(
        "benchmarks/<slug:name>/organize/participants/invitations/<int:pk>",
        "/benchmarks/tiny/organize/participants/invitations/{invitation}",
        POST_ONLY,
        ORGANIZERS_ACT,
        {"act": "end"},
    ),
    Route(
        "benchmarks/<slug:name>/organize/participants/invitations/<int:pk>",
        "/benchmarks/another/organize/participants/invitations/{invitation}",
        POST_ONLY,
        "login 403 403 403 403 404 404",
        {"act": "end"},
    ),
    Route(
        "benchmarks/<slug:name>/organize/news",
        "/benchmarks/tiny/organize/news",
        ORGANIZERS,
        ORGANIZERS_ACT,
        {"title": "Results", "text": "They are final."},
    ),
    Route(
        "benchmarks/<slug:name>/organize/news/<int:pk>",
        "/benchmarks/tiny/organize/news/{announcement}",
        ORGANIZERS,
        ORGANIZERS_ACT,
        {"act": "take-back"},
    ),
    Route(
        "benchmarks/<slug:name>/organize/news/<int:pk>",
        "/benchmarks/another/organize/news/{announcement}",
        "login 403 403 403 403 404 404",
        "login 403 403 403 403 404 404",
        {"act": "take-back"},
    ),
    Route("benchmarks/<slug:name>/organize/log", "/benchmarks/tiny/organize/log", ORGANIZERS, POST_ONLY),
    Route(
        "benchmarks/<slug:name>/organize/replace",
        "/benchmarks/tiny/organize/replace",
        ORGANIZERS,
        "login 403 403 403 422 403 422",
    ),
    Route(
        "benchmarks/<slug:name>/organize/dry-run",
        "/benchmarks/tiny/organize/dry-run",
        POST_ONLY,
        ORGANIZERS_ACT,
        {"act": "start"},
    ),
    *(
        Route(f"benchmarks/<slug:name>/organize/{tab}", f"/benchmarks/tiny/organize/{tab}", ORGANIZERS, post)
        for tab, post in {
            "texts": "login 403 403 403 422 403 422",
            "looks": ORGANIZERS_ACT,
            "roles": "login 403 403 403 422 403 422",
        }.items()
    ),
    Route(
        "benchmarks/<slug:name>/organize/duplicate",
        "/benchmarks/tiny/organize/duplicate",
        POST_ONLY,
        "login 403 403 403 403 403 302",
        {"name": "copy", "title": "A copy"},
    ),
    Route("benchmarks/<slug:name>/about/<slug:section>", "/benchmarks/tiny/about/overview", "404", "405"),
    Route("benchmarks/<slug:name>/logo", "/benchmarks/tiny/logo", "404", "405"),
    Route("benchmarks/<slug:name>/style.css", "/benchmarks/tiny/style.css", "200", "405"),
    Route("terms/edit", "/terms/edit", CREATORS, "login 403 403 403 403 403 422"),
    Route("privacy/edit", "/privacy/edit", CREATORS, "login 403 403 403 403 403 422"),
    Route("organize", "/organize", SIGNED_IN, POST_ONLY),
    Route("organize/new", "/organize/new", CREATORS, "login 403 403 403 403 403 422"),
    Route("organize/new/<slug:token>", "/organize/new/0123456789abcdef", NOTHING_YET, NOTHING_YET),
    Route("benchmarks/<slug:name>/organize/setup", "/benchmarks/tiny/organize/setup", ORGANIZERS, POST_ONLY),
    Route(
        "benchmarks/<slug:name>/organize/opening",
        "/benchmarks/tiny/organize/opening",
        POST_ONLY,
        ORGANIZERS_ACT,
        {"act": "draft"},
    ),
    Route("benchmarks/<slug:name>/organize/alike", "/benchmarks/tiny/organize/alike", ORGANIZERS, POST_ONLY),
    Route(
        "benchmarks/<slug:name>/organize/alike/compare",
        "/benchmarks/tiny/organize/alike/compare",
        POST_ONLY,
        ORGANIZERS_ACT,
    ),
    Route(
        "benchmarks/<slug:name>/organize/submissions/<slug:key>",
        "/benchmarks/tiny/organize/submissions/{key}",
        ORGANIZERS,
        ORGANIZERS_ACT,
        {"act": "decline", "decline-reason": "Not its own"},
    ),
    Route(
        "benchmarks/<slug:name>/organize/submissions/<slug:key>",
        "/benchmarks/another/organize/submissions/{key}",
        "login 403 403 403 403 404 404",
        "login 403 403 403 403 404 404",
        {"act": "decline", "decline-reason": "Not its own"},
    ),
    Route("benchmarks/<slug:name>/results", "/benchmarks/tiny/results", "404", "405"),
    Route("benchmarks/<slug:name>/results.zip", "/benchmarks/tiny/results.zip", "404", "405"),
    Route(
        "benchmarks/<slug:name>/organize/results",
        "/benchmarks/tiny/organize/results",
        ORGANIZERS,
        "login 403 403 403 422 403 422",
        {"act": "announce"},
    ),
    Route(
        "benchmarks/<slug:name>/organize/results/draft.zip",
        "/benchmarks/tiny/organize/results/draft.zip",
        ORGANIZERS,
        POST_ONLY,
    ),
    Route(
        "benchmarks/<slug:name>/organize/copy",
        "/benchmarks/tiny/organize/copy",
        ORGANIZERS,
        ORGANIZERS_ACT,
        {"act": "make"},
    ),
    Route(
        "benchmarks/<slug:name>/organize/copy.zip",
        "/benchmarks/tiny/organize/copy.zip",
        "login 403 403 403 404 403 404",
        POST_ONLY,
    ),
    Route(
        "benchmarks/<slug:name>/organize/limits",
        "/benchmarks/tiny/organize/limits",
        ORGANIZERS,
        "login 403 403 403 422 403 422",
    ),
    Route(
        "benchmarks/<slug:name>/organize/limits/exceptions",
        "/benchmarks/tiny/organize/limits/exceptions",
        POST_ONLY,
        ORGANIZERS_ACT,
        {"who": "account-{user}", "per_day": "5", "reason": "A workshop"},
    ),
    Route(
        "benchmarks/<slug:name>/organize/limits/exceptions/<int:pk>/remove",
        "/benchmarks/tiny/organize/limits/exceptions/{override}/remove",
        POST_ONLY,
        ORGANIZERS_ACT,
        {"reason": "It is over"},
    ),
    Route(
        "benchmarks/<slug:name>/organize/limits/exceptions/<int:pk>/remove",
        "/benchmarks/another/organize/limits/exceptions/{override}/remove",
        POST_ONLY,
        "login 403 403 403 403 404 404",
        {"reason": "It is over"},
    ),
    Route(
        "benchmarks/<slug:name>/organize/phases",
        "/benchmarks/tiny/organize/phases",
        ORGANIZERS,
        "login 403 403 403 422 403 422",
    ),
    Route(
        "benchmarks/<slug:name>/organize/phases/<int:pk>",
        "/benchmarks/tiny/organize/phases/{phase}",
        "login 403 403 403 404 403 404",
        "login 403 403 403 404 403 404",
    ),
    *(
        Route(
            "benchmarks/<slug:name>/organize/phases/<int:pk>",
            "/benchmarks/another/organize/phases/{phase}",
            "login 403 403 403 403 200 200",
            f"login 403 403 403 403 {status} {status}",
            {"act": act, "reason": "No more"},
        )
        for act, status in (("save", 422), ("extend", 422), ("delete", 302))
    ),
    Route(
        "benchmarks/<slug:name>/organize/phases/<int:pk>/files",
        "/benchmarks/another/organize/phases/{phase}/files",
        "login 403 403 403 403 200 200",
        "login 403 403 403 403 422 422",
    ),
    Route(
        "benchmarks/<slug:name>/organize/phases/files/<int:pk>/remove",
        "/benchmarks/another/organize/phases/files/{file}/remove",
        POST_ONLY,
        "login 403 403 403 403 302 302",
        {"reason": "A wrong file"},
    ),
    Route("benchmarks/<slug:name>/data/<path:path>", "/benchmarks/another/data/later.tsv", OF_PHASE, "405"),
    # account
    Route("account/", "/account/", SIGNED_IN, LED_ON, {"name": "Ada"}),
    Route(
        "account/tokens",
        "/account/tokens",
        SHOWN_AGAIN,
        SHOWN_AGAIN,
        {"name": "A server", "scopes": "read", "days": "9"},
    ),
    Route("account/tokens/<int:pk>/revoke", "/account/tokens/{token}/revoke", POST_ONLY, ITS_OWNER_ACTS),
    Route("account/webhooks", "/account/webhooks", SIGNED_IN, "login 422 422 422 422 422 422"),
    Route("account/webhooks/<int:pk>", "/account/webhooks/1", NOTHING_YET, NOTHING_YET),
    Route("account/mail", "/account/mail", SIGNED_IN, LED_ON, {"pace": "daily", "results": "none"}),
    Route("account/export", "/account/export", SHOWN_AGAIN, SHOWN_AGAIN),
    Route(
        "account/delete",
        "/account/delete",
        SIGNED_IN,
        "login 302 302 302 302 302 422",
        {"password": "a long password", "sure": "on"},
    ),
    Route(
        "account/team", "/account/team", SIGNED_IN, "login 302 302 422 302 302 302", {"name": "A new team"}
    ),
    Route("account/team/join/<slug:code>", "/account/team/join/{code}", SIGNED_IN, LED_ON),
    Route("account/team/merge/<int:pk>", "/account/team/merge/{team}", POST_ONLY, LED_ON),
    Route("account/team/leave", "/account/team/leave", POST_ONLY, LED_ON),
    Route("account/team/renew", "/account/team/renew", POST_ONLY, LED_ON, {"uses": "1", "days": "7"}),
    Route("account/team/member", "/account/team/member", POST_ONLY, LED_ON, {"account": "{user}"}),
    Route("account/sessions/", "/account/sessions/", SIGNED_IN, LED_ON),
    Route(
        "account/login/",
        "/account/login/",
        "200 302 302 302 302 302 302",
        "200 302 302 302 302 302 302",
        {"login": "other@example.org", "password": "not the password"},
    ),
    Route("account/logout/", "/account/logout/", "302 200 200 200 200 200 200", "302"),
    Route("account/inactive/", "/account/inactive/", "200", "405"),
    Route(
        "account/signup/",
        "/account/signup/",
        "200 302 302 302 302 302 302",
        "302",
        {"email": "new@example.org", "password1": "a long password"},
    ),
    Route(
        "account/reauthenticate/",
        "/account/reauthenticate/",
        SIGNED_IN,
        LED_ON,
        {"password": "a long password"},
    ),
    Route(
        "account/email/",
        "/account/email/",
        SIGNED_IN,
        "login again 302 302 302 302 302",
        {"action_add": "", "email": "next@example.org"},
    ),
    Route("account/confirm-email/", "/account/confirm-email/", "200", "405"),
    Route(r"account/^confirm-email/(?P<key>[-:\w]+)/$", "/account/confirm-email/no-such-key/", "200", "404"),
    Route("account/password/change/", "/account/password/change/", SIGNED_IN, SIGNED_IN),
    Route("account/password/set/", "/account/password/set/", LED_ON, LED_ON),
    Route(
        "account/password/reset/", "/account/password/reset/", "200", "302", {"email": "other@example.org"}
    ),
    Route("account/password/reset/done/", "/account/password/reset/done/", "200", "405"),
    Route(
        "account/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        "/account/password/reset/key/1-wrong/",
        "200",
        "200",
    ),
    Route("account/password/reset/key/done/", "/account/password/reset/key/done/", "200", "405"),
    Route("account/login/code/confirm/", "/account/login/code/confirm/", "302", "302"),
    # ways to sign in, on a site without any
    Route("account/providers/", "/account/providers/", SIGNED_IN, SIGNED_IN),
    Route("account/providers/signup/", "/account/providers/signup/", "302", "302"),
    Route("account/providers/login/cancelled/", "/account/providers/login/cancelled/", "200", "405"),
    Route("account/providers/login/error/", "/account/providers/login/error/", "401", "405"),
    *(
        Route(f"account/github/{place}/", f"/account/github/{place}/", "404", "404")
        for place in ("login", "login/callback")
    ),
    *(
        Route(
            f"account/oidc/^(?P<provider_id>[^/]+)/{place}/",
            f"/account/oidc/orcid-org/{place}/",
            "404",
            "404",
        )
        for place in ("login", "login/callback")
    ),
    Route("account/two-factor/", "/account/two-factor/", SIGNED_IN, POST_ONLY),
    Route("account/two-factor/authenticate/", "/account/two-factor/authenticate/", "302", "302"),
    Route("account/two-factor/reauthenticate/", "/account/two-factor/reauthenticate/", AGAIN, AGAIN),
    Route(
        "account/two-factor/totp/activate/", "/account/two-factor/totp/activate/", SHOWN_AGAIN, SHOWN_AGAIN
    ),
    Route(
        "account/two-factor/totp/deactivate/",
        "/account/two-factor/totp/deactivate/",
        NOTHING_YET,
        NOTHING_YET,
    ),
    Route(
        "account/two-factor/recovery-codes/", "/account/two-factor/recovery-codes/", NOTHING_YET, POST_ONLY
    ),
    Route(
        "account/two-factor/recovery-codes/generate/",
        "/account/two-factor/recovery-codes/generate/",
        SHOWN_AGAIN,
        SHOWN_AGAIN,
    ),
    Route(
        "account/two-factor/recovery-codes/download/",
        "/account/two-factor/recovery-codes/download/",
        NOTHING_YET,
        NOTHING_YET,
    ),
    Route("account/two-factor/webauthn/", "/account/two-factor/webauthn/", SIGNED_IN, POST_ONLY),
    Route("account/two-factor/webauthn/add/", "/account/two-factor/webauthn/add/", SHOWN_AGAIN, SHOWN_AGAIN),
    Route(
        "account/two-factor/webauthn/reauthenticate/",
        "/account/two-factor/webauthn/reauthenticate/",
        AGAIN,
        AGAIN,
    ),
    Route(
        "account/two-factor/webauthn/keys/<int:pk>/remove/",
        "/account/two-factor/webauthn/keys/{passkey}/remove/",
        NOT_THEIRS,
        NOT_THEIRS,
    ),
    Route(
        "account/two-factor/webauthn/keys/<int:pk>/edit/",
        "/account/two-factor/webauthn/keys/{passkey}/edit/",
        NOT_THEIRS,
        NOT_THEIRS,
        {"name": "Renamed"},
    ),
    Route("account/two-factor/webauthn/login/", "/account/two-factor/webauthn/login/", "302", "302"),
    # admin
    Route("admin/", "/admin/", ADMINS, ADMINS),
    Route("admin/login/", "/admin/login/", "login 403 403 403 403 403 302", "login 403 403 403 403 403 200"),
    Route("admin/logout/", "/admin/logout/", "302 302 302 302 302 302 405", "302 302 302 302 302 302 200"),
    Route("admin/password_change/", "/admin/password_change/", ADMINS, ADMINS),
    Route("admin/password_change/done/", "/admin/password_change/done/", ADMINS, GET_ONLY),
    Route(
        "admin/autocomplete/",
        "/admin/autocomplete/?app_label=limits&model_name=override&field_name=user&term=o",
        ADMINS,
        GET_ONLY,
    ),
    Route("admin/jsi18n/", "/admin/jsi18n/", ADMINS, GET_ONLY),
    Route(
        "admin/r/<path:content_type_id>/<path:object_id>/",
        "/admin/r/{kind}/{benchmark}/",
        ADMINS_LED_ON,
        ADMINS_LED_ON,
    ),
    Route(
        "admin/^(?P<app_label>django_tasks_database|accounts|account|benchmarks|limits|submissions|mfa|socialaccount|usersessions|people|audit)/$",
        "/admin/limits/",
        ADMINS,
        ADMINS,
    ),
    Route("admin/(?P<url>.*)$", "/admin/nothing", NOT_THERE, NOT_THERE),
    # api
    Route("api/v1/", "/api/v1/", "200", "405"),
    Route("api/v1/openapi.json", "/api/v1/openapi.json", "200", "200"),
    Route("api/v1/docs", "/api/v1/docs", "200", "200"),
    Route("api/v1/account", "/api/v1/account", API_SIGNED_IN, "405"),
    Route("api/v1/benchmarks", "/api/v1/benchmarks", "200", "405"),
    Route("api/v1/benchmarks/<slug:name>", "/api/v1/benchmarks/tiny", "200", "405"),
    Route("api/v1/benchmarks/<slug:name>/board", "/api/v1/benchmarks/tiny/board", "200", "405"),
    Route(
        "api/v1/benchmarks/<slug:name>/entries/<slug:key>",
        "/api/v1/benchmarks/tiny/entries/{shown}",
        "200",
        "405",
    ),
    Route(
        "api/v1/benchmarks/<slug:name>/entries/<slug:key>",
        "/api/v1/benchmarks/tiny/entries/{key}",
        "404",
        "405",
    ),
    Route(
        "api/v1/benchmarks/<slug:name>/diagnostics/<str:task>",
        "/api/v1/benchmarks/tiny/diagnostics/DX",
        "200",
        "405",
    ),
    Route(
        "api/v1/benchmarks/<slug:name>/check",
        "/api/v1/benchmarks/tiny/check",
        "405",
        "401 422 422 422 422 422 422",
    ),
    Route(
        "api/v1/benchmarks/<slug:name>/data/<path:path>",
        "/api/v1/benchmarks/tiny/data/manifest.toml",
        "200",
        "405",
    ),
    Route("api/v1/benchmarks/<slug:name>/phases", "/api/v1/benchmarks/tiny/phases", "200", "405"),
    Route(
        "api/v1/benchmarks/<slug:name>/announcements", "/api/v1/benchmarks/tiny/announcements", "200", "405"
    ),
    Route("api/v1/benchmarks/<slug:name>/quota", "/api/v1/benchmarks/tiny/quota", API_SIGNED_IN, "405"),
    Route(
        "api/v1/benchmarks/<slug:name>/registration",
        "/api/v1/benchmarks/tiny/registration",
        API_SIGNED_IN,
        API_BODY,
    ),
    Route(
        "api/v1/benchmarks/<slug:name>/submissions",
        "/api/v1/benchmarks/tiny/submissions",
        "405",
        "401 422 422 422 422 422 422",
    ),
    Route("api/v1/submissions", "/api/v1/submissions", API_SIGNED_IN, "405"),
    Route("api/v1/submissions/<slug:key>", "/api/v1/submissions/{key}", WHO_SEES, "405"),
    Route("api/v1/submissions/<slug:key>", "/api/v1/submissions/{shown}", "200", "405"),
    Route("api/v1/submissions/<slug:key>/status", "/api/v1/submissions/{key}/status", WHO_SEES, "405"),
    Route("api/v1/submissions/<slug:key>/report", "/api/v1/submissions/{key}/report", WHO_SEES, "405"),
    Route("api/v1/submissions/<slug:key>/history", "/api/v1/submissions/{key}/history", API_OWNER, "405"),
    Route("api/v1/submissions/<slug:key>/receipt", "/api/v1/submissions/{key}/receipt", API_OWNER, "405"),
    Route("api/v1/submissions/<slug:key>/file", "/api/v1/submissions/{key}/file", API_OWNER, "405"),
    Route("api/v1/submissions/<slug:key>/publish", "/api/v1/submissions/{key}/publish", "405", API_OWNER),
    Route("api/v1/submissions/<slug:key>/unpublish", "/api/v1/submissions/{key}/unpublish", "405", API_OWNER),
    Route("api/v1/submissions/<slug:key>/withdraw", "/api/v1/submissions/{key}/withdraw", "405", API_OWNER),
    Route("api/v1/submissions/<slug:key>/restore", "/api/v1/submissions/{key}/restore", "405", API_OWNER),
    Route("api/v1/submissions/<slug:key>/choose", "/api/v1/submissions/{key}/choose", "405", API_CHOICE),
    Route("api/v1/submissions/<slug:key>/unchoose", "/api/v1/submissions/{key}/unchoose", "405", API_CHOICE),
    Route("api/v1/submissions/<slug:key>/replace", "/api/v1/submissions/{key}/replace", "405", API_FORM),
    Route("api/v1/team", "/api/v1/team", API_SIGNED_IN, API_BODY),
    Route("api/v1/team/join", "/api/v1/team/join", "405", API_BODY),
    *(
        Route(f"api/v1/team/{act}", f"/api/v1/team/{act}", "405", API_BODY)
        for act in ("invite", "remove", "leader")
    ),
    Route("api/v1/team/leave", "/api/v1/team/leave", "405", "401 409 409 200 409 409 409"),
    Route("api/v1/work", "/api/v1/work", "405", "401 400 400 400 400 400 400"),
    Route(
        "api/v1/work/<slug:key>/<int:attempt>", "/api/v1/work/{key}/1", "405", "401 400 400 400 400 400 400"
    ),
    # Organizers' acts are for tokens alone: a session does nothing, whoever it is of.
    *(
        Route(
            f"api/v1/benchmarks/<slug:name>/organize/{pattern}",
            f"/api/v1/benchmarks/tiny/organize/{re.sub('<[^>]+>', '1', pattern)}",
            get,
            "401",
        )
        for patterns, get in ((ACTS, "405"), (ACTS_THAT_READ, "401"))
        for pattern in patterns.split()
    ),
    Route(
        "api/v1/benchmarks/<slug:name>/organize/submissions.csv",
        "/api/v1/benchmarks/tiny/organize/submissions.csv",
        "401",
        "405",
    ),
    Route(
        "api/v1/benchmarks/<slug:name>/organize/participants.csv",
        "/api/v1/benchmarks/tiny/organize/participants.csv",
        "401",
        "405",
    ),
    Route(
        "api/v1/benchmarks/<slug:name>/organize/copy.zip",
        "/api/v1/benchmarks/tiny/organize/copy.zip",
        "401",
        "405",
    ),
    Route("api/v1/organize/new", "/api/v1/organize/new", "405", "401"),
    Route("api/v1/organize/new/<slug:token>", "/api/v1/organize/new/0123456789abcdef", "401", "401"),
    Route(
        "api/v1/organize/new/<slug:token>/drop", "/api/v1/organize/new/0123456789abcdef/drop", "405", "401"
    ),
    Route(r"api/v1/^(?P<rest>[\s\S]+)$", "/api/v1/nothing", "404", "404"),
)


class Model(NamedTuple):
    """A model on the admin pages, and what admins are answered: to the form of a new one, to deleting, and to
    an empty form of what may be changed."""

    name: str
    row: str
    add: str = REFUSED
    delete: str = REFUSED
    deleted: str = REFUSED
    changed: str = REFUSED


DELETABLE = {"delete": ADMINS, "deleted": ADMINS_LED_ON}
MODELS = (
    Model("audit/entry", "entry"),
    Model("accounts/user", "user", changed=ADMINS_LED_ON),
    Model("account/emailaddress", "address", changed=ADMINS_LED_ON),
    Model("mfa/authenticator", "passkey", **DELETABLE),
    Model("socialaccount/socialaccount", "connection", **DELETABLE),
    Model("usersessions/usersession", "session"),
    Model("accounts/team", "team", add=ADMINS, changed=ADMINS, **DELETABLE),
    Model("accounts/token", "token", **DELETABLE),
    Model("benchmarks/benchmark", "benchmark", changed=ADMINS_LED_ON),
    Model("submissions/submission", "submission"),
    Model("submissions/result", "result"),
    Model("submissions/revision", "revision"),
    Model("limits/override", "override", add=ADMINS, changed=ADMINS, **DELETABLE),
    Model("people/study", "study"),
    Model("django_tasks_database/dbtaskresult", "task"),
)


def _of_model(model: Model) -> tuple[Route, ...]:
    home, row = f"admin/{model.name}/", f"/admin/{model.name}/{{{model.row}}}/"
    one = f"{home}<path:object_id>/"
    return (
        Route(home, f"/{home}", ADMINS, ADMINS),
        Route(f"{home}add/", f"/{home}add/", model.add, model.add),
        Route(f"{one}history/", f"{row}history/", ADMINS, ADMINS),
        Route(f"{one}delete/", f"{row}delete/", model.delete, model.deleted, {"post": "yes"}),
        Route(f"{one}change/", f"{row}change/", ADMINS, model.changed),
        Route(one, row, ADMINS_LED_ON, ADMINS_LED_ON),
    )


MODEL_PAGES = tuple(route for model in MODELS for route in _of_model(model))
"""For the admin pages of each model, of which all are made alike."""

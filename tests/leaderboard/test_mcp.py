"""The MCP server, by the SDK's own client over standard input and output."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from leaderboard.material import CANARIES, MANIFEST, PREDICTIONS, zip_bytes
from leaderboard.served import Served

pytest.importorskip("mcp", reason="the extra [mcp] is not installed")

from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult

TINY = {"benchmark": "tiny"}
MODES = ["legacy", "auto"]
TOKEN = """
import sys; from datetime import timedelta; from gluebench.leaderboard import commands
commands.open_site(sys.argv[1])
from gluebench.leaderboard.apps.accounts.models import User, issue
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
Benchmark.objects.update(settings={"per_day": 3, "at_once": None})
user = User.objects.create_user(sys.argv[2])
print(issue(user, "a test", ["read", "submit"], timedelta(days=1))[1])
"""


class Assistant:
    """What an assistant's program does with the server: it lists tools and calls them."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.seen = ""

    async def tools(self) -> dict[str, Any]:
        return {tool.name: tool for tool in (await self._client.list_tools()).tools}

    async def call(self, tool: str, **values: Any) -> Any:
        """The answer of a tool, or the text of its refusal."""
        result = await self._client.call_tool(tool, values)
        text = "".join(getattr(part, "text", "") for part in result.content)
        self.seen += text
        return text if result.is_error else json.loads(text)


def play(
    folder: Path, *options: str, by: Callable[[Assistant], Awaitable[None]], token: str = "", **settings: Any
) -> None:
    """Start the server on a folder, and let an assistant use it."""
    command = ["-m", "gluebench", "mcp", "--folder", str(folder), "--benchmark", str(MANIFEST), *options]
    environment = {**os.environ, "GLUEBENCH_TOKEN": token, "PYTHONPATH": os.pathsep.join(sys.path)}
    server = StdioServerParameters(command=sys.executable, args=command, env=environment)

    async def run() -> None:
        with anyio.fail_after(60):
            async with Client(server, **settings) as client:
                await by(Assistant(client))

    anyio.run(run)


@pytest.fixture
def token(served: Served, request: pytest.FixtureRequest) -> str:
    """Of a new account, which may send three submissions a day."""
    name = re.sub(r"\W", "-", request.node.name)
    return served.python(TOKEN, str(served.folder), f"{name}@example.org").strip()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "good.zip").write_bytes(zip_bytes(PREDICTIONS))
    (runs / "worse.zip").write_bytes(zip_bytes({**PREDICTIONS, "Para": "010011"}))
    (runs / "broken.zip").write_bytes(zip_bytes({**PREDICTIONS, "Para": "10"}))
    return runs


def test_local_tools_score_and_show_no_label(folder: Path, gold_folder: Path) -> None:
    outside = folder.parent / "outside.zip"
    outside.write_bytes(zip_bytes(PREDICTIONS))
    (folder / "link.zip").symlink_to(outside)
    (folder / "labels").symlink_to(gold_folder)
    (folder / "loop").symlink_to(folder / "pool")
    (folder / "pool").symlink_to(folder / "loop")

    async def use(assistant: Assistant) -> None:
        call = assistant.call
        tools = await assistant.tools()
        assert {*tools} == {"benchmarks", "benchmark", "check", "grade", "compare", "rank"}
        assert all(tool.annotations.read_only_hint for tool in tools.values())
        listed = await call("benchmarks")
        assert listed["tiny"]["labels"] is True
        assert listed["glue"]["labels"] is False
        assert (await call("benchmark", name="tiny"))["files"]["Para.tsv"] == {"task": "Para", "rows": 6}
        assert (await call("benchmark", name="glue", task="cola"))["task"]["name"] == "CoLA"
        assert (await call("check", path="good.zip", **TINY))["verdict"] == "valid"
        assert (await call("check", path="broken.zip", **TINY))["verdict"] == "invalid"
        report = await call("grade", path=str(folder / "good.zip"), **TINY)
        assert report["tasks"]["Para"]["score"]["value"] == pytest.approx(5 / 6, abs=0.2)
        assert "cannot be graded" in await call("grade", path="broken.zip", **TINY)
        compared = await call("compare", path="good.zip", other="worse.zip", **TINY)
        assert compared["tasks"]["Para"]
        ranked = await call("rank", paths=["good.zip", "worse.zip"], **TINY)
        assert "good.zip" in json.dumps(ranked)
        assert "The labels of glue are not here" in await call("grade", path="good.zip", benchmark="glue")
        for values, problem in (
            ({"path": "good.zip"}, "benchmark: Field required"),
            ({"paths": "good.zip", **TINY}, "path: Field required"),
            ({"path": 3, **TINY}, "path: Input should be a valid string"),
        ):
            refusal = await call("grade", **values)
            assert refusal == f"The arguments of grade do not fit. {problem}."
        for path in (
            *(
                "../outside.zip",
                str(outside),
                "link.zip",
                "loop",
                "labels",
                "labels/Sim.tsv",
                ".",
                "/etc/passwd",
            ),
            *("a\0b", str(gold_folder), str(gold_folder / "Sim.tsv"), "x" * 5000),
        ):
            for tool in ("check", "grade"):
                assert "is out of reach" in await call(tool, path=path, **TINY), path
        assert "does not exist" in await call("check", path="none.zip", **TINY)
        assert not any(canary in assistant.seen for canary in CANARIES)

    play(folder, "--gold", f"tiny={gold_folder}", by=use)


def test_a_broken_label_is_not_quoted(folder: Path, gold_folder: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold"
    gold.mkdir()
    for file in gold_folder.glob("*.tsv"):
        (gold / file.name).write_text(file.read_text().replace("1.48151623", "1.48151623!"))

    async def use(assistant: Assistant) -> None:
        refusal = await assistant.call("grade", path="good.zip", **TINY)
        assert "The labels of tiny cannot be read" in refusal
        assert "48151623" not in assistant.seen

    play(folder, "--gold", f"tiny={gold}", by=use)


@pytest.mark.parametrize("mode", MODES)
def test_a_person_is_asked_before_anything_is_sent(
    folder: Path, served: Served, token: str, mode: str
) -> None:
    asked: list[str] = []
    says = iter(["decline", "accept", "accept", "accept"])

    async def person(context: Any, question: Any) -> ElicitResult:
        asked.append(question.message)
        action = next(says)
        return ElicitResult(action=action, content={"send": len(asked) > 2} if action == "accept" else None)

    async def use(assistant: Assistant) -> None:
        call = assistant.call
        values = {"path": "good.zip", **TINY, "name": f"By an assistant, {mode}", "model": "CBoW"}
        for _ in range(2):  # no, and a form that is sent without the tick
            assert (await call("submit", **values))["sent"] is False
        assert (await call("limits", **TINY))["budget"] == 1
        sent = await call("submit", **values, details={"team": "Us"})
        assert sent["sent"] is True
        assert (await call("status", key=sent["key"]))["team"] == "Us"
        assert (await call("limits", **TINY))["budget"] == 0
        assert "may send no more" in await call("submit", **{**values, "name": "Another"})
        assert len(asked) == 3
        assert "SHA-256" in asked[0]
        assert '"public": false' in asked[0]
        assert (await call("board", **TINY))["benchmark"] == "tiny"

    play(folder, "--to", served.url, by=use, token=token, mode=mode, elicitation_callback=person)


@pytest.mark.parametrize("mode", MODES)
def test_without_questions_a_confirmation_names_file_and_cost(
    folder: Path, served: Served, token: str, mode: str
) -> None:
    async def use(assistant: Assistant) -> None:
        call = assistant.call
        values = {"path": "worse.zip", **TINY, "name": f"In two steps, {mode}", "model": "CBoW"}
        assert "is not a valid zip" in await call("submit", **{**values, "path": "broken.zip"})
        assert "is out of reach" in await call("submit", **{**values, "path": "../worse.zip"})
        first = await call("submit", **values)
        assert first["sent"] is False
        confirmation = first["confirmation"]
        assert first["question"].split("SHA-256 ")[1][:16] == confirmation[:16]
        assert "-there-one-of-2-here-" in confirmation
        for other in ({"path": "good.zip"}, {"name": "Other"}, {"public": True}, {"confirmation": "yes"}):
            again = await call("submit", **{**values, "confirmation": confirmation, **other})
            assert again["sent"] is False, other
        assert (await call("submit", **values, confirmation=confirmation))["sent"] is True
        used = await call("submit", **{**values, "confirmation": confirmation})
        assert used["sent"] is False, "the numbers that it names have changed"

    play(folder, "--to", served.url, "--budget", "2", by=use, token=token, mode=mode)


REGISTERS = """
import sys; from gluebench.leaderboard import commands
commands.open_site(sys.argv[1])
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
settings, texts = {"per_day": 3, "at_once": None}, {}
if sys.argv[2] == "on":
    settings |= {"terms": True, "registration": "approval", "ask_affiliation": True}
    settings |= {"consent": "To be named."}
    texts = {"rules": "Be fair."}
Benchmark.objects.update(settings=settings, texts=texts)
"""


FORGOTTEN = """
import sys; from gluebench.leaderboard import commands
commands.open_site(sys.argv[1])
from gluebench.leaderboard.apps.limits.models import Acceptance, Registration
Acceptance.objects.all().delete()
Registration.objects.all().delete()
"""


@pytest.mark.parametrize("mode", MODES)
def test_a_person_agrees_to_the_rules_before_the_assistant_registers(
    folder: Path, served: Served, token: str, mode: str
) -> None:
    shown: list[str] = []

    async def person(context: Any, question: Any) -> ElicitResult:
        shown.append(question.message)
        return ElicitResult(action="accept", content={"send": len(shown) > 1})

    async def use(assistant: Assistant) -> None:
        call = assistant.call
        facts = await call("registration", **TINY)
        assert (facts["standing"], facts["asks"]["consent"]) == (None, "To be named.")
        assert "asks for affiliation, consent" in await call("register", **TINY)
        assert not shown
        values = {**TINY, "affiliation": "Example University", "consent": True}
        assert (await call("register", **values))["sent"] is False
        assert (await call("registration", **TINY))["standing"] is None
        done = await call("register", **values)
        assert (done["sent"], done["standing"]) == (True, "waiting")
        assert all(part in shown[0] for part in ("Be fair.", "Example University", "You agree: To be named."))

    async def use_in_two_steps(assistant: Assistant) -> None:
        call = assistant.call
        values = {**TINY, "affiliation": "Example University", "consent": True}
        first = await call("register", **values)
        assert (first["sent"], "Be fair." in first["question"]) == (False, True)
        for other in ({"affiliation": "Another"}, {"confirmation": "yes"}):
            again = await call("register", **{**values, "confirmation": first["confirmation"], **other})
            assert again["sent"] is False
        assert (await call("register", **values, confirmation=first["confirmation"]))["sent"] is True

    served.python(REGISTERS, str(served.folder), "on")
    try:
        play(folder, "--to", served.url, by=use, token=token, mode=mode, elicitation_callback=person)
        served.python(FORGOTTEN, str(served.folder))
        play(folder, "--to", served.url, by=use_in_two_steps, token=token, mode=mode)
    finally:
        served.python(FORGOTTEN, str(served.folder))
        served.python(REGISTERS, str(served.folder), "off")


def test_the_policy_of_the_site_is_respected(folder: Path, served: Served, token: str) -> None:
    async def use(assistant: Assistant) -> None:
        call = assistant.call
        for number in range(5):
            values = {"path": "good.zip", **TINY, "name": f"Number {number}", "model": "CBoW"}
            plan = await call("submit", **values)
            if isinstance(plan, str):
                break
            await call("submit", **values, confirmation=plan["confirmation"])
        left = await call("limits", **TINY)
        assert " ".join(left["blocked"]) in plan
        assert (number, left["budget"]) == (3, 96)

    play(folder, "--to", served.url, "--budget", "99", by=use, token=token)


def test_without_the_package_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from gluebench.cli import main

    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.delitem(sys.modules, "gluebench.cli.mcp.server", raising=False)
    done = CliRunner().invoke(main, ["mcp", "--folder", str(folder)])
    assert (done.exit_code, "pip install 'gluebench[mcp]'" in done.output) == (1, True)

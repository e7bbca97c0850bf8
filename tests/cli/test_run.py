"""`gluebench run` as a user meets it: models to valid submissions, kills, refusals, messages."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from outside import environment
from systems.adapters import tiny
from systems.adapters.chat_server import chat, chatting

import gluebench as package
from gluebench.benchmark import Benchmark
from gluebench.cli import main
from gluebench.submission import check

HF = "transformers is not installed (gluebench[hf])"
MODULE = '''
"""Systems of a user's own."""
import time


class Majority:
    def fit(self, task, train, dev):
        labels = [each.label for each in train]
        self.answer = max(sorted(set(labels)), key=labels.count)

    def predict(self, task, examples):
        return [self.answer] * len(examples)


class Slow(Majority):
    """Waits on QQP until it is killed, unless a file says it need not."""

    def fit(self, task, train, dev):
        import pathlib
        pathlib.Path("fitted").open("a").write(task.name + "\\n")
        while task.name == "QQP" and not pathlib.Path("go").exists():
            time.sleep(0.05)
        super().fit(task, train, dev)


def first(task, examples):
    return [task.words[0] if task.words else 2.5] * len(examples)


def make():
    return Majority()


def needs(size):
    return Majority()


majority = Majority()
number = 7


def vectors(sentences):
    return [[len(each), each.count("e"), each.count(" "), 1.0] for each in sentences]
'''
Run = Callable[..., Result]


@pytest.fixture
def gluebench(tmp_path: Path, sample_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command on the sample, run in a folder of its own that holds mine.py."""
    (tmp_path / "mine.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)

    def call(*words: object) -> Result:
        given = ["run", *map(str, words), "--benchmark", "sample", "--data", str(sample_folder)]
        return CliRunner().invoke(main, given, prog_name="gluebench")

    return call


def valid(path: Path, sample: Benchmark, files: set[str] | None = None) -> None:
    """The submission is valid, and has these files alone where they are named."""
    found = check(path, sample)
    assert not found.errors
    assert set(found.predictions) == files if files else found.verdict == "valid"


def test_a_simple_system_gives_a_whole_submission_and_dev_scores(
    gluebench: Run, tmp_path: Path, sample: Benchmark
):
    result = gluebench("system:overlap", "--out", "o.zip", "--json")
    assert result.exit_code == 0, result.output
    valid(tmp_path / "o.zip", sample)
    report = json.loads(result.stdout)
    assert report["split"] == "dev"
    assert report["complete"]
    assert report["tasks"]["STS-B"]["score"]["low"] < report["tasks"]["STS-B"]["score"]["value"]
    assert "[1/9] CoLA\n" in result.stderr
    assert "left" in result.stderr
    assert result.stderr.endswith("o.zip: 11 files, test split.\n")
    again = gluebench("system:overlap", "--out", "o.zip", "--json")
    assert again.stdout == result.stdout
    assert "nothing is left to do" in again.stderr


@pytest.mark.parametrize("name", ["Majority", "majority", "make", "first"])
def test_a_class_an_object_and_functions_of_ones_own(
    gluebench: Run, tmp_path: Path, sample: Benchmark, name: str
):
    result = gluebench(f"py:mine:{name}", "--out", "o.zip", "--tasks", "RTE,STS-B", "--tasks", "cola")
    assert result.exit_code == 0, result.output
    valid(tmp_path / "o.zip", sample, {"RTE", "STS-B", "CoLA"})
    assert "INCOMPLETE: 3 of 11 files; the other tasks were not run." in result.stderr
    assert "Sample, dev split: py:mine:" in result.stdout


def test_the_dev_split_can_be_what_is_submitted(gluebench: Run, tmp_path: Path, sample: Benchmark):
    result = gluebench("py:mine:first", "--out", "o.zip", "--split", "dev", "--tasks", "RTE")
    assert result.exit_code == 0, result.output
    assert len(check(tmp_path / "o.zip", sample, role="dev").predictions["RTE"]) == 100
    result = gluebench("py:mine:first", "--out", "p.zip", "--no-dev", "--tasks", "RTE")
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["overlap"], "Did you mean system:overlap?"),
        (["nothing:x"], "api:MODEL@http://localhost:8000/v1"),
        (["system:overlop"], "Did you mean overlap?"),
        (["py:mine"], "expected py:module:function"),
        (["py:absent:Model"], "no module is called 'absent'; it has to be installed, stand in this folder"),
        (["py:mine:Majorty"], "did you mean majority?"),
        (["py:mine:number"], "which has no predict"),
        (["py:mine:needs"], "takes 1 arguments"),
        (["api:llama"], "expected api:MODEL@URL"),
        (["system:overlap", "--shots", "2"], "--shots goes with api: or causal:"),
        (["hf:x", "--epochs", "2"], "--epochs goes with --fine-tune"),
        (["system:overlap", "--tasks", "RTF"], "Did you mean RTE"),
        (["."], "not one that gluebench train left"),
    ],
)
def test_what_cannot_be_run_is_told_and_leaves_nothing(
    gluebench: Run, tmp_path: Path, words: list[str], says: str
):
    result = gluebench(*words, "--out", "o.zip")
    assert result.exit_code in (1, 2)
    assert says in result.stderr
    assert isinstance(result.exception, SystemExit)
    assert not (tmp_path / "o.zip").exists()
    assert not (tmp_path / "o.run").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import nowhere_at_all\n", r"cannot be imported: No module named 'nowhere_at_all'"),
        ("x = 1\ny = x / 0\n", "ZeroDivisionError: division by zero"),
        ("def broken(:\n", "SyntaxError"),
    ],
)
def test_why_a_module_cannot_be_imported_is_told(gluebench: Run, tmp_path: Path, text: str, says: str):
    (tmp_path / "broken.py").write_text(text)
    result = gluebench("py:broken:x", "--out", "o.zip")
    assert result.exit_code == 1
    assert says in result.stderr
    assert "broken.py" in result.stderr


def test_another_model_in_the_same_folder_is_refused_until_again(gluebench: Run, tmp_path: Path):
    assert gluebench("py:mine:first", "--out", "o.zip", "--tasks", "RTE").exit_code == 0
    result = gluebench("py:mine:Majority", "--out", "o.zip", "--tasks", "RTE")
    assert result.exit_code == 1
    assert 'model was "py:mine:first", and is "py:mine:Majority" now' in result.stderr
    assert gluebench("py:mine:Majority", "--out", "o.zip", "--tasks", "RTE", "--again").exit_code == 0


def test_a_module_that_has_changed_since_is_told(gluebench: Run, tmp_path: Path):
    assert gluebench("py:mine:first", "--out", "o.zip", "--tasks", "RTE").exit_code == 0
    (tmp_path / "mine.py").write_text(MODULE + "\n# another line\n")
    del sys.modules["mine"]
    result = gluebench("py:mine:first", "--out", "o.zip", "--tasks", "RTE,WNLI")
    assert result.exit_code == 0
    assert "Python file has changed since RTE was done; --again" in result.stderr


def test_a_run_that_is_killed_goes_on_where_it_was(
    gluebench: Run, tmp_path: Path, sample: Benchmark, sample_folder: Path
):
    words = ["run", "py:mine:Slow", "--benchmark", "sample", "--data", str(sample_folder), "--out", "o.zip"]
    command = [sys.executable, "-m", "gluebench", *words]
    own = environment(PYTHONPATH=str(Path(package.__file__).parents[1]))
    running = subprocess.Popen(command, env=own, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    fitted = tmp_path / "fitted"
    limit = time.monotonic() + 60
    while "QQP" not in (fitted.read_text() if fitted.exists() else "") and time.monotonic() < limit:
        time.sleep(0.05)
    assert "QQP" in fitted.read_text()
    blocked = gluebench("py:mine:Slow", "--out", "o.zip")
    assert "another process is at this run" in blocked.stderr
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()
    assert running.returncode == -signal.SIGKILL
    assert not (tmp_path / "o.zip").exists()
    (tmp_path / "go").touch()
    done = subprocess.run(command, env=own, timeout=60, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "CoLA, SST-2, MRPC, STS-B: already done, in o.run; going on with the rest." in done.stderr
    names = [task.name for task in sample.scored]
    assert fitted.read_text().split() == [*names[:5], *names[4:]]
    valid(tmp_path / "o.zip", sample)
    assert gluebench("py:mine:Majority", "--out", "p.zip").exit_code == 0
    assert (tmp_path / "o.zip").read_bytes() == (tmp_path / "p.zip").read_bytes()


def test_an_error_of_the_model_leaves_what_is_done(gluebench: Run, tmp_path: Path):
    (tmp_path / "late.py").write_text(
        "def answer(task, examples):\n"
        "    return ['perhaps' if task.name == 'SST-2' else task.words[0]] * len(examples)\n"
    )
    result = gluebench("py:late:answer", "--out", "o.zip")
    assert result.exit_code == 1
    assert "Stopped at SST-2. 1 task done, kept in o.run" in result.stderr
    assert "SST-2: 'perhaps' is not a label; expected one of 0, 1" in result.stderr


@pytest.mark.parametrize(
    ("answer", "task", "said"),
    [
        ("None", "RTE", "RTE: predict gives NoneType; expected a list with an answer for each example"),
        ("(word for word in task.words)", "RTE", "RTE: predict gives generator; expected a list"),
        ("[None] * len(examples)", "RTE", "RTE: None is not a label; expected one of entailment"),
        ("[['entailment']] * len(examples)", "RTE", "RTE: ['entailment'] is not a label"),
        ("[None] * len(examples)", "STS-B", "STS-B: None is not a number; expected a score"),
    ],
)
def test_answers_that_are_none_are_one_sentence(
    gluebench: Run, tmp_path: Path, answer: str, task: str, said: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delitem(sys.modules, "absent", raising=False)
    (tmp_path / "absent.py").write_text(f"def answer(task, examples):\n    return {answer}\n")
    result = gluebench("py:absent:answer", "--out", "o.zip", "--tasks", task)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert said in " ".join(result.stderr.split())


def test_a_terminated_run_says_what_is_kept(gluebench: Run, tmp_path: Path):
    (tmp_path / "stopped.py").write_text(
        "import signal\n\ndef answer(task, examples):\n"
        "    if task.name == 'SST-2':\n        signal.raise_signal(signal.SIGTERM)\n"
        "    return [task.words[0]] * len(examples)\n"
    )
    result = gluebench("py:stopped:answer", "--out", "o.zip")
    assert result.exit_code == 143
    assert "Stopped at SST-2. 1 task done, kept in o.run: the same command goes on" in result.stderr


def test_ctrl_c_leaves_a_busy_server_alone_and_names_the_answers_that_are_kept(
    gluebench: Run, tmp_path: Path, request: pytest.FixtureRequest
):
    # As a terminal starts it: what a shell runs in the background is deaf to the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    asked: list[dict] = []

    def busy(request: dict):
        asked.append(request)
        if len(asked) == 6:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return "yes" if len(asked) < 5 else (429, "", {"Retry-After": "60"})

    began = time.monotonic()
    with chatting(busy) as server:
        words = (f"api:m@{server.address}", "--out", "o.zip", "--cache", "kept", "--tasks", "RTE")
        result = gluebench(*words, "--concurrency", "2")
    assert time.monotonic() - began < 30  # not the 60 s that a retry waits
    assert result.exit_code == 1
    (answers,) = (tmp_path / "kept").iterdir()
    assert f"Answers so far are in kept/{answers.name}" in " ".join(result.stderr.split())
    assert len(answers.read_text().splitlines()) == 5  # a trial, what it showed, and three answers


def test_a_chat_model_is_evaluated(gluebench: Run, tmp_path: Path, sample: Benchmark):
    def script(request):
        text = request["messages"][-1]["content"]
        if len(text) % 10 == 0:
            return "Hard to say."
        return "3.0" if "one number" in text else "entailment"

    with chatting(script) as server:
        server.faults = [(429, "", {"Retry-After": "0"})]
        words = (f"api:m@{server.address}", "--out", "o.zip", "--tasks", "RTE,STS-B", "--cache", "kept")
        words = (*words, "--split", "dev")
        prices = ("--price-in", "1", "--price-out", "2", "--shots", "2", "--concurrency", "4")
        result = gluebench(*words, *prices)
        asked = len(server.requests)
        assert result.exit_code == 0, result.output
        assert set(check(tmp_path / "o.zip", sample, role="dev").predictions) == {"RTE", "STS-B"}
        again = gluebench(*words, *prices, "--again")
        assert len(server.requests) == asked == 1 + 1 + 100 + 200
    assert again.stdout == result.stdout
    assert "100 from the cache" in again.stderr
    assert "100 asked, 5,000 + 200 tokens, cost 0.0054" in result.stderr
    assert "No answer in the submission: STS-B " in result.stderr
    assert "in the dev scores such a label counts as wrong" in " ".join(result.stderr.split())


def test_fields_of_ones_own_join_each_request_and_make_another_run(gluebench: Run, tmp_path: Path):
    with chatting(lambda request: "yes") as server:
        words = (
            f"api:m@{server.address}",
            "--out",
            "o.zip",
            "--tasks",
            "RTE",
            "--limit",
            "5",
            "--cache",
            "c",
        )
        own = '{"chat_template_kwargs": {"enable_thinking": false}, "max_tokens": null}'
        result = gluebench(*words, "--extra-body", own)
        assert result.exit_code == 0, result.output
        for request in server.requests:
            assert request["chat_template_kwargs"] == {"enable_thinking": False}
            assert "max_tokens" not in request
        other = gluebench(*words)
        assert other.exit_code == 1
        assert "extra_body" in other.stderr
        for wrong, message in (
            ("{", "no JSON object"),
            ("[1]", "no JSON object"),
            ('{"model": "x"}', "model is set"),
        ):
            result = gluebench(*words, "--extra-body", wrong)
            assert result.exit_code == 2
            assert message in result.stderr


def asked_row(request: dict) -> str:
    return request["messages"][-1]["content"]


def test_a_limit_answers_the_same_dev_examples_of_every_model_and_gives_no_submission(
    gluebench: Run, tmp_path: Path
):
    words = ("--tasks", "RTE,STS-B", "--limit", "20", "--json")
    with chatting(lambda request: "no" if "3" in asked_row(request) else "Hm") as server:
        result = gluebench(f"api:m@{server.address}", "--out", "o.zip", "--cache", "kept", *words)
        assert result.exit_code == 0, result.output
        assert len(server.requests) == 1 + 2 * 20
    report = json.loads(result.stdout)
    assert report["tasks"]["RTE"]["score"]["value"] is not None
    (rte,) = [line for line in report["warnings"] if line.startswith("RTE:")]
    assert "20 of 100 examples" in rte
    (wrong,) = [line for line in report["warnings"] if line.startswith("counted as the mean: STS-B")]
    assert "20 of 20 answers (100.0 %): 20 not understood" in wrong
    assert report["tasks"]["STS-B"]["score"]["value"] == 0  # a constant column has no correlation
    notes = report["provenance"]["notes"]
    assert notes["RTE"]["tokens_in"] == 20 * 50
    assert notes["STS-B"] | {"asked": 21, "not_understood": 20} == notes["STS-B"]
    assert not (tmp_path / "o.zip").exists()
    assert "no submission: --limit 20" in result.stderr
    result = gluebench("py:mine:first", "--out", "p.zip", *words)
    share = json.loads(result.stdout)["tasks"]["RTE"]["score"]["value"] * 20
    assert share == pytest.approx(round(share))
    assert "limit was 20" in gluebench("py:mine:first", "--out", "p.zip", "--tasks", "RTE").stderr
    assert "leave out --no-dev" in gluebench("py:mine:first", "--out", "p.zip", *words, "--no-dev").stderr


def test_all_templates_give_their_spread_and_the_first_the_submission(gluebench: Run, tmp_path: Path):
    def script(request: dict) -> str:
        text = asked_row(request)
        return "yes" if "Answer yes or no" in text else "false" if "Answer true" in text else "unsure"

    with chatting(script) as server:
        words = (f"api:m@{server.address}", "--out", "o.zip", "--tasks", "RTE", "--split", "dev", "--json")
        words = (*words, "--template", "all", "--cache", "kept")
        result = gluebench(*words)
        assert result.exit_code == 0, result.output
        asked = len(server.requests)
        assert asked == 1 + 3 * 100
        assert gluebench(*words).stdout == result.stdout
        assert len(server.requests) == asked
    report = json.loads(result.stdout)
    (line,) = [line for line in report["warnings"] if "by template" in line]
    first = report["tasks"]["RTE"]["score"]["value"]
    other = 1 - first
    assert line == (
        f"RTE by template: question {100 * first:.1f}, instruction {100 * other:.1f}, guidelines 0.0; "
        f"0.0 to {100 * max(first, other):.1f}, mean 33.3"
    )
    assert set(check(tmp_path / "o.zip", "sample", role="dev").predictions["RTE"].words()) == {"entailment"}


def test_requests_go_through_a_batch_api_as_files(gluebench: Run, tmp_path: Path):
    words = ("--out", "o.zip", "--tasks", "RTE", "--split", "dev", "--cache", "kept")
    with chatting(lambda request: "yes") as server:
        model = f"api:m@{server.address}"
        result = gluebench(model, *words, "--batch-out", "requests.jsonl")
        assert result.exit_code == 0, result.output
        assert "requests.jsonl: 100 requests." in result.stderr
        assert len(server.requests) == 1  # what the server can do
        assert not (tmp_path / "o.zip").exists()
        lines = [json.loads(line) for line in (tmp_path / "requests.jsonl").read_text().splitlines()]
        assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
        assert lines[0]["body"]["model"] == "m"
        results = [
            {
                "custom_id": line["custom_id"],
                "response": {"status_code": 200, "body": chat("no")},
                "error": None,
            }
            for line in reversed(lines)
        ]
        blocked = {"error": {"code": "content_filter", "message": "blocked"}}
        results[0]["response"] = {"status_code": 400, "body": blocked}
        results[1] |= {"response": None, "error": {"code": "batch_expired"}}
        (tmp_path / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in results))
        result = gluebench(model, *words, "--batch-in", "results.jsonl")
        assert result.exit_code == 0, result.output
        assert len(server.requests) == 2  # the one that expired
    assert "results.jsonl: 99 answers, 1 failed requests" in result.stderr
    assert "RTE 1 of 100 answers (1.0 %): 1 filtered" in " ".join(result.stderr.split())
    labels = check(tmp_path / "o.zip", "sample", role="dev").predictions["RTE"].words()
    assert labels.count("not_entailment") >= 98
    (tmp_path / "other.jsonl").write_text("{}\n")
    assert "other.jsonl, line 1: not a result" in gluebench(model, *words, "--batch-in", "other.jsonl").stderr


@pytest.mark.slow
def test_a_tiny_causal_model_is_evaluated(gluebench: Run, tmp_path: Path, sample: Benchmark):
    pytest.importorskip("transformers", reason=HF)
    tiny.causal(tmp_path / "gpt", ["yes no true false neither 0 1 2 3 4 5 First sentence Second text"])
    words = ("--tasks", "RTE,STS-B", "--split", "dev", "--shots", "2", "--device", "cpu", "--out", "o.zip")
    result = gluebench(f"causal:{tmp_path / 'gpt'}", *words)
    assert result.exit_code == 0, result.output
    assert set(check(tmp_path / "o.zip", sample, role="dev").predictions) == {"RTE", "STS-B"}
    assert "note" not in result.stderr
    (tmp_path / "empty").mkdir()
    result = gluebench(f"causal:{tmp_path / 'empty'}", "--out", "p.zip")
    assert result.exit_code == 1
    assert "cannot be loaded" in result.stderr
    assert (
        "--answer-by goes with api:" in gluebench("causal:x", "--out", "p.zip", "--answer-by", "text").stderr
    )


@pytest.mark.parametrize(
    ("variables", "words", "says"),
    [
        (
            {"WORLD_SIZE": "2"},
            ["system:majority"],
            "2 processes, which work together only with --fine-tune",
        ),
        ({"ACCELERATE_MIXED_PRECISION": "fp16"}, ["hf:x", "--fine-tune"], "precision is fp16; set bf16"),
    ],
)
def test_a_launcher_is_for_fine_tuning_and_may_set_its_precision(
    gluebench: Run, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], words: list[str], says: str
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    result = gluebench(*words, "--out", "o.zip")
    assert result.exit_code == 2
    assert says in " ".join(result.stderr.split())


def test_the_launchers_precision_is_taken_unless_another_is_given(monkeypatch: pytest.MonkeyPatch):
    from gluebench.cli.systems.run_options import _precision

    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "bf16")
    assert _precision({"precision": None}, fine_tunes=True) == "bf16"
    assert _precision({"precision": "tf32"}, fine_tunes=True) == "tf32"
    assert _precision({"precision": None}, fine_tunes=False) == "fp32"


@pytest.mark.slow
def test_a_tiny_bert_is_fine_tuned(gluebench: Run, tmp_path: Path, sample: Benchmark):
    pytest.importorskip("transformers", reason=HF)
    tiny.body(tmp_path / "bert")
    words = ("--fine-tune", "--epochs", "1", "--tasks", "RTE,WNLI", "--device", "cpu", "--out", "o.zip")
    result = gluebench(f"hf:{tmp_path / 'bert'}", *words)
    assert result.exit_code == 0, result.output
    valid(tmp_path / "o.zip", sample, {"RTE", "WNLI"})
    assert "RTE" in result.stdout
    assert "check 1 of at most 1, update 10: RTE" in result.stderr


@pytest.mark.slow
def test_labels_of_a_checkpoint_that_mean_nothing_are_asked_for(
    gluebench: Run, tmp_path: Path, sample: Benchmark
):
    pytest.importorskip("transformers", reason=HF)
    tiny.classifier(tmp_path / "m", ["LABEL_0", "LABEL_1"], always=1)
    words = (f"hf:{tmp_path / 'm'}", "--tasks", "RTE", "--out", "o.zip", "--device", "cpu")
    result = gluebench(*words)
    assert result.exit_code == 1
    assert "say it, as --label LABEL_0=entailment --label LABEL_1=not_entailment" in result.stderr
    result = gluebench(*words, "--label", "LABEL_0=not_entailment", "--label", "LABEL_1=entailment")
    assert result.exit_code == 0, result.output
    assert set(check(tmp_path / "o.zip", sample).predictions["RTE"].words()) == {"entailment"}


@pytest.mark.slow
def test_a_sentence_transformers_folder_is_probed(gluebench: Run, tmp_path: Path, sample: Benchmark):
    tiny.sentence_transformer(tmp_path / "st")
    words = ("--tasks", "RTE,STS-B", "--preset", "senteval-prototype", "--device", "cpu", "--out", "o.zip")
    result = gluebench(f"st:{tmp_path / 'st'}", *words)
    assert result.exit_code == 0, result.output
    valid(tmp_path / "o.zip", sample, {"RTE", "STS-B"})


def test_a_function_of_sentences_is_probed(gluebench: Run, tmp_path: Path, sample: Benchmark):
    pytest.importorskip("torch", reason="PyTorch is not installed (gluebench[train])")
    words = ("--tasks", "WNLI", "--preset", "senteval-prototype", "--device", "cpu", "--out", "o.zip")
    result = gluebench("encoder:mine:vectors", *words)
    assert result.exit_code == 0, result.output
    valid(tmp_path / "o.zip", sample, {"WNLI"})


def test_seeds_are_runs_of_their_own_with_their_mean_and_saved_models_have_cards(
    gluebench: Run, tmp_path: Path
):
    pytest.importorskip("transformers", reason=HF)
    from huggingface_hub import ModelCard

    tiny.body(tmp_path / "bert")
    words = ("--recipe", "bert", "--epochs", "1", "--tasks", "WNLI", "--device", "cpu", "--split", "dev")
    result = gluebench(
        f"hf:{tmp_path / 'bert'}", *words, "--seeds", "1,2", "--save", "kept", "--out", "o.zip"
    )
    assert result.exit_code == 0, result.output
    assert (tmp_path / "o-1.zip").exists()
    assert (tmp_path / "o-2.zip").exists()
    assert "device cpu, precision fp32, recipe bert, seed 2" in result.stderr
    assert "missing" not in result.stdout
    card = ModelCard.load(tmp_path / "kept" / "seed-2" / "WNLI" / "README.md").data
    (score,) = card.eval_results
    report = json.loads(
        gluebench(
            f"hf:{tmp_path / 'bert'}",
            *words,
            "--seed",
            "2",
            "--out",
            "o-2.zip",
            "--save",
            "kept/seed-2",
            "--json",
        ).stdout
    )
    accuracy = report["tasks"]["WNLI"]["metrics"]["accuracy"]
    assert score.metric_value == pytest.approx(accuracy["value"], abs=1e-9)
    assert score.metric_args["interval_95"] == pytest.approx([accuracy["low"], accuracy["high"]], abs=1e-9)
    assert score.metric_args["n"] == accuracy["n"]

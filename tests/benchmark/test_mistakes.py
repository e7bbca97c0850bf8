"""Every kind of mistake in a manifest, each told with its line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from gluebench.benchmark import ManifestError, load_benchmark

GOOD = (Path(__file__).parent / "mine.toml").read_text()


def problems(folder: Path, text: str) -> list[str]:
    (folder / "mine.toml").write_text(text)
    with pytest.raises(ManifestError) as raised:
        load_benchmark(folder / "mine.toml")
    return [problem.removeprefix(f"{folder}/") for problem in raised.value.problems]


def line_with(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


MANY = ", ".join(f'l{number} = "x"' for number in range(251))

MISTAKES = {
    # what: (text of GOOD, what stands there instead, part of the line named, key, part of the problem)
    "unknown key of the benchmark": (
        'description = "',
        'descripton = "',
        "descripton",
        "benchmark.descripton",
        "Did you mean description",
    ),
    "unknown key of a task": ("aliases =", "alias =", "alias =", "tasks.Mood.alias", "Did you mean aliases"),
    "unknown key of a metric": (
        "positive =",
        "postive =",
        "postive",
        "tasks.Mood.metrics[1].postive",
        "Did you mean positive",
    ),
    "unknown key at the top": (
        "[benchmark]",
        "[tasc]\n[benchmark]",
        "[tasc]",
        "tasc",
        "Its keys: benchmark, tasks",
    ),
    "unknown rule of ranking": (
        'description = "two tasks"',
        'rank_by = "rank_score"',
        "rank_by",
        "benchmark.rank_by",
        'is not a rule of ranking; expected one of "mean"',
    ),
    "wrong type of text": (
        'description = "two tasks"',
        "description = 2",
        "description",
        "benchmark.description",
        "is an integer; expected a string",
    ),
    "an integer that no float can hold": (
        "accuracy = 0.5",
        f"accuracy = {10**400}",
        "accuracy = 1",
        "tasks.Mood.references[0].scores.accuracy",
        "expected a finite number",
    ),
    "blank text": (
        'description = "two tasks"',
        'description = " "',
        "description",
        "benchmark.description",
        "is blank",
    ),
    "wrong type of list": (
        'aliases = ["feeling"]',
        'aliases = "feeling"',
        "aliases",
        "tasks.Mood.aliases",
        "is a string; expected an array of strings",
    ),
    "wrong type in a list": (
        '["feeling"]',
        '["feeling", 3]',
        "aliases",
        "tasks.Mood.aliases[1]",
        "is an integer; expected a string",
    ),
    "wrong type of flag": (
        "scored = false",
        "scored = 0",
        "scored",
        "tasks.Probe.scored",
        "is an integer; expected true or false",
    ),
    "wrong type of table": (
        "splits.test.size = 8",
        "splits = []",
        "splits = []",
        "tasks.Probe.splits",
        "is an array; expected a table",
    ),
    "wrong type of array of tables": (
        'metrics = [{ name = "accuracy" }]',
        "metrics = 1.5",
        "metrics = 1.5",
        "tasks.Probe.metrics",
        "is a float; expected an array of tables",
    ),
    "text where a table belongs": (
        'metrics = [{ name = "accuracy" }]',
        'metrics = ["accuracy"]',
        'metrics = ["acc',
        "tasks.Probe.metrics[0]",
        "is a string; expected a table",
    ),
    "no name": ('name = "mine"\n', "", "[benchmark]", "benchmark.name", "is missing; expected a string"),
    "no benchmark": (
        GOOD[: GOOD.index("[tasks.Mood]")],
        "",
        "[tasks.Mood]",
        "benchmark",
        "is missing; expected a table [benchmark]",
    ),
    "no tasks": (GOOD[GOOD.index("[tasks.Mood]") :], "", "[benchmark]", "tasks", "is missing or empty"),
    "tasks without extends": (
        'name = "mine"',
        'name = "mine"\ntasks = ["Mood"]',
        "tasks =",
        "benchmark.tasks",
        "only for a benchmark that extends another",
    ),
    "name unfit for a file": (
        'name = "mine"',
        'name = "my bench"',
        "name =",
        "benchmark.name",
        "letters, digits",
    ),
    "file named as a device": (
        'name = "Close-2"',
        'name = "aux"',
        '"aux"',
        "tasks.Close.files[1].name",
        "device on Windows",
    ),
    "file named as one of gold": (
        'synonyms = ["other"]',
        'synonyms = ["Mood.metadata"]',
        'synonyms = ["',
        "tasks.Close.files[1].synonyms[0]",
        "what a gold folder calls",
    ),
    "split unfit for a file": (
        "two = {",
        '"t/wo" = {',
        '"t/wo"',
        'tasks.Close.splits."t/wo"',
        "letters, digits",
    ),
    "no size": (
        "train = { size = 100 }",
        "train = {}",
        "train",
        "tasks.Mood.splits.train.size",
        "is missing; expected a positive integer",
    ),
    "size of nothing": (
        "size = 100",
        "size = 0",
        "size = 0",
        "tasks.Mood.splits.train.size",
        "is 0; expected a positive integer",
    ),
    "size true": (
        "size = 100",
        "size = true",
        "size = true",
        "tasks.Mood.splits.train.size",
        "is a boolean; expected a positive integer",
    ),
    "labels in a folder": (
        'aliases = ["feeling"]',
        'files = [{ gold.file = "labels/Mood.csv" }]',
        "gold.file",
        "tasks.Mood.files[0].gold.file",
        "is a path; expected the name of a file",
    ),
    "label column of no column": (
        'aliases = ["feeling"]',
        'files = [{ column = "mood", gold.columns = { moods = "label" } }]',
        "gold.columns",
        "tasks.Mood.files[0].gold.columns.moods",
        'is no column of this file; expected one of "mood", "id"',
    ),
    "neither labels nor range": (
        "score_range = [0, 1]\n",
        "",
        "[tasks.Close]",
        "tasks.Close.labels",
        "expected labels (classification) or score_range (regression)",
    ),
    "labels and range": (
        "score_range = [0, 1]",
        'score_range = [0, 1]\nlabels = { a = "x", b = "y" }',
        "score_range",
        "tasks.Close.score_range",
        "not both",
    ),
    "parent of no label": (
        'aliases = ["feeling"]',
        'parents = { god = "all" }',
        "parents",
        "tasks.Mood.parents.god",
        "is neither a label nor a parent",
    ),
    "language of no text": (
        'aliases = ["feeling"]',
        'language = "de"',
        "language",
        "tasks.Mood.language",
        'is of no use here; with form = "text" expected one of "en", "es",',
    ),
    "parents in a circle": (
        'aliases = ["feeling"]',
        'parents = { good = "all", all = "good" }',
        "parents",
        "tasks.Mood.parents.good",
        "is its own ancestor; expected a tree",
    ),
    "counts that are no numbers": (
        "dev = { size = 10 }",
        'dev = { size = 10, ids = "d_{}_{}", counts = [4, "6"] }',
        "dev =",
        "tasks.Mood.splits.dev.counts",
        "expected the number of examples of each group: [2, 0, 3]",
    ),
    "counts of another size": (
        "dev = { size = 10 }",
        'dev = { size = 10, ids = "d_{}_{}", counts = [4, 0, 5] }',
        "dev =",
        "tasks.Mood.splits.dev.ids",
        "has 9 ids for 10 examples",
    ),
    "a pattern without groups": (
        "dev = { size = 10 }",
        'dev = { size = 10, ids = "d_{}", counts = [4, 6] }',
        "dev =",
        "tasks.Mood.splits.dev.ids",
        '"d_{}" is not a pattern of two numbers',
    ),
    "a line without the column": (
        'aliases = ["feeling"]',
        'files = [{ member = "Mood.jsonl", column = "mood", line = { id = 0, label = "good" } }]',
        "files",
        "tasks.Mood.files[0].line",
        "expected the key of the ids and then the column",
    ),
    "range upside down": ("[0, 1]", "[1, 0]", "score_range", "tasks.Close.score_range", "the lower first"),
    "range without end": (
        "[0, 1]",
        "[0, inf]",
        "score_range",
        "tasks.Close.score_range",
        "two finite numbers",
    ),
    "a single label": (
        '{ good = "a good one", bad = "a bad one" }\nlabel_syn',
        '{ good = "a good one" }\nlabel_syn',
        "labels =",
        "tasks.Mood.labels",
        "has one label",
    ),
    "251 labels": (
        'labels = { good = "a good one", bad = "a bad one" }\nmetrics',
        f"labels = {{ {MANY} }}\nmetrics",
        "labels = { l0",
        "tasks.Probe.labels",
        "has 251 labels; expected at most 250",
    ),
    "label with a tab": (
        "labels = { good =",
        'labels = { "a\\tb" = "tab", good =',
        "labels =",
        'tasks.Mood.labels."a\tb"',
        "tab or line break",
    ),
    "synonym of no label": (
        'fine = "good"',
        'fine = "great"',
        "label_synonyms",
        "tasks.Mood.label_synonyms.fine",
        'stands for "great", which is not a label; expected one of "good", "bad"',
    ),
    "synonym that is a label": (
        'fine = "good"',
        'bad = "good"',
        "label_synonyms",
        "tasks.Mood.label_synonyms.bad",
        "is itself a label",
    ),
    "share of no label": (
        'label_synonyms = { fine = "good" }',
        "label_shares = { good = 0.5, fine = 0.5 }",
        "label_shares",
        "tasks.Mood.label_shares.fine",
        'is not a label; expected one of "good", "bad"',
    ),
    "shares that are not 1 in all": (
        'label_synonyms = { fine = "good" }',
        "label_shares = { good = 0.5, bad = 0.6 }",
        "label_shares",
        "tasks.Mood.label_shares",
        "1 in all",
    ),
    "no metric": (
        'metrics = [{ name = "accuracy" }]',
        "metrics = []",
        "metrics = []",
        "tasks.Probe.metrics",
        "expected at least one",
    ),
    "metric without a name": (
        '{ name = "accuracy" },',
        '{ function = "accuracy" },',
        "{ function",
        "tasks.Mood.metrics[0].name",
        "is missing; expected a string",
    ),
    "metric without a file": (
        ', file = "Close-2"',
        "",
        '{ name = "b"',
        "tasks.Close.metrics[1].file",
        'is missing, and this task has several files; expected one of "Close-1", "Close-2"',
    ),
    "metric of another file": (
        'file = "Close-2" }',
        'file = "Mood" }',
        'file = "Mood" }',
        "tasks.Close.metrics[1].file",
        '"Mood" is not a file of this task',
    ),
    "metric that nobody knows": (
        '{ name = "accuracy" },',
        '{ name = "acuracy" },',
        "acuracy",
        "tasks.Mood.metrics[0].function",
        "Did you mean accuracy",
    ),
    "metric twice": (
        '{ name = "f1",',
        '{ name = "accuracy", function = "f1",',
        'function = "f1"',
        "tasks.Mood.metrics[1].name",
        "names two metrics",
    ),
    "metric unfit for a file": (
        '{ name = "f1",',
        '{ name = "f/1", function = "f1",',
        "f/1",
        "tasks.Mood.metrics[1].name",
        "letters, digits",
    ),
    "f1 of nothing": (
        ', positive = "good"',
        "",
        '{ name = "f1"',
        "tasks.Mood.metrics[1].positive",
        'is missing; expected one of "good", "bad"',
    ),
    "f1 of no label": (
        'positive = "good"',
        'positive = "great"',
        "great",
        "tasks.Mood.metrics[1].positive",
        '"great" is not a label of this task',
    ),
    "accuracy of a label": (
        '{ name = "accuracy" },',
        '{ name = "accuracy", positive = "good" },',
        '{ name = "accuracy", pos',
        "tasks.Mood.metrics[0].positive",
        'expected it with "f1" or "micro_f1_without" or "precision" or "recall" only',
    ),
    "accuracy of numbers": (
        'function = "pearson"',
        'function = "accuracy"',
        'function = "accuracy"',
        "tasks.Close.metrics[0].function",
        'compares labels, and this task has numbers; expected one of "pearson", "spearman"',
    ),
    "pearson of labels": (
        '{ name = "accuracy" },',
        '{ name = "pearson" },',
        "pearson",
        "tasks.Mood.metrics[0].function",
        "compares numbers, and this task has labels; expected one of",
    ),
    "file without a metric": (
        'file = "Close-2" }',
        'file = "Close-1" }',
        'name = "Close-2"',
        "tasks.Close.files[1].name",
        "has no metric",
    ),
    "file of an unknown split": (
        'test = "two"',
        'test = "too"',
        'test = "too"',
        "tasks.Close.files[1].test",
        'names the split "too", which this task lacks; expected one of "one", "two"',
    ),
    "file of no split": (
        'test = "two"\n',
        "",
        '[[tasks.Close.files]]\nname = "Close-2"',
        "tasks.Close.files[1].test",
        "is missing, and so is dev",
    ),
    "file of the other's split": (
        'test = "two"',
        'test = "one"',
        'test = "one"\nsyn',
        "tasks.Close.files[1].test",
        "is predicted twice",
    ),
    "neither test nor dev": (
        "splits.test.size = 8",
        "splits.train.size = 8",
        "splits.train",
        "tasks.Probe.splits",
        "has neither test nor dev",
    ),
    "version of the same size": (
        "test = 7",
        "test = 6",
        "test = 6",
        "tasks.Close.files[1].other_versions[0].test",
        "the size of this version",
    ),
    "version of no size": (
        "test = 7\n",
        "",
        "[[tasks.Close.files.other",
        "tasks.Close.files[1].other_versions[0].test",
        "a size to recognize the version by",
    ),
    "diagnostic set with two metrics": (
        'metrics = [{ name = "accuracy" }]',
        'metrics = [{ name = "accuracy" }, { name = "r_k" }]',
        'metrics = [{ name = "accuracy" }, ',
        "tasks.Probe.metrics",
        "are 2; expected one",
    ),
    "phenomena of a scored task": (
        "scored = false\n",
        "",
        "[tasks.Probe.phenomena.Logic]",
        "tasks.Probe.phenomena",
        "only for a diagnostic set",
    ),
    "metadata of a scored task": (
        "scored = false\n",
        "",
        "metadata =",
        "tasks.Probe.metadata",
        "only for a diagnostic set",
    ),
    "metadata named as something else": (
        '["length"]',
        '["length", "fine"]',
        "metadata",
        "tasks.Probe.metadata[1]",
        '"fine" is taken',
    ),
    "phenomenon twice": (
        "Universal = []",
        'Universal = ["negation"]',
        "Universal",
        "tasks.Probe.phenomena.Logic.Universal",
        '"negation" already names another phenomenon',
    ),
    "model of no task": (
        'predict_with = "Mood"',
        'predict_with = "Moot"',
        "predict_with",
        "tasks.Probe.predict_with",
        '"Moot" is not another task; expected one of "Mood", "Close"',
    ),
    "model of itself": (
        'predict_with = "Mood"',
        'predict_with = "Probe"',
        "predict_with",
        "tasks.Probe.predict_with",
        "is not another task",
    ),
    "alias of two tasks": (
        "[tasks.Close]",
        '[tasks.Close]\naliases = ["Feel-ing"]',
        'aliases = ["Feel-',
        "tasks.Close.aliases[0]",
        '"Feel-ing" already names another task',
    ),
    "two tasks alike": (
        'aliases = ["feeling"]',
        'aliases = ["feeling", "PROBE"]',
        "[tasks.Probe]",
        "tasks.Probe",
        '"Probe" already names another task',
    ),
    "two files alike": (
        'synonyms = ["other"]',
        'synonyms = ["mood"]',
        'synonyms = ["',
        "tasks.Close.files[1].synonyms[0]",
        '"mood" already names another test file',
    ),
    "reference of no metric": (
        "scores = { accuracy = 0.5 }",
        "scores = { acc = 0.5 }",
        "acc =",
        "tasks.Mood.references[0].scores.acc",
        'is not a metric here; expected one of "accuracy", "f1"',
    ),
    "reference in per cent": (
        "scores = { accuracy = 0.5 }",
        "scores = { accuracy = 50 }",
        "accuracy = 50",
        "tasks.Mood.references[0].scores.accuracy",
        "is 50; expected a fraction from 0 to 1",
    ),
    "reference without scores": (
        "scores = { accuracy = 0.5 }\n",
        "",
        "[[tasks.Mood.references]]",
        "tasks.Mood.references[0].scores",
        "is missing",
    ),
    "reference that is not a number": (
        "scores = { accuracy = 0.5 }",
        "scores = { accuracy = nan }",
        "accuracy = nan",
        "tasks.Mood.references[0].scores.accuracy",
        "is nan; expected a finite number",
    ),
    "average of something else": (
        "scores = { score = 0.9 }",
        "scores = { average = 0.9 }",
        "average",
        "benchmark.references[0].scores.average",
        'expected one of "score"',
    ),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_said_with_its_line_and_key(tmp_path: Path, what: str) -> None:
    there, instead, place, key, said = MISTAKES[what]
    assert there in GOOD
    text = GOOD.replace(there, instead, 1)
    found = problems(tmp_path, text)
    start = f"mine.toml:{line_with(text, place)}: {key}: "
    assert any(problem.startswith(start) and said in problem for problem in found), found


TWOFOLD = {
    *(
        "no benchmark",
        "no tasks",
        "wrong type of table",
        "file of the other's split",
        "file named as a device",
    ),
    *("metadata of a scored task", "phenomena of a scored task", "metric that nobody knows"),
    *("pearson of labels", "split unfit for a file", "unknown key of a metric"),
}
"""Mistakes that make something else wrong too: a reference, a metric, a needed key."""


@pytest.mark.parametrize("what", sorted(MISTAKES.keys() - TWOFOLD))
def test_one_mistake_gives_one_problem(tmp_path: Path, what: str) -> None:
    there, instead, *_ = MISTAKES[what]
    assert len(problems(tmp_path, GOOD.replace(there, instead, 1))) == 1

"""Output folders of training programs become submissions in one command.

Each writer below does what the program's own code does, by the calls that it uses (`csv`, pandas, `str` of a
NumPy number): names of files, order of rows, header, quoting, ends of lines and digits are the program's.
Only the model is missing: the predictions are drawn. Of run_glue.py the model and the Trainer run as well.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Mapping
from csv import QUOTE_MINIMAL, QUOTE_NONE
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from gluebench import load, load_benchmark
from gluebench.benchmark import Benchmark
from gluebench.cli import main
from gluebench.submission import check, read_predictions

NLI = ("MNLI-m", "MNLI-mm", "AX")
SMALL = ("CoLA", "SST-2", "MRPC", "STS-B", *NLI, "QNLI", "RTE", "WNLI")
"""All test files but QQP, whose 390,965 rows are like those of MRPC."""
Values = Mapping[str, list[str]]
"""Test file to the words or numbers predicted."""


@pytest.fixture(scope="module")
def glue() -> Benchmark:
    return load_benchmark("glue")


@pytest.fixture(scope="module")
def meant(glue: Benchmark) -> Values:
    rng = random.Random(0)
    values = {}
    for name in SMALL:
        file = glue.file(name)
        words = glue.task(file.task).words
        size = file.size()
        if words:
            values[name] = rng.choices(words, k=size)
        else:
            values[name] = [repr(rng.randrange(5000) / 1000) for _ in range(size)]
    return values


def put(root: Path, path: str, text: str) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, newline="")


def write(root: Path, out: Path, *options: str, benchmark: str = "glue") -> Result:
    """The result of `gluebench write`."""
    words = ["write", str(root), "--out", str(out), "--benchmark", benchmark, *options]
    return CliRunner().invoke(main, words)


BERT_ORDER = {"MNLI": ("contradiction", "entailment", "neutral"), "CoLA": ("0", "1"), "MRPC": ("0", "1")}
"""`get_labels` of the processors, which are all that run_classifier.py has for tasks of GLUE."""


def bert(root: Path, meant: Values) -> set[str]:
    """`run_classifier.py --do_predict=true`, an `--output_dir` for each task.

    google-research/bert @ eedf5716ce1268e56f0a50264a88cafad334ac61, run_classifier.py:956: a row has `str`
    of each float32 probability. MnliProcessor reads test_matched.tsv only.
    """
    rng = np.random.default_rng(1)
    names = {"CoLA": "CoLA", "MRPC": "MRPC", "MNLI-m": "MNLI"}
    for name, task in names.items():
        order = BERT_ORDER[task]
        codes = [order.index(value) for value in meant[name]]
        logits = rng.normal(0, 4, (len(codes), len(order))).astype(np.float32)
        rows = np.arange(len(codes))
        # The label meant has the largest logit, by little or by much, so that some numbers have exponents.
        logits[rows, codes] = logits.max(1) + rng.uniform(0.01, 12, len(codes))
        odds = np.exp(logits - logits.max(1, keepdims=True))
        shares = odds / odds.sum(1, keepdims=True)
        lines = ["\t".join(str(share) for share in row) + "\n" for row in shares]
        folder = f"{task.lower()}_output"
        put(root, f"{folder}/test_results.tsv", "".join(lines))
        put(root, f"{folder}/eval_results.txt", "eval_accuracy = 0.5\nglobal_step = 343\nloss = 0.6\n")
        for other in ("checkpoint", "graph.pbtxt", "predict.tf_record", "model.ckpt-343.index"):
            put(root, f"{folder}/{other}", "model_checkpoint_path")
    return {*names}


def fairseq(root: Path, meant: Values) -> set[str]:
    """The loop of RoBERTa's README over test.tsv: it counts the rows, and gives each a label word.

    facebookresearch/fairseq @ 1ffc48fad99ccd1547593f182103c36453bcc54f, examples/roberta/README.glue.md. It
    writes no file, and has no word on WNLI and AX. STS-B's number is that of issue 1009: 5 times the output.
    """
    names = [name for name in meant if name not in ("WNLI", "AX")]
    for name in names:
        with open(root / f"{name}.tsv", "w") as file:
            print("index\tprediction", file=file)
            for index, value in enumerate(meant[name]):
                prediction = 5.0 * np.float32(float(value) / 5).item() if name == "STS-B" else value
                print(f"{index}\t{prediction}", file=file)
    return {*names}


JIANT_NAMES = {
    "CoLA": "cola",
    "SST-2": "sst",
    "STS-B": "sts-b",
    "AX": "glue-diagnostic",
    "MNLI-m": "mnli-m",
    "MNLI-mm": "mnli-mm",
    "MRPC": "mrpc",
    "QNLI": "qnli",
    "RTE": "rte",
    "WNLI": "wnli",
}
JIANT_ORDER = ("neutral", "entailment", "contradiction")


def jiant(root: Path, meant: Values, *, strict: bool = False) -> set[str]:
    """`write_preds = "test"` of jiant 1: the sentences stand beside the predictions, quoted as in CSV.

    nyu-mll/jiant @ 588aa288643224a1919cec889ede37d8c0196d35 (v1.3.2), jiant/evaluate.py:536
    `_write_glue_preds`. Words are put for the classes of MNLI, RTE and QNLI, and not for those of AX.
    """
    pandas = pytest.importorskip("pandas", reason="pandas is not installed, which jiant writes with")
    for name, values in meant.items():
        frame = pandas.DataFrame({"index": range(len(values)), "prediction": values})
        if name == "AX":
            frame["prediction"] = [JIANT_ORDER.index(value) for value in values]
        elif name == "STS-B":
            frame["prediction"] = [min(max(0.0, float(value) / 5 * 5.0), 5.0) for value in values]
        elif name not in ("QNLI", "RTE", *NLI):
            frame["prediction"] = frame["prediction"].astype(int)
        columns = ["index", "prediction"]
        path = root / "run" / f"{JIANT_NAMES[name]}_test.tsv"
        if strict:
            path = root / "run" / f"{name}.tsv"
        else:
            frame["sentence_1"] = [f'He said , " no " : {at} .' for at in frame["index"]]
            frame["sentence_2"] = ""
            frame["true_label"] = -1
            columns += ["sentence_1", "sentence_2", "true_label"]
        path.parent.mkdir(exist_ok=True)
        quoting = QUOTE_NONE if strict else QUOTE_MINIMAL
        frame.to_csv(path, sep="\t", index=False, float_format="%.3f", quoting=quoting, columns=columns)
    put(root, "run/log.log", "07/10 09:25:00 PM: Evaluating...\n")
    put(root, "run/params.conf", "batch_size = 32\n")
    put(root, "results.tsv", "run\tmicro_avg: 0.500, macro_avg: 0.500, mnli_accuracy: 0.500\n")
    return {*meant}


def jiant_strict(root: Path, meant: Values) -> set[str]:
    """The same with `write_strict_glue_format = 1`: the names of GLUE, two columns, no quotes."""
    return jiant(root, meant, strict=True)


def jiant_2(root: Path, meant: Values) -> set[str]:
    """`benchmark_submission_formatter.py --benchmark GLUE` of jiant 2; its `csv.writer` ends lines with CRLF.

    nyu-mll/jiant @ daa5a258e3af5e7503288de8401429eaf3f58e13, jiant/scripts/benchmarks/benchmarks.py:38,
    jiant/tasks/core.py:217 and jiant/tasks/lib/stsb.py:120.
    """
    for name, values in meant.items():
        with open(root / f"{name}.tsv", "w", newline="") as file:
            writer = csv.writer(file, delimiter="\t")
            writer.writerow(("index", "prediction"))
            for index, value in enumerate(values):
                writer.writerow((index, str(round(float(value), 3)) if name == "STS-B" else value.lower()))
    return {*meant}


OPTIONS = {
    bert: ("--argmax", "--labels", ",".join(BERT_ORDER["MNLI"])),
    jiant: ("--labels", ",".join(JIANT_ORDER)),
    jiant_strict: ("--labels", ",".join(JIANT_ORDER)),
}
"""What only the person who ran the program knows: the order of the classes in its model."""


@pytest.mark.parametrize("program", [bert, fairseq, jiant, jiant_strict, jiant_2])
def test_an_output_folder_becomes_a_submission(
    tmp_path: Path, glue: Benchmark, meant: Values, program: Callable[[Path, Values], set[str]]
) -> None:
    (tmp_path / "out").mkdir()
    names = program(tmp_path / "out", meant)
    result = write(tmp_path / "out", tmp_path / "s.zip", *OPTIONS.get(program, ()))
    assert result.exit_code == 0, result.output
    written = check(tmp_path / "s.zip", glue)
    assert not written.errors
    assert {*written.predictions} == names
    for name, column in written.predictions.items():
        if column.labels:
            assert column.words() == meant[name], name
        else:
            assert [*column.numbers] == pytest.approx([*map(float, meant[name])], abs=1e-6), name


def test_links_and_deep_folders_of_output_are_left_out(tmp_path: Path, glue: Benchmark) -> None:
    text = "index\tprediction\n" + "".join(f"{at}\t{at % 2}\n" for at in range(1725))
    put(tmp_path, "elsewhere/x.tsv", text)
    put(tmp_path, "out/a/b/c/d/MRPC.tsv", text)
    (tmp_path / "out/a/MRPC.tsv").symlink_to(tmp_path / "elsewhere/x.tsv")
    (tmp_path / "out/linked").symlink_to(tmp_path / "elsewhere")
    rows = text.splitlines(keepends=True)[: 1 + 1063]
    put(tmp_path, "out/x/CoLA.tsv", "".join(rows))
    assert [*read_predictions(tmp_path / "out", glue).columns] == ["CoLA"]
    put(tmp_path, "out/a/b/c/MRPC.tsv", text)
    assert {*read_predictions(tmp_path / "out", glue).columns} == {"CoLA", "MRPC"}


def test_two_folders_with_the_same_task_are_named(tmp_path: Path, glue: Benchmark) -> None:
    text = "index\tprediction\n" + "".join(f"{at}\t{at % 2}\n" for at in range(1063))
    for name in ("CoLA.tsv", "predict_results_cola.txt"):
        out = tmp_path / name.partition(".")[0]
        put(out, f"seed1/{name}", text)
        put(out, f"seed2/{name}", text)
        (problem,) = read_predictions(out, glue).problems
        assert problem.code == "two-files"


def test_the_order_of_classes_that_nobody_says_is_a_guess(tmp_path: Path, meant: Values) -> None:
    """BERT's is not the manifest's, and its file has no header."""
    bert(tmp_path, meant)
    result = write(tmp_path, tmp_path / "s.zip", "--argmax")
    step = "mnli_output/test_results.tsv: guess: the label with the largest number taken"
    assert step in result.output
    result = write(tmp_path, tmp_path / "s.zip", *OPTIONS[bert])
    assert "in the order given: contradiction, entailment, neutral" in result.output


@pytest.mark.parametrize("split", ["test", "dev"])
def test_predictions_for_both_splits_may_lie_in_one_folder(
    tmp_path: Path, glue: Benchmark, split: str
) -> None:
    """jiant 1 with `write_preds = "val,test"`."""
    for name, rows in (("test", 1063), ("val", 1043)):
        lines = "".join(f"{at}\t{at % 2}\n" for at in range(rows))
        put(tmp_path, f"run/cola_{name}.tsv", "index\tprediction\n" + lines)
    result = write(tmp_path / "run", tmp_path / "s.zip", "--split", split)
    assert result.exit_code == 0, result.output
    rows = {"test": 1063, "dev": 1043}[split]
    assert (
        len(check(tmp_path / "s.zip", glue, role="test" if split == "test" else "dev").predictions["CoLA"])
        == rows
    )


RUN_GLUE = {
    "CoLA": ("cola", ("unacceptable", "acceptable")),
    "SST-2": ("sst2", ("negative", "positive")),
    "MRPC": ("mrpc", ("not_equivalent", "equivalent")),
    "STS-B": ("stsb", ()),
    "QNLI": ("qnli", ("entailment", "not_entailment")),
    "RTE": ("rte", ("entailment", "not_entailment")),
    "WNLI": ("wnli", ("not_entailment", "entailment")),
    "MNLI": ("mnli", ("entailment", "neutral", "contradiction")),
}
"""Task to its name in run_glue.py, and to the class names of the data set that it loads from the hub."""


@pytest.mark.slow
def test_run_glue_becomes_a_submission(
    tmp_path: Path, sample: Benchmark, sample_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model is trained two steps and asked by the Trainer; all that run_glue.py writes lies in the folders.

    huggingface/transformers @ 0055f834470c4662897181543b27d8cf8c50b9d6,
    examples/pytorch/text-classification/run_glue.py, `--do_train --do_predict`: after a header, the number of
    a row and the class name of the largest logit, or the regression's output with three decimals.
    """
    transformers = pytest.importorskip("transformers", reason="transformers is not installed (gluebench[hf])")
    datasets = pytest.importorskip("datasets", reason="datasets is not installed, which run_glue.py reads by")
    from systems.adapters import tiny

    monkeypatch.setenv("WANDB_DISABLED", "true")
    predicted: dict[str, list[str]] = {}
    for task, (short, classes) in RUN_GLUE.items():
        model_folder = tmp_path / "models" / short
        tiny.classifier(model_folder, [*classes] or ["score"])
        config = transformers.AutoConfig.from_pretrained(
            model_folder, num_labels=len(classes) or 1, finetuning_task=short
        )
        words = transformers.AutoTokenizer.from_pretrained(model_folder)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(model_folder, config=config)
        model.classifier.weight.data.mul_(50)
        columns = sample.task(task).columns
        splits = {}
        for split in ("train", *(split for split in sample.task(task).splits if split.startswith("test"))):
            table = load(task, split, sample_folder, benchmark=sample)
            rows = {name: [example.inputs[name] for example in table] for name in columns}
            tokens = words(*rows.values(), padding="max_length", max_length=32, truncation=True)
            if split == "train":
                codes = sample.task(task).words
                labels = [example.label for example in table]
                tokens["label"] = [codes.index(label) for label in labels] if classes else labels
            splits[split] = datasets.Dataset.from_dict(dict(tokens))
        out = tmp_path / "out" / short
        settings = transformers.TrainingArguments(
            output_dir=str(out),
            max_steps=2,
            save_steps=1,
            per_device_eval_batch_size=256,
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
        )
        trainer = transformers.Trainer(
            model=model, args=settings, train_dataset=splits.pop("train"), processing_class=words
        )
        trained = trainer.train()
        trainer.save_model()
        trainer.log_metrics("train", trained.metrics)
        trainer.save_metrics("train", trained.metrics)
        trainer.save_state()
        # A random head gives all sentences one class; with its outputs centered it does not.
        seen = trainer.predict(next(iter(splits.values()))).predictions
        model.classifier.bias.data -= model.classifier.bias.new_tensor(np.median(seen, axis=0))
        for split, questions in splits.items():
            name = f"{short}-mm" if split == "test_mismatched" else short
            numbers = trainer.predict(questions, metric_key_prefix="predict").predictions
            if classes:
                answers = [classes[code] for code in np.argmax(numbers, axis=1)]
            else:
                answers = [f"{number:3.3f}" for number in np.squeeze(numbers)]
            lines = "".join(f"{index}\t{answer}\n" for index, answer in enumerate(answers))
            put(out, f"predict_results_{name}.txt", "index\tprediction\n" + lines)
            predicted[name] = answers
        trainer.create_model_card(finetuned_from="tiny", tasks="text-classification", language="en")
        assert (out / "checkpoint-1" / "trainer_state.json").is_file()
    result = write(tmp_path / "out", tmp_path / "s.zip", benchmark="sample")
    assert result.exit_code == 0, result.output
    written = check(tmp_path / "s.zip", sample)
    assert not written.errors
    assert written.missing == ("QQP",)
    assert {*written.predictions} == {*RUN_GLUE} - {"MNLI"} | {"MNLI-m", "MNLI-mm"}
    for file, column in written.predictions.items():
        task = sample.file(file).task
        short, classes = RUN_GLUE[task]
        answers = predicted[f"{short}-mm" if file == "MNLI-mm" else short]
        if classes:
            meaning = dict(zip(sample.task(task).words, classes, strict=True))
            assert [meaning[word] for word in column.words()] == answers, file
            assert len({*answers}) > 1, file
        else:
            assert [*column.numbers] == [*map(float, answers)]

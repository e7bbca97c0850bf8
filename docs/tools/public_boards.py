"""What public leaderboards show: read their results of each item, rank the systems, and write a page.

    python -m docs.tools.public_boards --clones DIR --fetch

`DIR` has clones of the repositories in `COMMITS`, each named OWNER+NAME; `--fetch` brings what is not there.
Only numbers and names of systems are kept: the table of each board is made anew, and the page has the ranks
alone.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import math
import re
import subprocess
import tempfile
import textwrap
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import matplotlib.pyplot as plt
from PIL import Image

from gluebench import ScoredTable, rank, read_results
from gluebench.analysis.rank import Ranking

DOCS = Path(__file__).resolve().parents[1]
PAGE, IMAGES = DOCS / "explanation/public-boards.md", DOCS / "img"
GITHUB = "https://github.com"
COMMITS = {
    "tatsu-lab/alpaca_eval": "cd543a149df89434d8a54582c0151c0b945c3d20",
    "EQ-bench/EQ-Bench": "d28c60c514fe6667dc5818114ed10088f91f09f3",
    "WildEval/ZeroEval": "8c1485edf12c6efb5f69135a562927c5ad484059",
    "TIGER-AI-Lab/MMLU-Pro": "f418b116db00b065c2aea046518d8fcf74d39872",
    "laude-institute/terminal-bench-leaderboard": "8e1925a397d7ed859c027cc19b3a3d90c16ef8df",
    "multi-swe-bench/experiments": "89888f1604001fcd80b0799a37af42a1bfebfd8f",
    "embeddings-benchmark/results": "f4cc6c8b365a3c779dbc708d6affe0b0355b2ddf",
}
"""The commit of each repository that the page was made from; later ones have other systems."""
SIZE_LIMIT = 4 * 2**20
"""Files of this many bytes or more are not read, so that every clone gives the same page."""
MTEB_TASKS = (
    "AmazonCounterfactualClassification ArXivHierarchicalClusteringP2P ArXivHierarchicalClusteringS2S "
    "ArguAna AskUbuntuDupQuestions BIOSSES Banking77Classification BiorxivClusteringP2P.v2 "
    "CQADupstackGamingRetrieval CQADupstackUnixRetrieval ClimateFEVERHardNegatives FEVERHardNegatives "
    "FiQA2018 HotpotQAHardNegatives ImdbClassification MTOPDomainClassification "
    "MassiveIntentClassification MassiveScenarioClassification MedrxivClusteringP2P.v2 "
    "MedrxivClusteringS2S.v2 MindSmallReranking SCIDOCS SICK-R STS12 STS13 STS14 STS15 STS17 STS22.v2 "
    "STSBenchmark SprintDuplicateQuestions StackExchangeClustering.v2 StackExchangeClusteringP2P.v2 "
    "SummEvalSummarization.v2 TRECCOVID Touche2020Retrieval.v3 ToxicConversationsClassification "
    "TweetSentimentExtractionClassification TwentyNewsgroupsClustering.v2 TwitterSemEval2015 "
    "TwitterURLCorpus "
)
"""The tasks of MTEB(eng, v2)."""
MADE_AGAIN = (
    "On 28 November 2026 somebody other than the writer of this page made all ten boards again from copies "
    "of these commits, with the tool and with readers of their own. Eight were equal in every figure of the "
    "table. EQ-Bench 2 (scores of another version) and Terminal-Bench (one of five attempts of three "
    "systems, one run of another twice) were wrong and are corrected. `--fetch` has met a local server, not "
    "GitHub."
)
"""Change this whenever the page has been made again."""
ItemScores = Mapping[str, Mapping[str, float]]
"""Scores by system and item."""


def clone_folder(clones: Path, repository: str) -> Path:
    """The clone of OWNER/NAME, in a folder named OWNER+NAME."""
    return clones / repository.replace("/", "+")


def fetch(repository: str, commit: str, clones: Path) -> None:
    """Bring a commit of a repository into its clone, without its history and its largest files."""
    folder = clone_folder(clones, repository)
    subprocess.run(["git", "init", "--quiet", "--bare", str(folder)], check=True)
    git = ["git", "-C", str(folder)]
    subprocess.run([*git, "config", "remote.origin.url", f"{GITHUB}/{repository}"], check=True)
    limit = f"--filter=blob:limit={SIZE_LIMIT}"
    subprocess.run([*git, "fetch", "--quiet", "--depth=1", limit, "origin", commit], check=True)


class Repository:
    """A clone, read at one commit without a working tree.

    `unread` counts the files asked for that were not read: they have `SIZE_LIMIT` bytes or more, or the
    clone lacks them for that.
    """

    def __init__(self, folder: Path, commit: str) -> None:
        self.folder = folder
        self.commit = commit
        self.unread = 0

    def files(self, pattern: str) -> Iterator[tuple[re.Match[str], bytes]]:
        """The files whose whole path matches, with their bytes; large files are left out."""
        # Of all objects that are there: to ask a partial clone for one that is not would download it.
        check = [
            "cat-file",
            "--batch-all-objects",
            "--unordered",
            "--batch-check=%(objectname) %(objectsize)",
        ]
        sizes = {}
        for line in self._lines(*check, end="\n"):
            blob, size = line.split()
            sizes[blob] = int(size)
        matches = {}
        for line in self._lines("ls-tree", "-r", "-z", "--full-tree", self.commit, end="\0"):
            about, path = line.split("\t")
            match = re.fullmatch(pattern, path)
            blob = about.split()[2]
            if match is not None and sizes.get(blob, SIZE_LIMIT) >= SIZE_LIMIT:
                self.unread += 1
            elif match is not None:
                matches[match] = blob
        with subprocess.Popen(
            ["git", "-C", str(self.folder), "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for match, blob in matches.items():
                process.stdin.write(f"{blob}\n".encode())
                process.stdin.flush()
                process.stdout.readline()
                data = process.stdout.read(sizes[blob])
                process.stdout.read(1)
                yield match, data
            process.stdin.close()

    def _lines(self, *words: str, end: str) -> list[str]:
        git = ["git", "-C", str(self.folder), *words]
        output = subprocess.run(git, check=True, capture_output=True).stdout.decode()
        return output.split(end)[:-1]


def read_alpaca(repository: Repository, annotator: str) -> ItemScores:
    """The share of a preference for the system's answer over the reference's, from 0 to 1."""
    scores: dict[str, dict[str, float]] = {}
    numbers: dict[str, str] = {}  # of the instructions, whose texts are not kept
    for match, data in repository.files(rf"results/([^/]+)/{annotator}/annotations\.json"):
        rows = [row for row in json.loads(data) if row["preference"] is not None]
        own = {numbers.setdefault(row["instruction"], str(len(numbers))): _preference(row) for row in rows}
        scores[match[1]] = own
    return scores


def _preference(row: Mapping[str, Any]) -> float:
    """From 0, the reference is better, to 1; a preference of 0 is a draw."""
    preference = float(row["preference"])
    return 0.5 if preference == 0 else min(max(preference - 1, 0.0), 1.0)


def read_eq_bench(repository: Repository) -> ItemScores:
    """The score of each question by the board's second version, as a share of 10; it can be negative.

    The scores in the files are not those of the second version, so they are computed from the answers: of
    the first answers, or of the revised ones if their mean is as high and 95 % of them could be read.
    """
    [(_, data)] = repository.files(r"data/eq_bench_v2_questions_171\.json")
    questions = {item: question["reference_answer_fullscale"] for item, question in json.loads(data).items()}
    scores = {}
    for match, data in repository.files(r"results/eq-bench/(.+)_eqbench_v2_results\.json"):
        answers = next(iter(json.loads(data)["raw_results"].values()))["respondent_answers"]
        first = _eq_scores(answers, "first_pass", questions)
        revised = _eq_scores(answers, "revised", questions)
        enough = revised and len(revised) >= 0.95 * len(first)
        is_revised = enough and _mean(revised) >= _mean(first)
        scores[match[1].replace("__", "/")] = revised if is_revised else first
    return scores


def _mean(scores: Mapping[str, float]) -> float:
    return sum(scores.values()) / len(scores)


def _eq_scores(
    answers: Mapping[str, Any], which: str, questions: Mapping[str, Mapping[str, Any]]
) -> dict[str, float]:
    """Scores of the questions for which all four emotions could be read."""
    scores = {}
    for item, answer in answers.items():
        reference = questions[item]
        right = {reference[f"emotion{at}"]: float(reference[f"emotion{at}_score"]) for at in range(1, 5)}
        rated = answer[which]
        if set(rated) == set(right):
            distance = sum(_eq_distance(abs(float(rated[emotion]) - right[emotion])) for emotion in right)
            scores[item] = 1 - 0.07477 * distance  # random ratings have a mean of 0
    return scores


def _eq_distance(distance: float) -> float:
    """Small distances count less, on an S-shaped curve."""
    if distance == 0 or distance > 5:
        return distance
    return 6.5 / (1 + math.exp(-1.2 * (distance - 4)))


def read_zero_eval(repository: Repository, task: str) -> ItemScores:
    """Whether the answer in the model's JSON is the right one; a missing answer is wrong."""
    scores = {}
    for match, data in repository.files(rf"result_dirs/{task}/([^/]+)\.json"):
        is_right = _same_text if task == "crux" else _same_number
        scores[match[1]] = {
            str(row["id"]): float(is_right(_answer(row["output"][0]), str(row["answer"])))
            for row in json.loads(data)
        }
    return scores


def _answer(output: str) -> str | None:
    """The value of the last key "answer" in a model's output, as text."""
    for start in (match.start() for match in re.finditer(r"\{", output)):
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(output, start)
        except ValueError:
            continue
        if isinstance(value, dict) and "answer" in value:
            return str(value["answer"])
    quoted = re.findall(r'"answer"\s*:\s*"?([^"\n}]*)', output)
    return quoted[-1] if quoted else None


def _same_text(answer: str | None, right: str) -> bool:
    return answer is not None and answer.strip("'\"").replace("\n", "\\n") == right.strip("'\"")


def _same_number(answer: str | None, right: str) -> bool:
    numbers = [_first_number(text) for text in (answer or "", right)]
    return numbers[0] is not None and numbers[0] == numbers[1]


def _first_number(text: str) -> float | None:
    plain = text.replace("$", "").replace(",", "").replace("#", "")
    fraction = re.search(r"(-?\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)", plain)
    if fraction and float(fraction[2]):
        return float(fraction[1]) / float(fraction[2])
    number = re.search(r"-?\d+(\.\d+)?", plain)
    return float(number[0]) if number else None


def read_mmlu_pro(repository: Repository) -> ItemScores:
    """Whether the letter is the right one; no letter is wrong."""
    scores = {}
    for match, data in repository.files(r"eval_results/model_outputs_(.+)_5shots(?:\.json)?\.zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            rows = json.loads(archive.read(archive.namelist()[0]))
        answers = [row for row in rows if isinstance(row, dict)]  # one file has stray words among its rows
        scores[match[1]] = {str(row["question_id"]): float(row["pred"] == row["answer"]) for row in answers}
    return scores


def read_multi_swe_bench(repository: Repository) -> ItemScores:
    """Whether an issue was resolved, by the package's own reader."""
    with tempfile.TemporaryDirectory() as folder:
        for match, data in repository.files(r"evaluation/java/verified/\d+_([^/]+)/results/results\.json"):
            target = Path(folder, match[1], "results.json")
            target.parent.mkdir()
            target.write_bytes(data)
        return _by_item(read_results({path.name: path for path in sorted(Path(folder).iterdir())}))


def read_mteb(repository: Repository) -> ItemScores:
    """The main score of each task, by the package's own reader; of a model's revisions, the fullest."""
    tasks = "|".join(map(re.escape, MTEB_TASKS.split()))
    revisions: dict[str, dict[str, dict[str, bytes]]] = defaultdict(lambda: defaultdict(dict))
    for match, data in repository.files(rf"results/([^/]+)/([^/]+)/({tasks})\.json"):
        revisions[match[1]][match[2]][match[3]] = data
    with tempfile.TemporaryDirectory() as folder:
        for model, by_revision in revisions.items():
            fullest = max(by_revision.values(), key=len)
            if len(fullest) == len(MTEB_TASKS.split()):
                target = Path(folder, model)
                target.mkdir()
                for task, data in fullest.items():
                    Path(target, f"{task}.json").write_bytes(data)
        sources = {path.name.replace("__", "/"): path for path in sorted(Path(folder).iterdir())}
        return _by_item(read_results(sources))


def _by_item(table: ScoredTable) -> ItemScores:
    return {system: dict(zip(table.items, scores, strict=True)) for system, scores in table.scores.items()}


def read_terminal_bench(repository: Repository) -> ItemScores:
    """The share of the attempts in which a task was solved; a file has one attempt for each task, or all."""
    attempts: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    # Deeper files are single attempts, and a copy of a run inside another run.
    pattern = r"results/terminal-bench-core[@:]0\.1\.1/(?:\d+_)?([^/]+)/(?:[^/]+/)?[^/]*results\.json"
    for match, data in repository.files(pattern):
        for attempt in json.loads(data)["results"]:
            attempts[match[1]][attempt["task_id"]].append(bool(attempt["is_resolved"]))
    scores: dict[str, dict[str, float]] = {}
    for system, by_task in attempts.items():
        scores[system] = {task: sum(solved) / len(solved) for task, solved in by_task.items()}
    return scores


class Board(NamedTuple):
    """A public board, and how its results are read."""

    key: str
    title: str
    repository: str
    read: Callable[[Repository], ItemScores]
    items: str
    """What an item is, in the plural."""
    note: str
    """What a reader must know of the numbers."""
    unit: Literal["items", "tasks"] = "items"


BOARDS = (
    Board(
        "alpaca-2",
        "AlpacaEval 2",
        "tatsu-lab/alpaca_eval",
        lambda repository: read_alpaca(repository, "weighted_alpaca_eval_gpt4_turbo"),
        "instructions",
        note=(
            "The win rates equal the repository's for all 57 systems that both have. The site"
            " sorts by a win rate that is corrected for length; the correction has no value "
            "for each instruction, so this is the order without it. *NullModel* gives the "
            "same answer to every instruction: a rank says nothing about what is measured. Two of "
            "the systems that were not read have a higher win rate."
        ),
    ),
    Board(
        "alpaca-1",
        "AlpacaEval 1",
        "tatsu-lab/alpaca_eval",
        lambda repository: read_alpaca(repository, "alpaca_eval_gpt4"),
        "instructions",
        note=("The win rates equal the repository's for all 52 systems that both have."),
    ),
    Board(
        "eq-bench",
        "EQ-Bench 2",
        "EQ-bench/EQ-Bench",
        read_eq_bench,
        "questions",
        note=(
            "Scores are computed from the answers by the board's formula, since those in the files"
            " are of another version; their means are within 0.03 points of the published score of "
            "every system. Questions that a system's answer could not be read for are missing; the "
            "table has those that all systems share."
        ),
    ),
    Board(
        "gsm",
        "GSM8K in ZeroEval",
        "WildEval/ZeroEval",
        lambda repository: read_zero_eval(repository, "gsm"),
        "problems",
        note=(
            "The 38 scores that both have are within 0.3 points of the repository's summary, "
            "whose rules for reading an answer are longer."
        ),
    ),
    Board(
        "math",
        "MATH level 5 in ZeroEval",
        "WildEval/ZeroEval",
        lambda repository: read_zero_eval(repository, "math-l5"),
        "problems",
        note=(
            "Answers that stand only outside the model's JSON count as wrong here. The "
            "repository reads some of them, so that five systems have 0.5 to 26 points more "
            "there, and one has 2.5 fewer."
        ),
    ),
    Board(
        "crux",
        "CRUXEval in ZeroEval",
        "WildEval/ZeroEval",
        lambda repository: read_zero_eval(repository, "crux"),
        "programs",
        note=("26 of 49 scores equal the repository's summary, the others are within 1.2 points."),
    ),
    Board(
        "mmlu-pro",
        "MMLU-Pro",
        "TIGER-AI-Lab/MMLU-Pro",
        read_mmlu_pro,
        "questions",
        note=("Files of other numbers of examples than five are left out."),
    ),
    Board(
        "terminal-bench",
        "Terminal-Bench core 0.1.1",
        "laude-institute/terminal-bench-leaderboard",
        read_terminal_bench,
        "tasks",
        note=("Each system has five attempts at each task; a task's score is the share that solved it."),
    ),
    Board(
        "multi-swe-bench",
        "Multi-SWE-bench, Java",
        "multi-swe-bench/experiments",
        read_multi_swe_bench,
        "issues",
        note=("The counts equal the repository's. A system that submitted one issue has 90 unresolved ones."),
    ),
    Board(
        "mteb",
        "MTEB, English v2",
        "embeddings-benchmark/results",
        read_mteb,
        "tasks",
        unit="tasks",
        note=(
            "Rows are tasks: how the mean would vary with other tasks like these. Models with"
            " all 41 tasks; tasks whose data had another revision or other languages in some "
            "model's file are left out."
        ),
    ),
)


def table_of(board: Board, scores: ItemScores) -> tuple[ScoredTable, list[str]]:
    """The systems that have nine tenths of the items or more, on the items that all of these have.

    Returns the table, and the systems that were left out.
    """
    most = max(map(len, scores.values()))
    whole = {system: of for system, of in scores.items() if len(of) >= 0.9 * most}
    items = sorted(set.intersection(*(set(of) for of in whole.values())))
    values = {system: [of[item] for item in items] for system, of in sorted(whole.items())}
    return ScoredTable(board.key, items, values, unit=board.unit), sorted(set(scores) - set(whole))


class Finding(NamedTuple):
    """What the results of a board show."""

    board: Board
    commit: str
    items: int
    ranking: Ranking
    left_out: list[str]
    unread: int
    """Files that were too large to be read."""

    def significant(self) -> set[frozenset[str]]:
        """The pairs of systems that are significantly different."""
        return {frozenset((pair.a, pair.b)) for pair in self.ranking.pairs if pair.adjusted <= 0.05}

    def neighbors(self) -> int:
        """How many of them stand one below the other."""
        names = [system.name for system in self.ranking.systems]
        significant = self.significant()
        return sum(frozenset(two) in significant for two in itertools.pairwise(names))


def measure(board: Board, clones: Path) -> Finding:
    """Read and rank a board."""
    commit = COMMITS[board.repository]
    repository = Repository(clone_folder(clones, board.repository), commit)
    table, left_out = table_of(board, board.read(repository))
    ranking = rank(list(table.systems), table)
    return Finding(board, commit, len(table.items), ranking, left_out, repository.unread)


def draw(finding: Finding, path: Path) -> None:
    """Draw the rank set of every system over its observed rank."""
    figure, axes = plt.subplots(figsize=(5, 2.6))
    systems = finding.ranking.systems
    for system in systems:
        low, high = system.rank_low, system.rank_high
        if system.rank is not None and low is not None and high is not None:
            color = "#2a7f62" if low == 1 else "#8a9a94"
            axes.plot(
                [system.rank, system.rank], [low, high], color=color, linewidth=2, solid_capstyle="butt"
            )
            axes.plot(system.rank, system.rank, ".", color="black", markersize=2)
    axes.set_xlabel("observed rank")
    axes.set_ylabel("ranks it may have")
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(32, dither=Image.Dither.NONE).save(path, optimize=True)


def paragraph(finding: Finding) -> str:
    """The section of a board."""
    board, ranking = finding.board, finding.ranking
    systems, significant = ranking.systems, finding.significant()
    names = [system.name for system in systems]
    widths = sorted(
        system.rank_high - system.rank_low + 1
        for system in systems
        if system.rank_high is not None and system.rank_low is not None
    )
    best = list(ranking.may_be_best)
    leaders = ", ".join(best[:3]) + (f" and {len(best) - 3} more" if len(best) > 3 else "")
    link = f"https://github.com/{board.repository}/tree/{finding.commit}"
    left_out = ""
    if finding.left_out:
        left_out = f" Left out, with less than nine tenths of the {board.items}: {len(finding.left_out)}."
    if finding.unread:
        left_out += f" Not read, in files of 4 MiB or more: {finding.unread}."
    sure = (
        f"{names[0]} is the best." if len(best) == 1 else f"{len(best)} systems may be the best: {leaders}."
    )
    text = (
        f"{len(systems)} systems on {finding.items:,} {board.items} "
        f"([{board.repository}, {finding.commit[:8]}]({link})). {sure} Of {len(ranking.pairs):,} pairs "
        f"{len(significant):,} are significantly different, of {len(systems) - 1} pairs of neighbors "
        f"{finding.neighbors()}. Half of the systems may have {widths[len(widths) // 2]} ranks or "
        f"more.{left_out} "
        f"{board.note}"
    )
    alternative = f"{board.title}: the ranks that each system may truly have, over its observed rank"
    picture = f"![{alternative}](../img/board-{board.key}.png)"
    return f"## {board.title}\n\n{_wrapped(text)}\n\n{picture}\n"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 125, break_long_words=False, break_on_hyphens=False)


def page(findings: Sequence[Finding]) -> str:
    """The whole page."""
    rows = []
    for finding in findings:
        ranking = finding.ranking
        share = 100 * len(finding.significant()) / len(ranking.pairs)
        cells = [
            finding.board.title,
            str(len(ranking.systems)),
            f"{finding.items:,}",
            str(len(ranking.may_be_best)),
            f"{share:.0f} %",
            f"{finding.neighbors()} of {len(ranking.systems) - 1}",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    table = "\n".join(rows)
    introduction = (
        "Public boards print ranks 1, 2, 3. Their repositories often have the result of each item, and "
        "these say more: which systems are significantly different, and which ranks a system may truly have. "
        f"Here are {len(findings)} of them, each ranked by [`gluebench rank`](../how-to/ranking.md) from the "
        "files of its repository. Nobody was asked, and no board is judged: most show numbers that are "
        "right, without saying how sure their order is."
    )
    meaning = (
        '"Neighbors" are systems that stand one below the other. On most boards hardly any two are '
        "significantly different: the order of a list is not a result. On MMLU-Pro, with 12,000 items, half "
        "of them are. The tests are of all pairs of a board at once (all rank sets hold together in 95 % of "
        "test sets), over items: how the result would vary with other items of the same kind, not with other "
        "runs of the systems or other judges."
    )
    again = (
        "The commands read each repository at the commit that is linked above. Only numbers and names of "
        "systems are kept; nothing of the items. Files of 4 MiB or more are not read, so the systems whose "
        "results are in them are absent. The last command prints nothing if all figures are equal."
    )
    parts = [
        "# What public leaderboards show\n",
        f"{_wrapped(introduction)}\n",
        "| board | systems | items | may be the best | significantly different pairs | neighbors |",
        "|---|---|---|---|---|---|",
        f"{table}\n",
        f"{_wrapped(meaning)}\n",
        *map(paragraph, findings),
        "## Make it again\n",
        f"{_wrapped(again)}\n",
        "<!-- not run: needs clones of 1 GB -->\n",
        "```sh",
        'pip install ".[plot]"',
        "python -m docs.tools.public_boards --clones ../clones --fetch",
        "git diff docs/explanation/public-boards.md",
        "```\n",
        f"{_wrapped(MADE_AGAIN)}\n",
    ]
    return "\n".join(parts)


def main() -> None:
    """Read and rank every board; write the page and its pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clones", type=Path, required=True, help="folder of the clones")
    parser.add_argument("--fetch", action="store_true", help="fetch the repositories into it first")
    options = parser.parse_args()
    clones = options.clones
    if options.fetch:
        for repository, commit in COMMITS.items():
            fetch(repository, commit, clones)
    findings = []
    for board in BOARDS:
        finding = measure(board, clones)
        draw(finding, IMAGES / f"board-{board.key}.png")
        print(board.title, finding.items, len(finding.ranking.systems))
        findings.append(finding)
    PAGE.write_text(page(findings), encoding="utf-8")


if __name__ == "__main__":
    main()

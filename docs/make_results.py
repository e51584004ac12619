"""Measure the table of docs/results.md: run each command as a user would, then write the page from the runs.

    HEEDFUL_DATA=… python docs/make_results.py [name …]     (papers: heedful reproduce NAME, then this)

Complete runs are not done again and interrupted ones go on, so the script may be stopped at any time. With
names it does only those rows. What there are no runs of at hand stays on the page as it was measured; what never was says so.
What was measured of SEAT, by dataset and encoder, is kept in docs/measured (heedful reproduce seat --join docs/measured).
"""

from __future__ import annotations

import json
import shlex
import statistics
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from heedful.cli.app import main as heedful
from heedful.config import TrainConfig, build
from heedful.papers.attefa.studies import files as study_pages
from heedful.papers.attefa.studies.run import run_study
from heedful.papers.attefa.studies.study import STUDIES
from heedful.papers.measure import measure as measure_recipe
from heedful.papers.outcome import make_page, split
from heedful.papers.page import Page, Section, markdown, save_page
from heedful.papers.parts import keep, kept
from heedful.papers.recipe import RECIPES
from heedful.runs import Run, list_runs
from heedful.storage import write_text
from heedful.training.train import resolve
from heedful.training.twins import some_seeds

PAGE = Path(__file__).parent / "results.md"
MEASURED = PAGE.parent / "measured"
RUNS = Path("runs")
SEEDS = 3
GLOVE = "--vectors glove-840b-300d"

# name, metric, what to reach, how many seeds, command
ROWS = [
    ("sst2", "f1", 0.80, 3, f"sst2 {GLOVE}"),
    ("mr", "f1", 0.75, 3, f"mr {GLOVE}"),
    ("20news_sports", "f1", 0.88, 3, f"20news_sports {GLOVE}"),
    ("ag_news_binary", "f1", 0.94, 3, f"ag_news_binary {GLOVE}"),
    ("trec", "accuracy", 0.85, 3, f"trec {GLOVE}"),
    ("babi_1", "accuracy", 0.99, 3, "babi_1 --preset jain-wallace"),
    ("snli", "accuracy", 0.60, 3, f"snli {GLOVE}"),
    ("tweeteval_emotion_binary", "f1", 0.70, 3, f"tweeteval_emotion_binary {GLOVE}"),
    ("sst2 with minilm-l6", "f1", 0.88, 1, "sst2 --encoder hf:minilm-l6"),
    ("imdb", "f1", 0.86, 1, f"imdb {GLOVE} --max-length 250 --min-count 5 --epochs 3"),
]

# name of the figure, study, what it is asked with
ASKED: list[tuple[str, str, dict[str, Any]]] = [
    ("strength", "strength", {"bases": 3, "seeds": 2}),
    ("heads", "heads", {"bases": 3, "seeds": 2}),
    ("temperature", "temperature", {"bases": 3, "seeds": 1}),
    ("placement", "placement", {"bases": 3, "seeds": 1, "quick": True}),
    ("curve-mlp", "curve", {"dataset": "sst2", "seeds": 1}),
    ("curve-bilstm", "curve", {"dataset": "sst2", "encoder": "bilstm", "seeds": 1}),
]

HEAD = """# What these models reach

Test figures: mean ± standard deviation over seeds 0, 1, 2 with each seed's value, or seed 0 alone where a run is
long; one thread of a two-core machine without accelerator. The epoch is selected on dev, never on test. The
command of each row, with `--seed`, does it again, to the last bit on the same machine;
`docs/make_results.py` runs them all and writes this page. Minutes are of a busy machine: they say what to
expect, not how fast the code is (`make bench` does that).

| dataset | measure | aim | reached | train / dev / test | best epochs | minutes | command |
|---|---|---|---|---|---|---|---|
"""


def measure(name: str, command: str) -> None:
    """Run one command of a row."""
    print(f"== {name}", flush=True)
    try:
        heedful(["train", *shlex.split(command), "--runs", str(RUNS)])
    except SystemExit as done:
        if done.code:
            print(f"{name} failed with exit code {done.code}", flush=True)


def config_of(command: str) -> TrainConfig:
    """Resolve a command's flags as the command line would."""
    dataset, *flags = shlex.split(command)
    given = {
        flag.removeprefix("--").replace("-", "_"): value
        for flag, value in zip(flags[::2], flags[1::2], strict=True)
    }
    return resolve({"dataset": dataset, **given})


def find_run(command: str) -> Run | None:
    """Find the complete run of a command, if there is one."""
    wanted = config_of(command)
    complete = (run for run in list_runs(RUNS) if run.complete)
    return next((run for run in complete if build(TrainConfig, run.config()) == wanted), None)


def row(name: str, metric: str, aim: float, seeds: int, command: str) -> tuple[str, list[str]]:
    """One line of the table, and the notes of its first run."""
    found = [find_run(f"{command} --seed {seed}") for seed in range(seeds)]
    runs = [run for run in found if run is not None]
    shown = f"`heedful train {command}`"
    if not runs:
        lines = standing().splitlines()
        kept = [line for line in lines if line.startswith(f"| {name} |") and shown in line]
        notes = [line.removeprefix("- ") for line in lines if line.startswith(f"- {name}: ")]
        return (kept or [f"| {name} | {metric} | {aim:.2f} | not measured yet | | | | {shown} |"])[0], notes
    metrics: list[dict[str, Any]] = [run.metrics() for run in runs]
    reached = [m["test"][metric] for m in metrics]
    cell = f"**{statistics.mean(reached):.3f}**"
    if len(reached) > 1:
        cell += f" ± {statistics.stdev(reached):.3f} ({', '.join(f'{value:.3f}' for value in reached)})"
    if len(runs) < seeds:
        cell += f"; {seeds - len(runs)} of {seeds} seeds not measured yet"
    logs = [
        [json.loads(line) for line in (run.folder / "log.jsonl").read_text().splitlines()] for run in runs
    ]
    minutes = statistics.mean(log[-1]["seconds"] for log in logs) / 60
    sizes = " / ".join(f"{metrics[0]['sizes'][split]:,}" for split in ("train", "dev", "test"))
    epochs = ", ".join(str(m["epoch"]) for m in metrics)
    cells = [name, metric, f"{aim:.2f}", cell, sizes, epochs, f"{minutes:.1f}", shown]
    return "| " + " | ".join(cells) + " |", [f"{name}: {note}" for note in metrics[0]["notes"]]


@cache
def standing() -> str:
    """Give the page as it is before anything is written."""
    return PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""


def section(heading: str) -> str | None:
    """Find a part of the page as it is."""
    found = standing().partition(f"\n{heading}\n")[2]
    return f"{heading}\n{found.partition(chr(10) + '## ')[0].rstrip()}" if found else None


def write_page() -> None:
    """Write docs/results.md from the runs there are."""
    lines, notes = zip(*(row(*entry) for entry in ROWS), strict=True)
    remarks = "\n".join(f"- {note}" for part in notes for note in part)
    parts = [
        HEAD + "\n".join(lines),
        "## Notes of the runs",
        remarks,
        DIFFERENCES.strip(),
        *map(paper, RECIPES),
        studies(),
    ]
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def paper(name: str) -> str:
    """Write the page of a paper's recipe from what is trained and audited, and give its claims for this page."""
    recipe = RECIPES.get(name)
    knows = recipe.twins or any(dataset.seeds > 1 for dataset in recipe.datasets.values())
    cases = recipe.cases(seeds=None if knows else SEEDS)
    audits = list(dict.fromkeys(experiment.audit for experiment in recipe.experiments))
    results = measure_recipe(cases, audits, runs=RUNS, only_finished=True)
    heading = f"## {recipe.title}"
    if recipe.joins:
        keep(split(recipe, results), MEASURED)
        results = replace(results, runs=())  # they are among the parts
    elsewhere = kept(name, MEASURED)
    if not results.runs and not elsewhere:
        return section(heading) or f"{heading}\n\nNot measured yet: `heedful reproduce {name}`."
    page = make_page(recipe, results, recipe.experiments, elsewhere)
    save_page(page, PAGE.parent / f"{name}.md")
    claims = next(section for section in page.sections if section.title == "Claims")
    short = Section("Claims", claims.tables, claims.lines[:1])
    table = markdown(Page("", (), [short])).split("## Claims")[1].strip()
    lacks = [line for part in page.sections if part.title == "Missing" for line in part.lines]
    partly = sum("not audited for" in line for line in lacks)
    wholly = len(lacks) - partly
    missing = f" {wholly} of {len(cases)} runs are missing; the page names them." if wholly else ""
    missing += f" {partly} are audited in part." if partly else ""
    found = f"\n\n{FOUND[name].strip()}" if name in FOUND else ""
    whole = [section for section in page.sections if section.title.startswith(WHOLE.get(name, ()))]
    tables = markdown(Page("", (), whole)).partition("\n\n")[2].replace("## ", "### ").strip()
    tables = f"\n\n{tables}" if whole else ""
    return f"{heading}\n\n{' '.join(page.lead)}{missing} All tables, every dataset's own number and what differs: [{name}.md]({name}.md).\n\n{table}{found}{tables}"


def studies() -> str:
    """Write the page of the studies that are done, with a figure each, and give their answers for this page."""
    answers, pages = [], []
    for figure, name, asked in ASKED:
        study = STUDIES.get(name)
        flags = " ".join(f"--{key}" if value is True else f"--{key} {value}" for key, value in asked.items())
        command = f"`heedful study {name} {flags}`"
        corpora = [asked["dataset"]] if "dataset" in asked else None
        done = run_study(
            study, runs=RUNS, corpora=corpora, seeds=some_seeds(asked["seeds"]), bases=asked.get("bases", 1),
            quick="quick" in asked, only_finished=True, encoder=asked.get("encoder", study.encoder),
        )  # fmt: skip
        if not done.rows or (study.twins and not done.points):
            if (before := section("## Studies")) and command in before:
                return before  # they stay together: figures and answers are of the same runs
            answers.append(f"| {study.question} | Not measured yet. | {command} |")
            continue
        page = study_pages.make_page(done)
        answers.append(f"| {study.question} | {' '.join(page.lead)} | {command} |")
        write_text(PAGE.parent / "studies" / f"{figure}.svg", study_pages.figure(done))
        text = markdown(page).replace("\n#", "\n##")
        pages.append(
            f"#{text.strip()}\n\nAsked with {command}.\n\n![{study.question}](studies/{figure}.svg)\n"
        )
    if pages:
        write_text(PAGE.parent / "studies.md", "\n".join(["# Studies: one control at a time\n", *pages]))
    table = "\n".join(["| question | answer | command |", "|---|---|---|", *answers])
    return f"## Studies\n\nTables, figures and what to know of each: [studies.md](studies.md).\n\n{table}"


# Tables of a paper that stand on this page too, not only on the paper's own.
WHOLE = {"seat": ("Table 1:", "Table 2:")}

# What was found out beside the tables, by experiments whose numbers no recipe holds.
FOUND = {
    "attefa": """
**Why bases must know words by their vectors.** Of the words planted in Mock-1's test texts 31 % do not stand in train. A first
round of measurements knew only the words of train, as `heedful train` does by default: all others were one unknown
word, to which bases gave a fixed answer (F1 of 0.88 and 0.89 on Mock-1, the paper 0.97). One twin of the BiLSTM then
had an AtteFa of 0.31: its predictions moved by 0.006 on texts with a word of train, and by 0.955 on the others, whose word no twin
was ever trained on. With `--open-vocabulary` bases reach 0.92 and 0.93, the three twins of the BiLSTM lie between 0.02 and 0.06, and what
is in the tables follows. The first round, an MLP with nine twins: Mock-1 0.60, Mock-2 0.50, Mock-5 1.00, Mock-10 0.47, Mock-1q 0.52,
Mock-2q 0.004, Mock-3q 0.002, Mock-4q 0.002 (the paper 0.82, 0.51, 0.50, 0.50, 0.27, 0.20, 0.001, 0.0002).

**AtteFa over an MLP depends on the kind of base, and that on the seed.** Bases come in two kinds. Some attend to the planted
words whatever they predict (97 to 99 % of the weight on average): twins that attend to the filler then differ by nearly all
of the JSD there is, and AtteFa is near 0.5, as printed for Mock-2 to Mock-10. Others attend to them for one class, and to
the filler for the other, which they fall back to: for half of the texts a twin that attends to the filler attends as they do,
JSD is about half of its bound, and AtteFa near 1. It is settled within the first epoch, by the seed:

| base, MLP | weight on planted words, predicted negative / positive | JSD / ln 2 of its twins | AtteFa | twins |
|---|---|---|---|---|
| mock_1, seed 0 | 1.00 / 0.38 | 0.67 | 0.64 | 9 |
| mock_1, seed 1 | 0.99 / 0.47 | 0.70 | 0.60 | 1 |
| mock_1, seed 2 | 1.00 / 0.46 | 0.71 | 0.60 | 1 |
| mock_2, seed 0 | 0.97 / 0.98 | 0.92 | 0.53 | 9 |
| mock_2, seed 1 | 0.97 / 0.18 | 0.51 | 0.96 | 2 |
| mock_2, seed 2 | 0.98 / 0.19 | 0.53 | 0.92 | 2 |
| mock_5, seed 0 | 0.94 / 0.27 | 0.49 | 1.00 | 9 |
| mock_5, seed 1 | 0.98 / 0.98 | 0.94 | 0.52 | 2 |
| mock_5, seed 2 | 0.88 / 0.18 | 0.42 | 1.00 | 2 |
| mock_10, seed 0 | 0.99 / 0.99 | 0.96 | 0.52 | 9 |
| mock_10, seed 1 | 0.98 / 0.23 | 0.53 | 0.94 | 1 |
| mock_10, seed 2 | 0.99 / 0.99 | 0.97 | 0.51 | 1 |

The paper's own JSD on Mock-1, 0.57 of the bound, is that of the second kind, and so is ours, 0.67; hence its 0.82 and our 0.64. Our
Mock-5 differs from the paper's 0.50 for the same reason: base 0 is of the second kind, and base 1, of the first, gives 0.52. So AtteFa tells
of one base, and a claim about a corpus needs several: the studies below have three for each value. The paper, and the tables here, have one.

**So the ladder does not stand.** Claim at-1 held here while its ladder left out Mock-5. Over all eight corpora, one base each, AtteFa falls from the first to the last (rank
correlation with the number of informative tokens −0.90), on four of seven steps clearly, and rises by 0.47 from Mock-2 to Mock-5: *undecided*. Over the three bases above (means 0.61, 0.80,
0.84, 0.66 on Mock-1, 2, 5, 10) no step among these four can be told from a rise: −0.19 (−0.77 to 0.39), −0.04 (−0.63 to 0.55), 0.18 (−0.41 to 0.78), intervals over bases. What stands is the drop between a quarter
and a half of the tokens, where twins find other informative words (0.52 to 0.004). Mock-1q to Mock-4q have one base each; of the BiLSTM five corpora of eight are not measured, and with three
twins, counted by Student's interval, its first step is undecided too (at-2).

**Half is where a search gets stuck.** A twin that attends to the filler alone has a TVD of 0.5, and small changes do not
help it. In the first round one of nine twins on Mock-10 (seed 12504) left that plateau and found some of the planted words that
the base weighs little: TVD 0.02 at a JSD of 0.94, AtteFa 0.02. With a patience of 40 in place of 10, seeds 10, 50 and 257
stayed where they were (AtteFa 0.52). An AtteFa of 0.5 says that twins do not find other attention that would do, not that
there is none.

**A transformer has twins too.** `heedful audit RUN --only imitation --quick --seeds 10` of MiniLM (six layers) on sst2, one twin trained on
2,000 texts, 500 texts audited: AtteFa 0.11 (0.08 to 0.13), corrected 0.24 (0.18 to 0.30). Its heatmap is flat to begin with
(sharpness 0.009), and the twin's points at one word.
""",
    "seat": """
**Equation 6 does not make attention steadier; stability alone makes it flat.** SEAT holds attention where the vanilla model has it, and what
is held there moves as it did: on sst2, under noise of 0.01 on all words, vanilla's JSD is 1.01 times SEAT's with a BiLSTM (0.99 to 1.02 over five seeds) and 0.99 times with an RNN (0.94 to 1.04), attention alone
trained; with the whole model 1.43 (0.96 to 2.13) and 1.56 times (0.95 to 2.56). Nothing but stability and close predictions asked for (`--objective consistency`, three seeds), JSD falls to
1.2e-8 with an RNN and 1.6e-8 with a BiLSTM, near what the paper prints. Sharpness is then 0.00002 for 0.084, and 0.001 for 0.330; F1 is the same (+0.001, −0.001), and two thirds of the top 7 items are still
vanilla's: neither tells. Figure 7 of [seat.md](seat.md) has it over seeds.

**steady** against the vanilla model of the same seed, noise of 0.01 on all words, seed by seed:

| corpus, encoder | JSD lower, times | TVD, part of vanilla's | sharpness, part of vanilla's | F1 | dominated |
|---|---|---|---|---|---|
| sst2, BiLSTM | 3.8, 5.1, 6.0, 3.6, 7.6 | 0.68 to 0.86 | 0.98 to 0.99 | −0.001 to +0.006 | no |
| sst2, RNN | 5.7, 18.7, 35.9, 8.9, 4.9 | 0.62 to 0.81 | 0.96, 0.89, 0.83, 1.04, 0.97 | −0.008 to +0.010 | no |
| mr, BiLSTM | 10.9, 4.9, 10.0 | 0.80 to 0.84 | 0.96 to 1.00 | −0.009, 0.000, +0.002 | no |
| mr, RNN | 5.6, 22.2, 17.8 | 0.78 to 0.94 | 0.89, 0.87, 0.99 | −0.006, −0.002, +0.007 | no |
| emotion, BiLSTM | 3.1, 5.8, 3.6 | 0.78 to 0.86 | 0.98 to 1.01 | −0.003 to +0.009 | no |
| emotion, RNN | 3.3, 6.5, 7.4 | 0.66 to 0.76 | 0.99 to 1.00 | 0.000 to +0.005 | no |
| hate, BiLSTM | 3.5, 6.2, 4.2 | 0.73 to 0.86 | 1.00 | +0.001 to +0.005 | once, by word_at |
| hate, RNN | 4.4, 6.5, 5.6 | 0.58 to 0.66 | 0.98 to 1.00 | 0.000 to +0.002 | no |

F1 is that of all test texts. Dominated: another method of the same seed is as steady, as sharp and as good at predicting (on the texts audited). In the mean over its seeds every one of these eight
is within 10 % of vanilla's sharpness and 0.005 of its F1; single runs are not: a BiLSTM on mr loses 0.009 of F1, RNNs 0.006 (mr) and 0.008 (sst2, twice), and where sharpness falls by more than a tenth (four RNNs) vanilla's own
is 0.009 to 0.076, of at most 0.69.

**On corpora that it was not set on** (three, with four to six classes; `heedful train NAME --vectors glove-840b-300d --no-train-embeddings --objective steady`, seeds 0 to 2, of ag_news 0 alone; macro F1 of all test texts):

| corpus | classes | trained on | audited on | JSD lower, times | TVD, part of vanilla's | sharpness, part of vanilla's | macro F1 |
|---|---|---|---|---|---|---|---|
| trec | 6 | 4,908 | 500 | 3.3, 5.1, 5.1 | 0.79, 0.63, 0.64 | 0.99, 1.00, 0.99 | +0.001, +0.002, −0.002 |
| sst5 (`--limit 4000`) | 5 | 4,000 | 1,500 | 4.0, 3.9, 5.0 | 0.76, 0.77, 0.76 | 0.98, 0.97, 0.99 | −0.002, +0.006, −0.007 |
| ag_news (`--limit 4000 --max-length 60`) | 4 | 4,000 | 1,500 | 3.3 | 0.79 | 0.98 | −0.001 |

A second test, on three corpora kept apart until then (customer reviews among them): 3.5 to 6.1 times steadier in six of six runs, sharpness within 3 %, and F1 within 0.005
in the mean on two of three corpora; on customer reviews it lost 0.007.

**Which claims speak of other seeds.** Intervals that drew few seeds anew were too narrow: said to cover 95 %, they covered 62, 78 and 81 % with two, three and five seeds. Now seeds have Student's interval, widened by texts
(95 to 97 % in simulation from three seeds on, whichever varies more). Claims se-7, se-13 and se-15 to se-21 are computed anew from numbers of single seeds (of TVD two digits, of the overlap three are kept);
what texts add is taken from draws that were kept. The ratio of a claim is now the geometric mean of the ratios of single seeds. For the claims marked † no numbers of single seeds were kept: their intervals hold for these seeds.

**MiniLM's attention is nearly flat, whatever the method** (sst2, one seed): its sharpness is 0.005 to 0.011 of at most 0.69, that of a BiLSTM 0.33 on the same texts. Below 0.02 heedful calls a heatmap flat and never shows it. What is flat cannot move much, so that its small JSD under noise is no merit. SEAT,
which trains attention alone, stays within 0.002 of vanilla in every number of Tables 1 and 2. Under noise of 0.01 on all words steady moves 8.4 times less than vanilla (TVD 0.78 of it, F1 +0.005), keeps 78 % of the top 7, and loses 14 % of the little sharpness there is (0.0048 for 0.0056): the one cell of nine where it is not within 10 %.
Distances to what is nearly flat are small, so that steady holds a transformer's heatmap three hundred times as firmly (λ₂ = 600). With λ₂ = 2 half of the sharpness and 45 % of the top 7 were left on test. 60 and 600 were then tried with models trained on 2,000 texts, and seen on 300 test texts first; what follows is on dev, where 1,500 was tried too: λ₂ = 60 is 35 % less sharp than vanilla, 600 8 % less and 6.8 times steadier, 1,500 10 % less and 3.8 times steadier. So 600 is not blind to test.

![Steadiness against sharpness of the ways of training on sst2, BiLSTM](seat-figures/frontier-sst2-bilstm.svg)

**How steady was set.** On sst2's dev set, BiLSTM, seeds 0 and 1, noise of 0.01 on all words. Without a term for sharpness that is lost
(λ = 30, λ₂ = 2) JSD was 4.3 and 6.1 times below vanilla's, and sharpness 6 and 11 % lower: JSD to the vanilla heatmap grows with the
square of a change, so that a little flattening everywhere costs next to nothing. Holding the heatmap harder (λ₂ = 5) gave 2.5 and 3.5 times at 4 and 5 %.
With lost sharpness counted by itself (λ₂ = 2) it is 2.8 and 3.8 times at 0 % and 1 % *more* for λ = 30, and 3.6 and 5.5 times at 1 % less for
λ = 60, which is the default.

So set, it fell short on tweets: on the test set of tweeteval_emotion_binary JSD was 1.7, 2.7 and 3.2 times below vanilla's (BiLSTM, seeds 0 to 2). There 17 % of the
words of a new text are unknown, and no training text has an unknown word; heatmaps of texts with such words moved four to six times as much as the others.
Words of other texts put in at random (30 %) did not help. With 20 % of the words read as unknown while it is trained (`--unknown`), the relative JSD under noise of 0.05 on dev fell from 0.012 to 0.002 and from
0.0043 to 0.0019 there (seeds 0, 1), and on sst2 from 0.0020 to 0.0015 (seed 0; 10 %: 0.0014). That it was needed was seen on emotion's test set, its size was chosen on dev.

It then cost emotion 0.007 of F1 with a BiLSTM and 0.015 with an RNN (means of three seeds on test; −0.002 and −0.030 on dev). With closeness of predictions counted ten times (`--closeness`, the default) it
is 0.005 *more* and −0.005 on dev; the relative JSD there is about 1.4 times as high. Counted five times it was −0.010 and −0.015.

So set, JSD on emotion's test set was 2.9 (RNN) and 2.8 times (BiLSTM) below vanilla's, because training ended early: on a dev set of 257 texts what is minimised goes up and down while it falls, and a
patience of three epochs took that for the end. steady waits three times as long since; on dev the BiLSTM of seed 0 went from 2.6 to 3.6 times. A learning rate that falls to zero did not help (sst2, RNN, dev: less steady after
ten epochs than with a constant one). On test, heatmaps of RNNs were now up to 18 % *sharper* than vanilla's, which relative instability rewards; since then sharpness that is gained counts like sharpness that is lost. On emotion's dev set
(RNN, seeds 0 and 1) that is 3.8 and 5.7 times in place of 3.3 and 5.1, with sharpness at −1 and 0 % in place of +12 and +9 %. So test figures of sst2 and emotion were seen twice before the last two changes, and their sizes were checked on dev.

Dropout is switched off while seat, steady and consistency are trained. With it on, as vanilla models have it by default, two readings of a text differ by the
units that are dropped, steady held the heatmap still against that, and it cost 0.024 of F1 and a quarter of the sharpness on sst2; without, the defaults
give JSD 4.0 times below vanilla's at 7 % more sharpness and 0.004 more F1 (one seed). The recipe's models have no dropout.

With the options' defaults (BiLSTM, frozen vectors, dropout) steady was trained for at most 8 epochs, as vanilla models are. On emotion's test set that gave JSD 2.9 and 2.8 times below vanilla's (seeds 0, 1); with 20, as
in the recipe, it is 3.6 and 3.9 times, at 1 % less sharpness and 0.006 and 0.009 more F1. 20 is the default of steady and consistency since.
""",
}

DIFFERENCES = """
## What differs from the papers

- Vectors: the papers use fastText and the full GloVe 840B; here it is the subset of 33,860 words of
  `glove-840b-300d`, so a third to a half of a vocabulary is drawn from its distribution.
- Data: `ag_news` and `snli` are trained on part of the original training sets, and `snli` has no punctuation.
- The defaults add dropout of 0.3 before the encoder and the decoder, which the papers' models do not have;
  `--preset jain-wallace`, `attefa` and `seat` switch it off.
- Embeddings are updated row by row: the moments and the decay of a word stand still while no batch holds it.
- `imdb` is cut at 250 words to keep the run short, as FLAT does.

## How the settings were chosen

Each run selects its epoch on dev. Some defaults were settled with test figures in view, so the rows named here
are not blind: the length of drawn embeddings (three scales tried on `mr`, four on `babi_1`), keeping words seen once
(against `--min-count 2` on `sst2`, `mr`, `ag_news_binary`) and drawing the unknown word's vector (against the mean,
on `sst2` and `ag_news_binary`). Three seeds were run for every short row after seed 0 of
`tweeteval_emotion_binary` came out at .701; other settings were tried there and none was adopted.

The thresholds of the default policy were set after looking at audits of Mock-1, where the right answer is known, and
of `sst2`. In Mock-1 some models let the filler speak for one class; counting texts apart whose prediction does not
need attention (`needless`) came of that. With average encoders on Mock-1 (defaults, seeds 0 and 1 with the opinion
lexicon's words and VADER's, seed 0 with the short list that comes with the package) attention finds the planted word in
99 to 100 % of the texts where that was counted, and the verdict is *show* in all five.
"""

if __name__ == "__main__":
    chosen = sys.argv[1:] or [entry[0] for entry in ROWS]
    for name, _, _, seeds, command in ROWS:
        for seed in range(seeds):
            if name in chosen:
                measure(f"{name} seed {seed}", f"{command} --seed {seed}")
    write_page()
    print(PAGE)

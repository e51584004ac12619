"""Chen & Ji 2022, FLAT: Tables 1–10 and Figures 3–6."""

from __future__ import annotations

from collections.abc import Sequence

from heedful.output.numbers import fixed
from heedful.papers.flat.attention_under_attack import ATTENTIVE, table_11
from heedful.papers.flat.attention_under_attack import CLAIMS as ATTENTION_CLAIMS
from heedful.papers.flat.attention_under_attack import MODELS as ATTENTION_MODELS
from heedful.papers.flat.attention_under_attack import ON as ATTENTION_ON
from heedful.papers.flat.certified_training import CLAIMS as CERTIFIED_CLAIMS
from heedful.papers.flat.certified_training import COMPARED, table_12
from heedful.papers.flat.certified_training import MODELS as CERTIFIED_MODELS
from heedful.papers.flat.certified_training import ON as CERTIFIED_ON
from heedful.papers.flat.examples import besides
from heedful.papers.flat.flat_claims import CLAIMS, RULE
from heedful.papers.flat.methods import (
    ABLATED,
    ABLATED_ON,
    EVERY,
    GROUPED,
    GROUPED_ON,
    LIME,
    LIME_TEXTS,
    MODELS,
    TRANSFER_TEXTS,
    TRANSFERRED,
    TRANSFERRED_ON,
    VECTORS,
    WORDY,
    named,
)
from heedful.papers.flat.other_tables import table_4, table_5, table_10
from heedful.papers.flat.paper_tables import (
    CONSISTENCY,
    ROBUSTNESS,
    SHARPNESS,
    accuracy_cell,
    figure_6,
    table_1,
    table_2,
    table_3,
    table_6,
    table_7,
    table_8,
)
from heedful.papers.flat.word_importance import SAMPLED, SYNONYMS
from heedful.papers.flat.word_tables import MASKED, figure_3, figure_4, figure_5, pictures, table_9
from heedful.papers.recipe import Dataset, Experiment, Recipe, published, register
from heedful.papers.results import MeasuredRun, Results


def described(runs: Sequence[MeasuredRun]) -> list[str]:
    """Size and accuracy beside those of Tables 1 and 2."""
    run = runs[0]
    theirs = published("flat")["corpora"].get(run.dataset, {})
    name = run.model.partition(",")[0]
    row = published("flat")["table_2"].get(name.partition(" (")[0] if "-base" in name else name)
    order: list[str] = published("flat")["order"]
    paper = row[order.index(run.dataset)] if row and run.dataset in order and name == run.model else None
    sizes = [f"{theirs[split]:,}" if theirs else "–" for split in ("train", "test")]
    return ["accuracy", accuracy_cell(runs, "test"), fixed(paper, 2), *sizes]


def lead(results: Results) -> str:
    """Say how numbers are to be read."""
    seeds = sorted({run.seed for run in results.runs})
    return (
        f"{len(results.runs)} runs (seed {', '.join(map(str, seeds))}). AA: accuracy after an attack, SA: before it, in percent; KT: Kendall's τ "
        "and TI: share of the top 5 words that stay, between a text and the attacked text, where a word and its substitute count as the same, averaged over the explanations of all classes. As in the paper all audited texts "
        "count, also those that an attack left alone; the numbers of successful attacks stand beside them. adv and FLAT are attacked "
        "by what they were trained against, and base by either. Values are averaged over seeds; in brackets the 95 % interval over texts. How many "
        "texts were attacked in training and in audits, by which attack and with which resources, is listed under what differs. The paper has one run each, tuned on test."
    )


_IG = "Integrated gradients from the zero embedding, in at most 50 steps; the paper gives neither baseline nor steps."
_WORDS = "Read from the models themselves and the attacked texts of the last round."

FLAT = register(
    Recipe(
        name="flat",
        title="Chen & Ji 2022, FLAT: Adversarial Training for Improving Model Robustness?",
        description="FLAT: Tables 1 to 10, Figures 3 to 6, seventeen claims and five of ours; models are trained in rounds of attack",
        options={"preset": "flat", "vectors": VECTORS, "train_embeddings": False, "threads": 1},
        datasets={
            "sst2": Dataset(None),
            "trec": Dataset(None, {"dev_fraction": 0.0831}),  # 452 of 5,452, as nearly as classes allow
            "imdb": Dataset(500, {"limit": 1000}, usual=False, attacked=200),
            "ag_news": Dataset(500, {"limit": 8000}, usual=False, attacked=2000),
        },
        models=(*MODELS, *ATTENTION_MODELS, *CERTIFIED_MODELS),
        experiments=(
            Experiment("table", 1, "Which corpora?", SHARPNESS, table_1, models=EVERY),
            Experiment("table", 2, "Is accuracy on clean texts kept?", SHARPNESS, table_2, models=EVERY),
            Experiment(
                "table",
                3,
                "Do predictions and reasons survive an attack?",
                ROBUSTNESS,
                table_3,
                (
                    _IG,
                    "Certified: right, and proven to stay so whatever words are replaced by the attack's substitutes; for convolutions. "
                    "Words changed, and successes that need words which the model cannot read: in percent of the successes.",
                ),
                EVERY,
                also=(CONSISTENCY,),
            ),
            Experiment(
                "table",
                4,
                "Do they survive attacks that they were not trained against?",
                ROBUSTNESS,
                table_4,
                (
                    f"On {TRANSFER_TEXTS} test texts, since some attacks are slow. It is measured only when asked for: heedful reproduce flat --table 4. An attack that cannot be run here is listed as missing, and why.",
                ),
                TRANSFERRED,
                TRANSFERRED_ON,
                costly=True,
            ),
            Experiment(
                "table",
                5,
                "Are both regularisers needed?",
                ROBUSTNESS,
                table_5,
                models=ABLATED,
                datasets=ABLATED_ON,
            ),
            Experiment("table", 6, "How are texts read?", SHARPNESS, table_6, models=EVERY),
            Experiment("table", 7, "Accuracy on the development set", SHARPNESS, table_7, models=EVERY),
            Experiment(
                "table",
                8,
                "Do reasons survive, by LIME?",
                CONSISTENCY,
                table_8,
                (
                    f"LIME with 256 samples on {LIME_TEXTS} test texts; the paper takes 1,000 pairs. It is measured only when asked for: heedful reproduce flat --table 8.",
                ),
                LIME,
                costly=True,
            ),
            Experiment(
                "table",
                9,
                "Does importance follow frequency?",
                SHARPNESS,
                table_9,
                (
                    _WORDS,
                    "Frequency is that in the attacked training texts; with substitutions over words that were replaced, as the paper's p-values show.",
                ),
                MASKED,
                ABLATED_ON,
            ),
            Experiment(
                "table",
                10,
                "Would groups of words that share a mask do?",
                ROBUSTNESS,
                table_10,
                (
                    "Groups are found in the vectors of --attack-vectors. It is measured only when asked for: heedful reproduce flat --table 10.",
                ),
                GROUPED,
                GROUPED_ON,
                costly=True,
            ),
            Experiment(
                "table",
                11,
                "What becomes of attention? (ours)",
                CONSISTENCY,
                table_11,
                (
                    "Not in the paper: a BiLSTM with attention, trained by its three methods, by SEAT and by steady, which holds attention still under noise. adv and FLAT are trained against TextFooler. "
                    "Relative JSD is JSD over the sum of both heatmaps' sharpness: a heatmap that is flatter moves less for that alone. Claims were first about JSD, and were changed to this when JSD was seen to fall with sharpness. "
                    "It is measured only when asked for: heedful reproduce flat --table 11.",
                ),
                ATTENTIVE,
                ATTENTION_ON,
                also=(ROBUSTNESS,),
                costly=True,
            ),
            Experiment(
                "table",
                12,
                "And training that proves what it promises? (ours)",
                ROBUSTNESS,
                table_12,
                (
                    "Not in the paper: bounds over all substitutes of all words are part of the loss (Jia et al. 2019; --objective certified). "
                    "Certified is whatever words are replaced by TextFooler's substitutes, with no regard to the sentence. It is measured only when asked for: heedful reproduce flat --table 12.",
                ),
                COMPARED,
                CERTIFIED_ON,
                costly=True,
            ),
            Experiment(
                "figure",
                3,
                "What are the reasons of two examples?",
                SHARPNESS,
                figure_3,
                (
                    "The paper's own examples, in which an attack on its own models found the substitutes; seed 0.",
                ),
                named("base", "adv", "FLAT", encoders=WORDY),
                TRANSFERRED_ON,
            ),
            Experiment(
                "figure",
                4,
                "Importance, frequency and substitutions of words",
                SHARPNESS,
                figure_4,
                (_WORDS, "The paper draws this and prints the correlations in Table 9."),
                MASKED,
                ABLATED_ON,
                pictures=pictures,
            ),
            Experiment(
                "figure",
                5,
                "Are a word and its synonyms equally important?",
                SHARPNESS,
                figure_5,
                (
                    f"{SAMPLED:,} words drawn at random of those with synonyms that the model knows, and at most {SYNONYMS} synonyms of each: what the attack "
                    "would put in their place. The paper draws this for γ = 0.001 and γ = 0 and prints no number. Masks are those of the whole vocabulary.",
                ),
                ABLATED,
                ABLATED_ON,
            ),
            Experiment(
                "figure",
                6,
                "How many of the top k words stay?",
                CONSISTENCY,
                figure_6,
                (_IG, "The paper draws this for TextFooler and prints no number but k = 5 (Table 3)."),
                EVERY,
            ),
        ),
        claims=(*CLAIMS, *ATTENTION_CLAIMS, *CERTIFIED_CLAIMS),
        differences={
            f"Vectors: a subset of 33,860 words of GloVe 840B ({VECTORS}), held fixed as in the released code, in place of word2vec; other words are drawn from its distribution.": (),
            "Without --data and --encoders: LSTM and CNN on sst2 and trec. MiniLM with six layers takes the place of BERT base; there is no DeBERTa.": (),
            "imdb: trained on a sample of 1,000 reviews, of which 200 are attacked in each round.": ("imdb",),
            "ag_news: trained on a sample of 8,000 texts, of which 2,000 are attacked in each round; the files at hand are part of the original training set.": (
                "ag_news",
            ),
            "Attacks are assembled after TextAttack's, without its faults; TextFooler compares sentences by MiniLM in place of the Universal Sentence Encoder, "
            "and takes neighbours from the vectors that are given.": (),
            "The paper has 3 to 5 rounds, “until convergence”, and its released code 2; here all models have the same number.": (),
            "The epoch is selected on dev and nothing on test; β and γ are those of LSTM on SST2, the only ones that the paper gives, for all models.": (),
            "Words that the training texts of sst2 and trec hold once are unknown to the models, while the paper's know all. Else unknown words stand in attacked training texts alone: "
            "an LSTM trained for one round on what PWWS made of sst2 falls from .83 to .72 on dev with the paper's vocabulary, and to .82 with this one.": (),
            "L_imp has a gradient for every encoder, is read without dropout, and padding counts nowhere; in the released code neither is so.": (),
        },
        described=described,
        lead=lead,
        rule=RULE,
        audit={"source": "integrated_gradients"},
        attacks=True,
        besides=besides,
    )
)

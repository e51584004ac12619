"""Serrano & Smith 2019, Is Attention Interpretable?: Tables 1–3 and Figures 3–13."""

from __future__ import annotations

from heedful.papers.recipe import Dataset, Experiment, Model, Recipe, register
from heedful.papers.serrano_smith.erased_item_tables import (
    figure_9,
    figure_12,
    figure_13,
    flips_drawn,
    table_2,
)
from heedful.papers.serrano_smith.erasure_figures import (
    HANRNN,
    delta_js,
    delta_js_drawn,
    negatives,
    negatives_drawn,
)
from heedful.papers.serrano_smith.flipping_set_figures import (
    FIGURE_5_MODELS,
    figure_5,
    figure_6,
    figure_10,
    figure_11,
    removed_drawn,
)
from heedful.papers.serrano_smith.serrano_smith_claims import CLAIMS, ENCODERS, NETWORKS, models_with
from heedful.papers.serrano_smith.sizes_and_accuracy import described, table_1, table_3

VECTORS = "glove-840b-300d"
_NO_NUMBERS = "The paper shows this as box plots and prints no number for them."
_NO_POINTS = "The paper draws this and prints no number. Δα is the difference of the weights, ΔJS that of the effects on the output."
_MINIMUM = "The true minimum is ours: the smallest set whose erasure flips the decision, which the paper holds to be out of reach."

SERRANO_SMITH = register(
    Recipe(
        name="serrano-smith",
        title="Serrano & Smith 2019, Is Attention Interpretable?",
        description="Is Attention Interpretable?: Tables 1 to 3, Figures 3 to 13, and fourteen claims",
        options={
            "preset": "serrano-smith",
            "vectors": VECTORS,
            "epochs": 15,
            "learning_rate": 0.001,
            "min_count": 2,
        },
        datasets={
            "sst5": Dataset(1000),
            "imdb_rating": Dataset(500, {"limit": 4000, "max_length": 250}),
            "20news": Dataset(500, {"limit": 4000, "max_length": 250}),
            "ag_news": Dataset(1000, {"limit": 8000}),
        },
        models=tuple(
            Model(network + name, name, {"encoder": encoder, "hierarchical": hierarchical})
            for network, hierarchical in NETWORKS.items()
            for name, encoder in ENCODERS.items()
        ),
        experiments=(
            Experiment(
                "table",
                1,
                "Which corpora?",
                "",
                table_1,
                (
                    "Texts that were cut count as they are read: imdb_rating and 20news have 250 words at most.",
                ),
                corpora=True,
            ),
            Experiment(
                "table",
                2,
                "Does the most attended item alone decide?",
                "single_erasure",
                table_2,
                (
                    "Yahoo, Amazon and Yelp have no counterpart here; of the tables by attention the paper prints HANrnn's alone "
                    "as text. In the released code the random other item could be the top one itself; here it never is.",
                ),
            ),
            Experiment(
                "table",
                3,
                "How well do the models classify?",
                "sharpness",
                table_3,
                (
                    "Other corpora than the paper's (see what differs): ours and theirs are not to be compared row by row.",
                ),
            ),
            Experiment(
                "figure",
                3,
                "How far does the top item move the output, by how far its weight stands out?",
                "single_erasure",
                delta_js(HANRNN),
                (_NO_POINTS,),
                (HANRNN,),
                pictures=delta_js_drawn(3, HANRNN),
            ),
            Experiment(
                "figure",
                4,
                "Where a random item matters more, are the weights nearly tied?",
                "single_erasure",
                negatives(HANRNN),
                (_NO_POINTS,),
                (HANRNN,),
                pictures=negatives_drawn(4, HANRNN),
            ),
            Experiment(
                "figure",
                5,
                "How much must be erased to flip a decision?",
                "flip_set",
                figure_5,
                (_NO_NUMBERS, _MINIMUM),
                FIGURE_5_MODELS,
                pictures=removed_drawn(5, "fraction", *FIGURE_5_MODELS),
            ),
            Experiment(
                "figure",
                6,
                "And without an encoder?",
                "flip_set",
                figure_6,
                (_NO_NUMBERS, _MINIMUM),
                models_with("noenc"),
                pictures=removed_drawn(6, "fraction", *models_with("noenc")),
            ),
            Experiment(
                "figure",
                7,
                "The same as Figure 3 on all models",
                "single_erasure",
                delta_js(*models_with(*ENCODERS)),
                (_NO_POINTS + " It says that ΔJS rises earlier for models with less context.",),
                pictures=delta_js_drawn(7, *models_with(*ENCODERS)),
            ),
            Experiment(
                "figure",
                8,
                "The same as Figure 4 on all models",
                "single_erasure",
                negatives(*models_with(*ENCODERS)),
                (_NO_POINTS + " It says that the models of Yahoo are an exception.",),
                pictures=negatives_drawn(8, *models_with(*ENCODERS)),
            ),
            Experiment(
                "figure",
                9,
                "Does the most attended item alone decide, on all models?",
                "single_erasure",
                figure_9,
                ("The paper's tables are in an image but for HANrnn, whose numbers Table 2 repeats.",),
                pictures=flips_drawn(9, "attention", "attention"),
            ),
            Experiment(
                "figure",
                10,
                "How much must be erased, on all models?",
                "flip_set",
                figure_10,
                (_NO_NUMBERS, _MINIMUM),
                pictures=removed_drawn(10, "fraction", *models_with(*ENCODERS)),
            ),
            Experiment(
                "figure",
                11,
                "How much attention must be erased, on all models?",
                "flip_set",
                figure_11,
                (_NO_NUMBERS,),
                pictures=removed_drawn(11, "mass", *models_with(*ENCODERS)),
            ),
            Experiment(
                "figure",
                12,
                "Does the top item by the gradient decide?",
                "single_erasure",
                figure_12,
                (
                    "The paper's tables are in an image. It says that the gradient's top item flips fewer decisions than attention's in 14 of 24 models.",
                ),
                pictures=flips_drawn(12, "gradient", "gradient"),
            ),
            Experiment(
                "figure",
                13,
                "Does the top item by attention × gradient decide?",
                "single_erasure",
                figure_13,
                (
                    "It says that the product's top item flips more decisions than attention's in all 24 models.",
                ),
                pictures=flips_drawn(13, "product", "attention × gradient"),
            ),
        ),
        claims=CLAIMS,
        differences={
            "Corpora: sst5, 20news and ag_news take the place of Yahoo Answers, Amazon and Yelp, and imdb_rating (eight "
            "ratings) that of another collection of IMDB reviews (ten ratings).": (),
            f"Vectors: a subset of 33,860 words of GloVe 840B ({VECTORS}) in place of word2vec trained on each corpus; other "
            "words are drawn from its distribution.": (),
            "Learning rate 0.001, at most 15 epochs, and words seen twice are known: ours, because the corpora are smaller.": (),
            "The epoch is selected on dev, never on test.": (),
            "imdb_rating, 20news: trained on a sample of 4,000 texts, cut at 250 words.": (
                "imdb_rating",
                "20news",
            ),
            "ag_news: trained on a sample of 8,000 texts of a part of the original training set.": (
                "ag_news",
            ),
            "sst5: single sentences, so that a HAN has only the few texts of two sentences or more to attend over.": (
                "sst5",
            ),
            "Random rankings: the mean of five, where the paper plots the first of five.": (),
        },
        described=described,
        besides=lambda run: {},
    )
)

"""Every option, declared once: the same fields from Python, YAML and flags, of which flags win."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from heedful.declared import base_config, rebuild
from heedful.errors import BadInput
from heedful.intake.encodings import encodable, without_surrogates
from heedful.registry import member_of


def _split_commas(value: object) -> object:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


def split_seeds(value: object) -> object:
    """Read seeds that are separated by commas, each one or from the first to the last.

    >>> split_seeds("0,3,10-12")
    ['0', '3', 10, 11, 12]
    """
    if not isinstance(value, str):
        return value
    found: list[object] = []
    for part in value.split(","):
        ends = _RANGE.fullmatch(part.strip())
        first, last = (int(end) for end in ends.groups()) if ends else (0, -1)
        # Thousands of seeds are a slip, and said to be no number.
        found += range(first, last + 1) if ends and 0 <= last - first < _MOST_SEEDS else [part.strip()]
    return found


_RANGE = re.compile(r"(\d{1,10})-(\d{1,10})")
_MOST_SEEDS = 1000

RENAMED = {"consistency": "stability_only"}
"""Objectives by the names they once had: both are understood, and their runs keep the old one in their names."""


def _renamed(value: object) -> object:
    return RENAMED.get(value, value) if isinstance(value, str) else value


Share = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(ge=1, le=10**9)]
Width = Annotated[int, Field(ge=1, le=2**16)]
"""Numbers side by side in one layer. Whether there is memory for so many is asked before a model is built."""
Times = Annotated[int, Field(ge=1, le=10**5)]
"""How often something is done or drawn for every text."""
Texts = Annotated[int, Field(ge=1, le=10**6)]
"""Texts that are laid out side by side."""
Names = Annotated[tuple[str, ...], BeforeValidator(_split_commas), Field(min_length=1)]
Numbers = Annotated[tuple[Count, ...], BeforeValidator(_split_commas), Field(min_length=1)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]
Seeds = Annotated[tuple[Seed, ...], BeforeValidator(split_seeds), Field(min_length=1)]
Size = Annotated[float, Field(gt=0, le=1e9)]
Sizes = Annotated[tuple[Size, ...], BeforeValidator(_split_commas), Field(min_length=1)]
Metric = Literal["roc_auc", "f1", "accuracy", "macro_f1"]
Norm = Literal["linf", "l2", "l1"]


_LARGEST = 10**12
"""Of any number for which no option says less: beyond it single precision computes with infinity."""


class Options(BaseModel):
    """What a user chooses: fixed once made, and nothing but what is declared."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False)

    @model_validator(mode="after")
    def _within_reason(self) -> Self:
        for name, value in self:
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, int | float) and abs(part) > _LARGEST:
                    raise ValueError(f"{name}: numbers beyond {_LARGEST:.0e} are not computed with")
                if isinstance(part, str) and ("\0" in part or not encodable(part)):
                    raise ValueError(
                        f"{name}: {without_surrogates(part)[:60]!r} holds a character that is not UTF-8 or ends a name; "
                        "rename the file, or write it otherwise"
                    )
        return self

    @model_validator(mode="before")
    @classmethod
    def _paths(cls, values: Any) -> Any:
        """Take paths for what they spell."""
        if not isinstance(values, Mapping):
            return values
        return {name: str(value) if isinstance(value, PurePath) else value for name, value in values.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process builds the class itself, from the options that the files declare there.
        return rebuild, (base_config(type(self)), dict(self))


class DataOptions(Options):
    """Where the texts come from and how they are split into words."""

    dataset: str = Field(
        description="A dataset's name (heedful data list), or a CSV, JSONL or Parquet file, or a folder."
    )
    text_column: str | None = Field(None, description="Column with the text, premise or document.")
    query_column: str | None = Field(
        None, description="Column with the hypothesis or question, where there is one."
    )
    label_column: str | None = Field(None, description="Column with the label or answer.")
    label_names: Names | None = Field(None, description="Names of the classes in order, separated by commas.")
    dev_file: str | None = Field(None, description="File to use as development split.")
    test_file: str | None = Field(None, description="File to use as test split.")
    dev_fraction: Share = Field(
        0.1, gt=0, description="Share of train carved out as dev where there is none."
    )
    test_fraction: Share = Field(
        0.1, gt=0, description="Share of train carved out as test where there is none."
    )
    split_seed: Seed = Field(0, description="Seed of the splits that are carved out; not the training seed.")
    label_seed: Seed | None = Field(
        None, description="Shuffle the training labels with this seed, so that there is nothing to learn."
    )
    skip_bad_rows: bool = Field(False, description="Leave out rows without text or label, and count them.")
    limit: Count | None = Field(None, description="Train on a sample of this many texts.")
    min_words: Count = Field(1, description="Leave out texts with fewer words.")
    max_length: Count | None = Field(None, description="Cut texts after this many tokens.")
    min_count: Count = Field(1, description="Words seen less often in train are unknown.")
    open_vocabulary: bool = Field(
        False,
        description="Also know words that only dev and test contain, if the vectors have them.",
    )
    lowercase: bool = Field(True, description="Fold words to lower case.")
    punctuation: bool = Field(True, description="Keep punctuation marks as tokens.")
    numbers: bool = Field(True, description="Keep words with digits; else each becomes 'qqq'.")


class ModelOptions(Options):
    """The four stages: what embeds, encodes, attends and decodes. Encoders may declare more."""

    declared_in: ClassVar[tuple[str, str]] = ("heedful.models.encoders", "heedful.encoders")

    encoder: str = Field("bilstm", description="Encoder (heedful list encoders), or hf:NAME-OR-PATH.")
    hidden: Width = Field(
        128, description="Size of a state: per direction (rnn), per width (cnn), or of the projection."
    )
    widths: Annotated[
        tuple[Annotated[int, Field(ge=1, le=1024)], ...], BeforeValidator(_split_commas), Field(min_length=1)
    ] = Field((1, 3, 5, 7), description="Window widths of a cnn, odd or even, separated by commas.")
    activation: Literal["relu", "tanh"] = Field(
        "relu", description="Activation of cnn, average and pointer encoders."
    )
    hierarchical: bool = Field(False, description="Words, then sentences, with attention on both levels.")
    sentence_encoder: str | None = Field(
        None, description="Encoder over sentences; the same as for words if not given."
    )
    pooling: Literal["attention", "mean", "max", "last", "cls"] = Field(
        "attention", description="How states become one vector; only attention has a heatmap."
    )
    attention: Literal["additive", "dot"] = Field("additive", description="Similarity function of attention.")
    attention_size: Width | None = Field(
        None, description="Inner size of additive attention; half a state if not given."
    )
    heads: Annotated[int, Field(ge=1, le=1024)] = Field(1, description="Attention heads.")
    temperature: float = Field(1.0, gt=0, le=1e6, description="Divides the attention scores.")
    normaliser: Literal["softmax", "sparsemax", "entmax15"] = Field(
        "softmax", description="Scores to weights."
    )
    decoder: Literal["linear", "mlp"] = Field("linear", description="Decoder; linear allows exact audits.")
    decoder_hidden: Width = Field(128, description="Inner size of an mlp decoder.")
    embedding_size: Width = Field(300, description="Size of a word embedding if no vectors are given.")
    train_embeddings: bool = Field(True, description="Train the word embeddings.")
    embedding_dropout: Share = Field(0.3, description="Dropout before the encoder.")
    sentence_dropout: Share = Field(0.0, description="Dropout before the sentence encoder.")
    decoder_dropout: Share = Field(0.3, description="Dropout before the decoder.")

    word_mask: Literal["none", "word", "group"] = Field(
        "none",
        description="Multiply every word's embedding by a mask: learnt from the embedding (word), or one number for each group of similar words (group, with --mask-vectors).",
    )
    mask_groups: Times = Field(50, description="Groups of similar words (word_mask group).")


class TrainingOptions(Options):
    """How the weights are learnt."""

    objective: Annotated[str, BeforeValidator(_renamed)] = Field(
        "vanilla", description="What is minimised (heedful list objectives)."
    )
    vectors: str | None = Field(
        None, description="Pretrained vectors: an asset's name, or a .txt, .vec, .npz, .npy file."
    )
    epochs: Count | None = Field(
        None,
        description="Passes over train, at most; 8 if not given, 16 for deceptive, 20 for steady and stability_only.",
    )
    patience: Count | None = Field(
        3,
        description="Stop after this many epochs without a better dev metric; deceptive waits twice as long, "
        "steady and stability_only three times.",
    )
    batch_size: Texts = Field(32, description="Texts per step.")
    learning_rate: float = Field(1e-3, gt=0, le=100, description="Adam's step size.")
    weight_decay: float = Field(1e-5, ge=0, le=1000, description="L2 penalty, on everything but attention.")
    decay_attention: bool = Field(False, description="Put weight decay on attention too.")
    amsgrad: bool = Field(False, description="Adam's AMSGrad variant.")
    clip: float | None = Field(5.0, gt=0, description="Largest norm of a step's gradient.")
    class_weights: bool = Field(False, description="Weight classes by how rare they are.")
    metric: Metric | None = Field(
        None, description="Dev metric that selects the epoch; the dataset's own if not given."
    )
    seed: Seed = Field(0, description="Seed of everything random.")
    threads: Annotated[int, Field(ge=1, le=256)] = Field(
        1, description="Threads of one process; more is often slower for small models."
    )

    mask_vectors: str | None = Field(
        None, description="Vectors, by name or file, whose near words share a mask (word_mask group)."
    )


class ObjectiveOptions(Options):
    """Options that several objectives read; those of a single objective are declared in its file.

    They count for a run's identity only if its objective reads them.
    """

    declared_in: ClassVar[tuple[str, str]] = ("heedful.training.objectives", "heedful.objectives")

    base: str | None = Field(
        None,
        description="Run to imitate (imitation) or to stay close to (seat, steady, stability_only; if not given, a vanilla model "
        "is found or trained); or a teacher of any architecture, whose predictions are learnt besides the labels (erasure, "
        "selective, diverse, unreplaceable).",
    )
    strength: float = Field(
        1.0,
        gt=0,
        description="Weight against the prediction: of the divergence (imitation; λ of Wiegreffe & Pinter), or of looking "
        "away from the evidence (deceptive; λ of Pruthi et al.).",
    )
    radius: Size | None = Field(
        None,
        description="Size of the perturbation: of embeddings (word_at, word_iat: in units of the text's own embeddings; steady, "
        "stability_only: standard deviation of the noise), scores (attention_at, attention_iat, attention_rp) or weights (seat); "
        "the objective's default if not given.",
    )
    adversarial: float = Field(
        1.0,
        ge=0,
        description="Weight of the perturbed loss (word_at, word_iat, attention_rp, attention_at, attention_iat).",
    )
    closeness: float | None = Field(
        None,
        ge=0,
        description="Weight of staying close to the predictions of --base (λ₀ of steady; erasure, selective, diverse, "
        "unreplaceable).",
    )
    stability: float | None = Field(
        None,
        ge=0,
        description="Weight of the stability term (λ₁ of seat, λ of steady and stability_only; in erasure, of other words keeping "
        "their weights when some are deleted); 0 leaves it out.",
    )
    overlap: float | None = Field(
        None,
        ge=0,
        description="Weight of what keeps the vanilla heatmap (λ₂: of the top-k loss in seat, of the distance to it in "
        "steady); 0 leaves it out.",
    )
    top_k: Count = Field(
        7,
        description="Items whose weights are held where they are (seat), or whose overlap is logged (steady, stability_only).",
    )
    trained: Literal["attention", "all"] | None = Field(
        None,
        description="What is trained: only attention, or all; the objective's default if not given (seat, steady, stability_only).",
    )
    steps: Times = Field(
        10,
        description="Steps of the search for a perturbation (seat with --inner pgd, steady and stability_only with "
        "--noise adversarial).",
    )
    unknown: Share | None = Field(
        None,
        description="Share of words read as unknown during training, because new texts have words that train does not "
        "(steady, stability_only; sub-words are never unknown).",
    )
    sufficiency: float | None = Field(
        None,
        ge=0,
        description="Weight of predicting the label from the top words alone (erasure, selective).",
    )
    pressure: float | None = Field(
        None,
        ge=0,
        description="Weight of what is asked for besides the labels: few words (selective), states that differ (diverse), no "
        "other heatmap with the same prediction (unreplaceable).",
    )
    noise: Literal["random", "adversarial"] = Field(
        "random",
        description="Noise on the embeddings: random, or the worst that a search finds (steady, stability_only).",
    )
    attacked: str | None = Field(
        None,
        description="Parquet file with attacked training texts, to train on beside them (augmented, flat).",
    )


class TrainConfig(DataOptions, ModelOptions, TrainingOptions, ObjectiveOptions):
    """Everything that decides what a training run computes."""

    preset: str | None = Field(
        None, description="A paper's hyperparameters (heedful list presets), for what is not given."
    )

    @model_validator(mode="after")
    def _agree(self) -> TrainConfig:
        if self.open_vocabulary and self.vectors is None:
            raise ValueError(
                "open_vocabulary: words that train does not contain need pretrained vectors; give --vectors"
            )
        if "hierarchical" in (self.encoder, self.sentence_encoder):
            raise ValueError(
                "encoder: choose a hierarchical network with --hierarchical; --encoder names the encoder of its words"
            )
        if self.pooling == "cls" and member_of("hf", self.encoder) is None:
            raise ValueError("pooling: cls needs an encoder with a [CLS] token, such as hf:NAME-OR-PATH")
        if self.hierarchical and member_of("hf", self.encoder) is not None:
            raise ValueError(
                "hierarchical: a pretrained transformer reads whole texts; choose another encoder"
            )
        if "pointer" in (self.encoder, self.sentence_encoder) and self.hierarchical:
            raise ValueError(
                "hierarchical: pointer decides by single words, and a sentence is read by its states; choose another encoder"
            )
        if self.encoder == "pointer" and self.pooling != "attention":
            raise ValueError("pooling: pointer needs attention; use --pooling attention")
        if self.hierarchical and self.pooling not in ("attention", "mean", "max", "last"):
            raise ValueError("pooling: a hierarchical network has no [CLS] token")
        if (self.word_mask == "group") != (self.mask_vectors is not None):
            raise ValueError(
                "word_mask: groups of similar words are found by vectors; give --word-mask group and --mask-vectors together"
            )
        return self


class AuditOptions(Options):
    """Which texts a model is audited on, and how; options of a single audit are declared in its file."""

    declared_in: ClassVar[tuple[str, str]] = ("heedful.audits.questions", "heedful.audits")

    split: Literal["train", "dev", "test"] = Field("test", description="Split of a dataset to audit on.")
    text_column: str | None = Field(None, description="A file's column with the text, premise or document.")
    query_column: str | None = Field(None, description="A file's column with the hypothesis or question.")
    label_column: str | None = Field(None, description="A file's column with the label; none is needed.")
    skip_bad_rows: bool = Field(
        False,
        description="Leave out rows of a file without text or label, and count them; not with scores of your own.",
    )
    limit: Count | None = Field(None, description="Audit a random sample of this many texts.")
    quick: bool = Field(
        False, description="Audit a sample of 500 texts, stop in time, and report how many were audited."
    )
    budget: float = Field(60.0, gt=0, le=1e9, description="Seconds that --quick may take, roughly.")
    source: str = Field(
        "attention",
        description="What is audited: attention, an explainer, or a file with scores for every item.",
    )
    layers: Literal["last", "all"] = Field(
        "last",
        description="Where other weights act in a transformer: in the last layer alone, or on the words' columns of all layers, "
        "for which the whole network runs each time.",
    )
    seeds: Seeds | None = Field(
        None,
        description="Seeds of the twins that imitation trains (the papers' nine, or three of them with --quick), or of the "
        "other models of seed_stability.",
    )
    attacks: Names = Field(
        ("pwws",),
        description="Attacks by name, separated by commas (heedful list attacks); consistency takes the first "
        "(robustness, consistency).",
    )
    attack_vectors: str | None = Field(
        None,
        description="Counter-fitted vectors, or a JSON file with the neighbours of each word, for attacks that take "
        "substitutes from them (robustness, consistency).",
    )
    attack_synonyms: str | None = Field(
        None,
        description="A file of substitutes in place of an attack's own: a word and its synonyms on each line, or JSON "
        "(robustness, consistency).",
    )
    attack_sememes: str | None = Field(
        None,
        description="HowNet as a file, for attacks that need it: word, part of speech and sememes on each line, or JSON "
        "(robustness, consistency).",
    )
    attack_language_model: str | None = Field(
        None,
        description="A language model, for attacks that need one: a folder, or a name on the hub. It is masked (bae, clare), "
        "or masked or causal (genetic, genetic_faster) (robustness, consistency).",
    )
    attack_fluency: bool = Field(
        True,
        description="Ask the language model which substitutes are fluent, where an attack does; without, none is needed "
        "(robustness, consistency).",
    )
    attack_similarity: bool = Field(
        True,
        description="Ask for similar sentences, where an attack does; without, it is faster and coarser "
        "(robustness, consistency).",
    )
    known_words: bool = Field(
        False, description="Use only substitutes that the model's vocabulary knows (robustness, consistency)."
    )
    draws: Times = Field(
        1, description="How often noise or words are drawn for each text (stability audits)."
    )
    top_k: Count = Field(7, description="Top items that make a rationale (rationale, stability audits).")
    exact_leave_one_out: bool = Field(
        False,
        description="Delete every item of long texts by itself and read to the end, in time that grows with the square of "
        "their length; else blocks of neighbours are deleted where a model knows no shorter way.",
    )
    seed: Seed = Field(0, description="Seed of samples, shuffles and intervals.")
    batch_size: Texts = Field(64, description="Texts read together; changes speed and memory, not numbers.")


def check_top_k(options: ObjectiveOptions | AuditOptions, *, longest: int) -> None:
    """Refuse more top items than any text has. The default is for texts of any length: shorter ones use all they have."""
    if longest < options.top_k != type(options).model_fields["top_k"].default:
        raise BadInput(
            f"No text has {options.top_k} items, and the longest has {longest}: choose a smaller --top-k."
        )

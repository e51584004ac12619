"""What a user may choose, once: the same fields from Python, from YAML and from flags, flags last."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from heedful.errors import BadInput
from heedful.registry import member_of


def _split_commas(value: object) -> object:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


Share = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(ge=1)]
Words = Annotated[tuple[str, ...], BeforeValidator(_split_commas), Field(min_length=1)]
Numbers = Annotated[tuple[Count, ...], BeforeValidator(_split_commas), Field(min_length=1)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]
Seeds = Annotated[tuple[Seed, ...], BeforeValidator(_split_commas), Field(min_length=1)]
Size = Annotated[float, Field(gt=0)]
Sizes = Annotated[tuple[Size, ...], BeforeValidator(_split_commas), Field(min_length=1)]
Metric = Literal["roc_auc", "f1", "accuracy", "macro_f1"]
Norm = Literal["linf", "l2", "l1"]


class _Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False)


class DataOptions(_Options):
    """Where the texts come from and how they are cut into words."""

    dataset: str = Field(
        description="A dataset's name (heedful data list), or a CSV, JSONL or Parquet file, or a folder."
    )
    text_column: str | None = Field(None, description="Column with the text, premise or document.")
    query_column: str | None = Field(
        None, description="Column with the hypothesis or question, where there is one."
    )
    label_column: str | None = Field(None, description="Column with the label or answer.")
    label_names: Words | None = Field(None, description="Names of the classes in order, separated by commas.")
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
        None, description="Shuffle the labels of train with this seed, so that there is nothing to learn."
    )
    skip_bad_rows: bool = Field(False, description="Leave out rows without text or label, and count them.")
    limit: Count | None = Field(None, description="Train on a sample of this many texts.")
    min_words: Count = Field(1, description="Leave out texts with fewer words.")
    max_length: Count | None = Field(None, description="Cut texts after this many tokens.")
    min_count: Count = Field(1, description="Words seen less often in train are unknown.")
    open_vocabulary: bool = Field(
        False,
        description="Know the words of dev and test too that the vectors hold, not those of train alone.",
    )
    lowercase: bool = Field(True, description="Fold words to lower case.")
    punctuation: bool = Field(True, description="Keep punctuation marks as tokens.")
    numbers: bool = Field(True, description="Keep words with digits; else each becomes 'qqq'.")


class ModelOptions(_Options):
    """The four stages: what embeds, encodes, attends and decodes."""

    encoder: str = Field("bilstm", description="Encoder (heedful list encoders), or hf:NAME-OR-PATH.")
    hidden: Count = Field(
        128, description="Size of a state: per direction (rnn), per width (cnn), or of the projection."
    )
    widths: Numbers = Field(
        (1, 3, 5, 7), description="Window widths of a cnn, odd or even, separated by commas."
    )
    activation: Literal["relu", "tanh"] = Field(
        "relu", description="Activation of cnn, average and pointer encoders."
    )
    hierarchical: bool = Field(False, description="Words, then sentences, with attention on both levels.")
    sentence_encoder: str | None = Field(
        None, description="Encoder over sentences; the same as for words if not given."
    )
    pooling: Literal["attention", "mean", "max", "last", "cls"] = Field(
        "attention", description="How states become one vector; all but attention have no heatmap."
    )
    attention: Literal["additive", "dot"] = Field("additive", description="Similarity function of attention.")
    attention_size: Count | None = Field(
        None, description="Inner size of additive attention; half a state if not given."
    )
    heads: Count = Field(1, description="Attention heads.")
    temperature: float = Field(1.0, gt=0, description="Divides the attention scores.")
    normaliser: Literal["softmax", "sparsemax", "entmax15"] = Field(
        "softmax", description="Scores to weights."
    )
    decoder: Literal["linear", "mlp"] = Field("linear", description="Decoder; linear allows exact audits.")
    decoder_hidden: Count = Field(128, description="Inner size of an mlp decoder.")
    embedding_size: Count = Field(300, description="Size of a word embedding where no vectors give it.")
    train_embeddings: bool = Field(True, description="Train the word embeddings.")
    embedding_dropout: Share = Field(0.3, description="Dropout before the encoder.")
    sentence_dropout: Share = Field(0.0, description="Dropout before the sentence encoder.")
    decoder_dropout: Share = Field(0.3, description="Dropout before the decoder.")


class TrainingOptions(_Options):
    """How the weights are learnt."""

    objective: str = Field("vanilla", description="What is minimised (heedful list objectives).")
    vectors: str | None = Field(
        None, description="Pretrained vectors: an asset's name, or a .txt, .vec, .npz, .npy file."
    )
    epochs: Count | None = Field(
        None,
        description="Passes over train, at most; 8 if not given, 16 for deceptive, 20 for steady and consistency.",
    )
    patience: Count | None = Field(
        3,
        description="Stop after this many epochs without a better dev metric; deceptive waits twice as long, steady and consistency three times.",
    )
    batch_size: Count = Field(32, description="Texts per step.")
    learning_rate: float = Field(1e-3, gt=0, description="Adam's step size.")
    weight_decay: float = Field(1e-5, ge=0, description="L2 penalty, on everything but attention.")
    decay_attention: bool = Field(False, description="Put weight decay on attention too.")
    amsgrad: bool = Field(False, description="Adam's AMSGrad variant.")
    clip: float | None = Field(5.0, gt=0, description="Largest norm of a step's gradient.")
    class_weights: bool = Field(False, description="Weigh classes by how rare they are.")
    metric: Metric | None = Field(
        None, description="Dev metric that selects the epoch; the dataset's own if not given."
    )
    seed: Seed = Field(0, description="Seed of everything random.")
    threads: Count = Field(1, description="Threads of one process; more is often slower for small models.")


class ObjectiveOptions(_Options):
    """What single objectives need besides. They count for a run's identity only where its objective reads them."""

    base: str | None = Field(
        None,
        description="Run that is imitated (imitation), or stayed close to (seat, steady, consistency), for which a vanilla model is found or trained if none is given; or a teacher whose predictions are learnt besides the labels, of any architecture (erasure, selective, diverse, unreplaceable).",
    )
    divergence: Literal["jsd", "kl"] = Field(
        "jsd",
        description="How far attention is from the base's: AtteFa's JSD, or Wiegreffe & Pinter's KL (imitation).",
    )
    strength: float = Field(
        1.0,
        gt=0,
        description="Weight against the prediction: of the divergence (imitation; λ of Wiegreffe & Pinter), or of looking away from the evidence (deceptive; λ of Pruthi et al.).",
    )
    select_on: Literal["dev", "test"] = Field(
        "dev", description="Split that selects a twin's epoch; test follows the AtteFa paper (imitation)."
    )
    radius: Size | None = Field(
        None,
        description="Size of the perturbation: on embeddings (word_at, word_iat: in units of the text's own embeddings; steady, consistency: deviation of the noise), scores (attention_at, attention_iat, attention_rp) or weights (seat); the objective's own if not given.",
    )
    norm: Norm = Field("linf", description="Norm that bounds the perturbation of the weights (seat).")
    adversarial: float = Field(
        1.0,
        ge=0,
        description="Weight of the perturbed loss (word_at, word_iat, attention_rp, attention_at, attention_iat).",
    )
    neighbours: Count = Field(15, description="Nearest words towards which a word is moved (word_iat).")
    closeness: float | None = Field(
        None,
        ge=0,
        description="Weight of staying close to the predictions of --base (λ₀ of steady; erasure, selective, diverse, unreplaceable).",
    )
    stability: float | None = Field(
        None,
        ge=0,
        description="Weight of the stability term (λ₁ of seat, λ of steady and consistency; in erasure, of other words keeping their weights when some are deleted); 0 leaves it out.",
    )
    overlap: float | None = Field(
        None,
        ge=0,
        description="Weight of what keeps the vanilla heatmap (λ₂: of the top-k loss in seat, of the distance to it in steady); 0 leaves it out.",
    )
    top_k: Count = Field(
        7,
        description="Items whose weights are held where they are (seat), or whose overlap is logged (steady, consistency).",
    )
    trained: Literal["attention", "all"] | None = Field(
        None,
        description="What is trained: attention alone, or all; the objective's own if not given (seat, steady, consistency).",
    )
    inner: Literal["exact", "pgd"] | None = Field(
        None,
        description="Inner maximum: in closed form, which binary linear decoders allow, or by search (seat).",
    )
    steps: Count = Field(
        10,
        description="Steps of the search for a perturbation (seat with --inner pgd, steady and consistency with --noise adversarial).",
    )
    unknown: Share | None = Field(
        None,
        description="Share of words read as unknown while training: new texts hold words that train does not (steady, consistency; sub-words are never unknown).",
    )
    sufficiency: float | None = Field(
        None, ge=0, description="Weight of the label being told by the top words alone (erasure, selective)."
    )
    comprehensiveness: float | None = Field(
        None, ge=0, description="Weight of the label not being told without the top words (erasure)."
    )
    alignment: float | None = Field(
        None,
        ge=0,
        description="Weight of attention being what deleting each word does to the prediction (erasure).",
    )
    pressure: float | None = Field(
        None,
        ge=0,
        description="Weight of what is asked for besides the labels: few words (selective), states that differ (diverse), no other heatmap with the same prediction (unreplaceable).",
    )
    noise: Literal["random", "adversarial"] = Field(
        "random",
        description="Noise on the embeddings: drawn, or the worst that is found (steady, consistency).",
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
                "open_vocabulary: words that train does not hold need pretrained vectors; give --vectors"
            )
        if "hierarchical" in (self.encoder, self.sentence_encoder):
            raise ValueError(
                "encoder: a hierarchical network is asked for by --hierarchical; --encoder names what reads its words"
            )
        if self.pooling == "cls" and member_of("hf", self.encoder) is None:
            raise ValueError("pooling: cls needs an encoder with a [CLS] token, such as hf:NAME-OR-PATH")
        if self.hierarchical and member_of("hf", self.encoder) is not None:
            raise ValueError(
                "hierarchical: a pretrained transformer reads whole texts; choose another encoder"
            )
        if "pointer" in (self.encoder, self.sentence_encoder) and self.hierarchical:
            raise ValueError(
                "hierarchical: pointer speaks by single words, and a sentence is read by its states; choose another encoder"
            )
        if self.encoder == "pointer" and self.pooling != "attention":
            raise ValueError("pooling: pointer says by attention what counts; use --pooling attention")
        if self.hierarchical and self.pooling not in ("attention", "mean", "max", "last"):
            raise ValueError("pooling: a hierarchical network has no [CLS] token")
        return self


class AuditOptions(_Options):
    """Which texts a model is audited on, and how."""

    split: Literal["train", "dev", "test"] = Field("test", description="Split of a dataset to audit on.")
    text_column: str | None = Field(None, description="A file's column with the text, premise or document.")
    query_column: str | None = Field(None, description="A file's column with the hypothesis or question.")
    label_column: str | None = Field(None, description="A file's column with the label; none is needed.")
    limit: Count | None = Field(None, description="Audit a random sample of this many texts.")
    quick: bool = Field(
        False, description="Audit a sample of 500 texts and stop in time; says how many it took."
    )
    budget: float = Field(60.0, gt=0, description="Seconds that --quick may take, about.")
    source: str = Field(
        "attention",
        description="What is audited: attention, an explainer, or a file with scores for every item.",
    )
    pairs: Words | None = Field(
        None,
        description="Pairs of explainers for agreement, such as attention:gradient, separated by commas.",
    )
    permutations: Count = Field(100, description="Shuffles per text.")
    epsilon: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="How far a counterfactual may move the prediction; 0.01, or 0.05 for questions.",
    )
    method: Literal["exact", "search"] = Field(
        "exact", description="Counterfactual heatmaps: exact where possible, or the published search."
    )
    seeds: Seeds | None = Field(
        None,
        description="Seeds of the twins that imitation trains (the papers' nine, or three of them with --quick), or of the other models of seed_stability.",
    )
    noise: Sizes = Field(
        (1e-3, 5e-3, 1e-2, 5e-2),
        description="Standard deviations of the noise on embeddings, separated by commas (embedding_stability).",
    )
    replaced: Numbers = Field(
        (1, 2, 3), description="Words replaced in a text, separated by commas (word_stability)."
    )
    synonyms: str | None = Field(
        None,
        description="Where synonyms come from: vectors by name or file, or a file with a word and its synonyms on each line, or JSON; also .gz (word_stability).",
    )
    draws: Count = Field(1, description="Times that noise or words are drawn for a text (stability audits).")
    top_k: Count = Field(7, description="Top items that make a rationale (rationale, stability audits).")
    radii: Sizes = Field(
        (0.001, 0.01, 0.05, 0.1, 0.5),
        description="Sizes of a change of the weights, separated by commas (certificate).",
    )
    sensitivity: bool = Field(
        False,
        description="Search for the smallest shift of the top words that changes the decision (rationale); slow.",
    )
    shuffled_labels: bool = Field(
        True, description="Train the model once more on shuffled labels, or find it (randomisation)."
    )
    random_rankings: Count = Field(5, description="Random rankings that flip_set compares with.")
    seed: Seed = Field(0, description="Seed of samples, shuffles and intervals.")
    batch_size: Count = Field(64, description="Texts read together; changes speed and memory, not numbers.")


def refuse_too_many(options: ObjectiveOptions | AuditOptions, *, longest: int) -> None:
    """Refuse top items that no text has. The usual number is for texts of any length: shorter ones give what they have."""
    if longest < options.top_k != type(options).model_fields["top_k"].default:
        raise BadInput(
            f"No text has {options.top_k} items, and the longest has {longest}: choose a smaller --top-k."
        )

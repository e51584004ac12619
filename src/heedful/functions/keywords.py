"""Options as typed keyword arguments, made of the configs: python -m heedful.functions.keywords_source writes this file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypedDict


class TrainKeywords(TypedDict, total=False):
    """Options of `heedful train`."""

    activation: Literal["relu", "tanh"]
    """Activation of cnn, average and pointer encoders."""
    adversarial: float
    """Weight of the perturbed loss (word_at, word_iat, attention_rp, attention_at, attention_iat)."""
    alignment: float | None
    """Weight of attention matching what deleting each word does to the prediction (erasure)."""
    amsgrad: bool
    """Adam's AMSGrad variant."""
    attacked: str | Path | None
    """Parquet file with attacked training texts, to train on beside them (augmented, flat)."""
    attention: Literal["additive", "dot"]
    """Similarity function of attention."""
    attention_size: int | None
    """Inner size of additive attention; half a state if not given."""
    base: str | Path | None
    """Run to imitate (imitation) or to stay close to (seat, steady, stability_only; if not given, a vanilla model is found or trained); or a teacher of any architecture, whose predictions are learnt besides the labels (erasure, selective, diverse, unreplaceable)."""
    batch_size: int
    """Texts per step."""
    beta: float
    """Weight of the entropy of the word masks (β of flat); 0 leaves it out."""
    certainty: float
    """Share of the loss that is about all substitutes at once (certified)."""
    class_weights: bool
    """Weight classes by how rare they are."""
    clip: float | None
    """Largest norm of a step's gradient."""
    closeness: float | None
    """Weight of staying close to the predictions of --base (λ₀ of steady; erasure, selective, diverse, unreplaceable)."""
    comprehensiveness: float | None
    """Weight of the label being unpredictable without the top words (erasure)."""
    decay_attention: bool
    """Put weight decay on attention too."""
    decoder: Literal["linear", "mlp"]
    """Decoder; linear allows exact audits."""
    decoder_dropout: float
    """Dropout before the decoder."""
    decoder_hidden: int
    """Inner size of an mlp decoder."""
    dev_file: str | Path | None
    """File to use as development split."""
    dev_fraction: float
    """Share of train carved out as dev where there is none."""
    divergence: Literal["jsd", "kl"]
    """How far attention is from the base's: AtteFa's JSD, or Wiegreffe & Pinter's KL (imitation)."""
    embedding_dropout: float
    """Dropout before the encoder."""
    embedding_size: int
    """Size of a word embedding if no vectors are given."""
    encoder: str
    """Encoder (heedful list encoders), or hf:NAME-OR-PATH."""
    epochs: int | None
    """Passes over train, at most; 8 if not given, 16 for deceptive, 20 for steady and stability_only."""
    gamma: float
    """Weight of replaced words and their substitutes being equally important (γ of flat); 0 leaves it out."""
    heads: int
    """Attention heads."""
    hidden: int
    """Size of a state: per direction (rnn), per width (cnn), or of the projection."""
    hierarchical: bool
    """Words, then sentences, with attention on both levels."""
    inner: Literal["exact", "pgd"] | None
    """Inner maximum: in closed form, which binary linear decoders allow, or by search (seat)."""
    label_column: str | None
    """Column with the label or answer."""
    label_names: Sequence[str] | str | None
    """Names of the classes in order, separated by commas."""
    label_seed: int | None
    """Shuffle the training labels with this seed, so that there is nothing to learn."""
    learning_rate: float
    """Adam's step size."""
    limit: int | None
    """Train on a sample of this many texts."""
    lowercase: bool
    """Fold words to lower case."""
    mask_groups: int
    """Groups of similar words (word_mask group)."""
    mask_vectors: str | Path | None
    """Vectors, by name or file, whose near words share a mask (word_mask group)."""
    max_length: int | None
    """Cut texts after this many tokens."""
    metric: Literal["roc_auc", "f1", "accuracy", "macro_f1"] | None
    """Dev metric that selects the epoch; the dataset's own if not given."""
    min_count: int
    """Words seen less often in train are unknown."""
    min_words: int
    """Leave out texts with fewer words."""
    neighbours: int
    """Nearest words towards which a word is moved (word_iat)."""
    noise: Literal["random", "adversarial"]
    """Noise on the embeddings: random, or the worst that a search finds (steady, stability_only)."""
    norm: Literal["linf", "l2", "l1"]
    """Norm that bounds the perturbation of the weights (seat)."""
    normaliser: Literal["softmax", "sparsemax", "entmax15"]
    """Scores to weights."""
    numbers: bool
    """Keep words with digits; else each becomes 'qqq'."""
    objective: str
    """What is minimised (heedful list objectives)."""
    open_vocabulary: bool
    """Also know words that only dev and test contain, if the vectors have them."""
    overlap: float | None
    """Weight of what keeps the vanilla heatmap (λ₂: of the top-k loss in seat, of the distance to it in steady); 0 leaves it out."""
    patience: int | None
    """Stop after this many epochs without a better dev metric; deceptive waits twice as long, steady and stability_only three times."""
    pooling: Literal["attention", "mean", "max", "last", "cls"]
    """How states become one vector; only attention has a heatmap."""
    preset: str | None
    """A paper's hyperparameters (heedful list presets), for what is not given."""
    pressure: float | None
    """Weight of what is asked for besides the labels: few words (selective), states that differ (diverse), no other heatmap with the same prediction (unreplaceable)."""
    punctuation: bool
    """Keep punctuation marks as tokens."""
    query_column: str | None
    """Column with the hypothesis or question, where there is one."""
    radius: float | None
    """Size of the perturbation: of embeddings (word_at, word_iat: in units of the text's own embeddings; steady, stability_only: standard deviation of the noise), scores (attention_at, attention_iat, attention_rp) or weights (seat); the objective's default if not given."""
    seed: int
    """Seed of everything random."""
    select_on: Literal["dev", "test"]
    """Split that selects a twin's epoch; test follows the AtteFa paper (imitation)."""
    sentence_dropout: float
    """Dropout before the sentence encoder."""
    sentence_encoder: str | None
    """Encoder over sentences; the same as for words if not given."""
    skip_bad_rows: bool
    """Leave out rows without text or label, and count them."""
    split_seed: int
    """Seed of the splits that are carved out; not the training seed."""
    stability: float | None
    """Weight of the stability term (λ₁ of seat, λ of steady and stability_only; in erasure, of other words keeping their weights when some are deleted); 0 leaves it out."""
    steps: int
    """Steps of the search for a perturbation (seat with --inner pgd, steady and stability_only with --noise adversarial)."""
    strength: float
    """Weight against the prediction: of the divergence (imitation; λ of Wiegreffe & Pinter), or of looking away from the evidence (deceptive; λ of Pruthi et al.)."""
    substitutes: str | Path | None
    """What may stand in the place of words (certified): counter-fitted vectors, a file of neighbours or synonyms, or wordnet."""
    sufficiency: float | None
    """Weight of predicting the label from the top words alone (erasure, selective)."""
    temperature: float
    """Divides the attention scores."""
    test_file: str | Path | None
    """File to use as test split."""
    test_fraction: float
    """Share of train carved out as test where there is none."""
    text_column: str | None
    """Column with the text, premise or document."""
    threads: int
    """Threads of one process; more is often slower for small models."""
    top_k: int
    """Items whose weights are held where they are (seat), or whose overlap is logged (steady, stability_only)."""
    train_embeddings: bool
    """Train the word embeddings."""
    trained: Literal["attention", "all"] | None
    """What is trained: only attention, or all; the objective's default if not given (seat, steady, stability_only)."""
    unknown: float | None
    """Share of words read as unknown during training, because new texts have words that train does not (steady, stability_only; sub-words are never unknown)."""
    vectors: str | Path | None
    """Pretrained vectors: an asset's name, or a .txt, .vec, .npz, .npy file."""
    weight_decay: float
    """L2 penalty, on everything but attention."""
    widths: Sequence[int] | str
    """Window widths of a cnn, odd or even, separated by commas."""
    word_mask: Literal["none", "word", "group"]
    """Multiply every word's embedding by a mask: learnt from the embedding (word), or one number for each group of similar words (group, with --mask-vectors)."""


class AuditKeywords(TypedDict, total=False):
    """Options of `heedful audit`."""

    attack_fluency: bool
    """Ask the language model which substitutes are fluent, where an attack does; without, none is needed (robustness, consistency)."""
    attack_language_model: str | Path | None
    """A language model, for attacks that need one: a folder, or a name on the hub. It is masked (bae, clare), or masked or causal (genetic, genetic_faster) (robustness, consistency)."""
    attack_sememes: str | Path | None
    """HowNet as a file, for attacks that need it: word, part of speech and sememes on each line, or JSON (robustness, consistency)."""
    attack_similarity: bool
    """Ask for similar sentences, where an attack does; without, it is faster and coarser (robustness, consistency)."""
    attack_synonyms: str | Path | None
    """A file of substitutes in place of an attack's own: a word and its synonyms on each line, or JSON (robustness, consistency)."""
    attack_vectors: str | Path | None
    """Counter-fitted vectors, or a JSON file with the neighbours of each word, for attacks that take substitutes from them (robustness, consistency)."""
    attacks: Sequence[str] | str
    """Attacks by name, separated by commas (heedful list attacks); consistency takes the first (robustness, consistency)."""
    batch_size: int
    """Texts read together; changes speed and memory, not numbers."""
    budget: float
    """Seconds that --quick may take, roughly."""
    checkpoints: Sequence[str] | str | None
    """Other checkpoints of the same model, such as those of other seeds: folders, runs or hf:NAME, separated by commas (seed_stability)."""
    draws: int
    """How often noise or words are drawn for each text (stability audits)."""
    epsilon: float | None
    """How far a counterfactual may move the prediction; 0.01, or 0.05 for questions."""
    exact_leave_one_out: bool
    """Delete every item of long texts by itself and read to the end, in time that grows with the square of their length; else blocks of neighbours are deleted where a model knows no shorter way."""
    known_words: bool
    """Use only substitutes that the model's vocabulary knows (robustness, consistency)."""
    label_column: str | None
    """A file's column with the label; none is needed."""
    layers: Literal["last", "all"]
    """Where other weights act in a transformer: in the last layer alone, or on the words' columns of all layers, for which the whole network runs each time."""
    limit: int | None
    """Audit a random sample of this many texts."""
    method: Literal["exact", "search"]
    """Counterfactual heatmaps: exact where possible, or the published search."""
    noise: Sequence[float] | str
    """Standard deviations of the noise on embeddings, separated by commas (embedding_stability)."""
    pairs: Sequence[str] | str | None
    """Pairs of explainers for agreement, such as attention:gradient, separated by commas."""
    permutations: int
    """Shuffles per text."""
    query_column: str | None
    """A file's column with the hypothesis or question."""
    quick: bool
    """Audit a sample of 500 texts, stop in time, and report how many were audited."""
    radii: Sequence[float] | str
    """Sizes of a change of the weights, separated by commas (certificate)."""
    random_rankings: int
    """Random rankings that flip_set compares with."""
    replaced: Sequence[int] | str
    """Words replaced in a text, separated by commas (word_stability)."""
    seed: int
    """Seed of samples, shuffles and intervals."""
    seeds: Sequence[int] | str | None
    """Seeds of the twins that imitation trains (the papers' nine, or three of them with --quick), or of the other models of seed_stability."""
    sensitivity: bool
    """Search for the smallest shift of the top words that changes the decision (rationale); slow."""
    shuffled_labels: bool
    """Train the model once more on shuffled labels, or find it (randomisation)."""
    skip_bad_rows: bool
    """Leave out rows of a file without text or label, and count them; not with scores of your own."""
    source: str | Path
    """What is audited: attention, an explainer, or a file with scores for every item."""
    split: Literal["train", "dev", "test"]
    """Split of a dataset to audit on."""
    synonyms: str | Path | None
    """Where synonyms come from: vectors by name or file, or a file with a word and its synonyms on each line, or JSON; also .gz (word_stability)."""
    text_column: str | None
    """A file's column with the text, premise or document."""
    top_k: int
    """Top items that make a rationale (rationale, stability audits)."""


class AttackKeywords(TypedDict, total=False):
    """Options of `heedful attack`."""

    fluency: bool
    """Ask the language model which substitutes are fluent, where the attack does; without, none is needed."""
    known_words: bool
    """Use only substitutes that the model's vocabulary knows."""
    language_model: str | Path | None
    """A language model, for attacks that need one: a folder, or a name on the hub. It is masked (bae, clare), or masked or causal (genetic, genetic_faster)."""
    limit: int | None
    """Attack the first texts alone, this many."""
    max_changed: float | None
    """Largest share of a text's words that may be replaced."""
    min_cosine: float | None
    """Least cosine of a word and its substitute."""
    min_similarity: float | None
    """Least angular similarity of a sentence before and after a substitution."""
    neighbours: int | None
    """Neighbours of a word that may replace it."""
    recipe: str
    """A published attack (heedful list attacks)."""
    same_part_of_speech: bool | None
    """Whether a substitute must be of the same part of speech."""
    seed: int
    """Seed of attacks that draw random numbers."""
    sememes: str | None
    """HowNet, for attacks that need it: word, part of speech and sememes on each line, or JSON."""
    sentence_encoder: str | Path
    """What sentences are compared by: an asset's name, or a model's folder."""
    similarity: bool
    """Ask for similar sentences, where the attack does; without, it is faster and coarser."""
    synonyms: str | Path | None
    """Take substitutes from this file: a word and its synonyms on each line, or JSON."""
    vectors: str | Path | None
    """Counter-fitted vectors, or a JSON file with the neighbours of each word, for attacks that need them."""

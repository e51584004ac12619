"""Words → sentences: each sentence is read by an encoder and attention of its own, then sentences are items."""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.config import ModelOptions
from heedful.data.tokens import Tokens
from heedful.models.attention import Attention
from heedful.models.encoders.encoder import ENCODERS, Encoded, Encoder
from heedful.models.stages import Unit


@ENCODERS.register(
    "hierarchical", "sentences as items: --hierarchical, and --encoder reads each with attention of its own"
)
class HierarchicalEncoder(Encoder):
    """A hierarchical attention network up to the sentence states (Yang et al., 2016)."""

    unit: ClassVar[Unit] = "sentence"

    def __init__(self, options: ModelOptions, input_size: int) -> None:
        super().__init__(options, input_size)
        self.words: Encoder = ENCODERS.get(options.encoder)(options, input_size)
        inner = options.model_copy(update={"heads": 1})
        self.word_attention = Attention(inner, self.words.size, None)
        self.dropout = nn.Dropout(options.sentence_dropout)
        self.sentences: Encoder = ENCODERS.get(options.sentence_encoder or options.encoder)(
            options, self.words.size
        )
        self.size = self.sentences.size
        # Items are sentences: whether words see each other inside one does not matter.
        self.contextual = self.sentences.contextual

    def items(self, embedded: Float[Tensor, "batch tokens dim"], tokens: Tokens) -> Encoded:
        """Gather the words of each sentence, pool them, and encode the sequence of sentences."""
        mask, sentence_of = tokens.mask, tokens.sentence_of
        assert sentence_of is not None
        count = sentence_of.max(1).values + 1  # sentences per text
        # A text may have lost all its sentences to an audit: there is always one place for a sentence.
        present = torch.arange(max(int(count.max()), 1))[None, :] < count[:, None]  # [batch, sentences]
        sizes = torch.zeros(present.shape, dtype=torch.long)
        sizes.scatter_add_(1, sentence_of.clamp(min=0), mask.long())
        # A sentence's words stand together: the first one's place among all tokens of the batch, row by row.
        firsts = sizes.cumsum(1) - sizes + torch.arange(len(mask))[:, None] * mask.shape[1]
        sizes, firsts = sizes[present], firsts[present]  # [all sentences of the batch]

        pooled = embedded.new_zeros(len(sizes), self.words.size)
        word_weights = embedded.new_zeros(mask.numel())
        # Sentences of like size go together, because one very long sentence would pad all the others.
        bucket = torch.log2(sizes.float()).floor()
        for size in sorted(set(bucket.tolist())):
            chosen = (bucket == size).nonzero()[:, 0]
            steps = torch.arange(int(sizes[chosen].max()))[None, :]
            real = steps < sizes[chosen, None]  # [chosen sentences, words]
            where = torch.where(real, firsts[chosen, None] + steps, 0)
            states = self.words(embedded.flatten(0, 1)[where], real)
            weights = self.word_attention.normalise(self.word_attention.score(states, None), real)[:, 0]
            pooled = pooled.index_copy(0, chosen, torch.einsum("sw,swm->sm", weights, states))
            word_weights = word_weights.index_copy(0, where[real], weights[real])
        sequence = pooled.new_zeros(*present.shape, pooled.shape[-1]).masked_scatter(
            present[..., None], pooled
        )
        h = self.sentences(self.dropout(sequence), present)
        return Encoded(h, present, word_weights.view(mask.shape))

    def summarise(
        self, h: Float[Tensor, "batch sentences size"], present: Bool[Tensor, "batch sentences"]
    ) -> Float[Tensor, "batch size"]:
        """One vector for the whole text."""
        return self.sentences.summarise(h, present)

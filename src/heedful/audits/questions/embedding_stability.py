"""Does the heatmap survive noise in the embeddings? SEAT: Tables 1, 6 and 8."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import polars as pl
import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Tensor

from heedful.audits.audit import Columns, Summary, register
from heedful.audits.chart_kinds import finish_chart
from heedful.audits.exhibits import Chart
from heedful.audits.questions.movement import Change, Snapshot, compare_snapshots, snapshot
from heedful.audits.questions.stability_audit import StabilityAudit, measures
from heedful.audits.subject.reading import Reading, read_batch
from heedful.config import AuditOptions, Sizes
from heedful.data.batches import MAX_TOKENS
from heedful.data.tokens import Tokens
from heedful.data.words.substitution import words_of
from heedful.measures.streams import uniform_by_instance
from heedful.models.shorter import noisy
from heedful.output.charts import ACCENT, SECOND, chart_of

USUAL = 0.01
"""The noise whose numbers are reported first: the paper's middle radius, or the chosen size nearest to it."""
SCOPES = {"one": "one word", "all": "all words"}
_NUMBERS = 1 << 21
"""Random numbers drawn at a time: 16 MB."""


class NoiseOptions(AuditOptions):
    """Options of this audit only."""

    noise: Sizes = Field(
        (1e-3, 5e-3, 1e-2, 5e-2),
        description="Standard deviations of the noise on embeddings, separated by commas (embedding_stability).",
    )


@register
class EmbeddingStability(StabilityAudit):
    """Adds Gaussian noise to the embeddings of one word, or of all, and reads the text again."""

    name = "embedding_stability"
    question = "Does the heatmap survive noise in the embeddings?"
    access = "embeddings"
    options = ("noise", "draws", "top_k")
    config: NoiseOptions
    does = "moves embeddings"
    measures: ClassVar = measures("under noise")
    caveats = (
        "The paper writes N(0, δI) and does not say whether δ is a variance: here it is the standard deviation of every "
        "coordinate, whatever the size of the embeddings, so that models with longer vectors are disturbed less.",
        "A flat heatmap does not move whatever happens: read JSD together with sharpness, or read the relative JSD.",
        "Noise is not text: no sentence has these embeddings.",
    )
    method = (
        "Normal noise is added to the embeddings of one random word (all its pieces), and of all words; questions and "
        "special tokens are left alone. The text is read again, and its heatmap and prediction are compared with those "
        "without noise. The same directions are scaled to each size of noise; one is drawn for every text, or as many as --draws asks for. The "
        "relative JSD divides by how far both heatmaps stand from uniform; the policy looks at that one, for noise on all words."
    )

    @property
    def usual(self) -> float:
        """The noise whose numbers are reported first."""
        return min(self.config.noise, key=lambda size: (abs(size - USUAL), size))

    @property
    def main_condition(self) -> str:
        """The usual noise on all words."""
        return f"all_{self.usual:g}"

    @property
    def sizes(self) -> tuple[float, ...]:
        """Which noise is tried: a quick audit of an explainer, which may be slow, takes only the usual one."""
        quick = self.config.quick and self.source != "attention"
        return (self.usual,) if quick else self.config.noise

    def rows(self, reading: Reading) -> Columns:
        """Read every text again under every noise."""
        changes: dict[str, list[Change]] = {}
        predicted: dict[str, list[Tensor]] = {}
        for draw in range(self.config.draws):
            noise, sizes = self._noise(reading, draw)
            before, *moved = self._snapshots(reading, noise, list(sizes.values()))
            for condition, after in zip(sizes, moved, strict=True):
                found = compare_snapshots(before, after, k=self.config.top_k)
                changes.setdefault(condition, []).append(found)
                predicted.setdefault(condition, []).append(after.probabilities)
        columns = self.context_columns(snapshot(reading, self.source), reading)
        for condition, found_here in changes.items():
            columns |= self.columns(condition, found_here, predicted[condition])
        return columns | {name: columns[f"{name}_{self.main_condition}"] for name in Change._fields}

    def _snapshots(
        self,
        reading: Reading,
        noise: Float[Tensor, "batch tokens dim"],
        sizes: list[Float[Tensor, "batch tokens"]],
    ) -> Iterator[Snapshot]:
        """Give the heatmap without noise, and then under each; what words give to the gates is computed once if possible."""
        states_under = noisy(reading.model, reading.batch, noise) if self.source == "attention" else None
        if states_under is None:
            yield snapshot(reading, self.source)
            for size in sizes:
                batch = replace(reading.batch, tokens=reading.batch.tokens.shifted(noise * size[..., None]))
                yield snapshot(
                    read_batch(reading.model, batch, seed=reading.seed, exact=reading.exact), self.source
                )
            return
        # The text as it is among them, so that rounding is the same and no noise moves nothing.
        every = [torch.zeros_like(sizes[0]), *sizes]
        together = max(1, MAX_TOKENS // reading.batch.tokens.ids.numel())
        for first in range(0, len(every), together):
            some = every[first : first + together]
            states = states_under(torch.cat(some))
            batch = reading.batch.take(torch.arange(len(reading.mask)).repeat(len(some)))
            with torch.no_grad():
                weights = reading.model.attend(states)
            under = snapshot(Reading(reading.model, batch, states, weights, reading.seed), self.source)
            yield from (
                Snapshot(*part) for part in zip(*(field.chunk(len(some)) for field in under), strict=True)
            )

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average for each noise; the usual noise on all words is reported first."""
        conditions = {
            f"{scope}_{size:g}": f"{words}, noise {size:g}"
            for scope, words in SCOPES.items()
            for size in self.sizes
        }
        numbers = self.numbers(rows, conditions)
        return self.summary(
            rows,
            f"Noise of {self.usual:g} on the embeddings of all words {self.steadiness(numbers)}",
            numbers,
            *self.notes(rows),
            "" if self.sizes == self.config.noise else f"Quick: noise of {self.usual:g} alone.",
        )

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """JSD as noise grows, and stability against sharpness."""
        return [*_growth(rows, self.sizes), self.against_sharpness(rows)]

    def _noise(
        self, reading: Reading, draw: int
    ) -> tuple[Float[Tensor, "batch tokens dim"], dict[str, Float[Tensor, "batch tokens"]]]:
        """Draw noise, and say of each condition how much of it each token gets."""
        tokens, rows, seed = reading.batch.tokens, reading.rows, self.config.seed
        with torch.no_grad():
            like = reading.model.embed(reading.batch.take(torch.tensor([0])))
        # Separate streams: otherwise the word that is chosen would depend on its noise.
        noise = normal_by_token(rows, tokens, like.shape[-1], seed=seed, draw=2 * draw).to(like.dtype)
        places = {"one": one_word(rows, tokens, seed=seed, draw=2 * draw + 1), "all": tokens.mask}
        return noise, {
            f"{scope}_{size:g}": size * mask.to(like.dtype)
            for scope, mask in places.items()
            for size in self.sizes
        }


def normal_by_token(
    rows: Int[Tensor, " batch"], tokens: Tokens, dim: int, *, seed: int, draw: int
) -> Float[Tensor, "batch tokens dim"]:
    """Draw standard normal numbers that depend on the instance and the token's position, not on the batch."""
    length = tokens.ids.shape[1]
    noise = torch.empty(len(rows), length, dim)
    size = max(1, _NUMBERS // (length * dim))
    for first in range(0, len(rows), size):
        part = slice(first, first + size)
        uniform = uniform_by_instance(rows[part], length * dim, seed=seed, draw=draw)
        noise[part] = torch.special.ndtri(uniform.clamp(min=2.0**-54)).view(-1, length, dim).float()
    return noise


def one_word(
    rows: Int[Tensor, " batch"], tokens: Tokens, *, seed: int, draw: int
) -> Bool[Tensor, "batch tokens"]:
    """Choose a word of each text at random, and mark all its pieces."""
    words = words_of(tokens)
    count = words.amax(1) + 1
    chosen = (uniform_by_instance(rows, 1, seed=seed, draw=draw)[:, 0] * count).long()
    return (words == chosen[:, None]) & tokens.mask


def _growth(rows: pl.DataFrame, sizes: tuple[float, ...]) -> list[Chart]:
    """Mean JSD against the size of noise, both on logarithmic axes."""
    import altair as alt

    data = []
    for scope, words in SCOPES.items():
        for size in sizes:
            column = f"jsd_{scope}_{size:g}"
            mean = rows[column].drop_nans().mean() if column in rows.columns else None
            if isinstance(mean, float) and mean > 0:
                data.append({"noise": size, "jsd": mean, "words": words})
    if not data:
        return []
    colour = alt.Color(
        "words:N", scale=alt.Scale(domain=list(SCOPES.values()), range=[SECOND, ACCENT]), legend=alt.Legend()
    )
    logs = alt.Scale(type="log", nice=False)
    powers = [10.0**power for power in range(-16, 1)]
    drawn = (
        chart_of(data)
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "noise:Q",
                title="standard deviation of the noise",
                scale=logs,
                axis=alt.Axis(values=sorted(sizes)),
            ),
            y=alt.Y("jsd:Q", title="mean JSD", scale=logs, axis=alt.Axis(values=powers, format="~e")),
            color=colour,
        )
    )
    described = "; ".join(f"{point['words']}, noise {point['noise']:g}: {point['jsd']:.2g}" for point in data)
    return [
        Chart(
            "The heatmap as noise grows",
            f"Mean JSD. {described}.",
            "Both axes are logarithmic.",
            finish_chart(drawn, names=list(SCOPES.values())),
        )
    ]

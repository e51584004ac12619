"""Tables of SEAT: ours, in honest units and beside sharpness, next to the published numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from heedful.output.numbers import NOTHING
from heedful.output.tables import Table
from heedful.papers.corpus_counts import WORDS as COUNTED_WORDS
from heedful.papers.corpus_counts import by_class_cell, count_cell
from heedful.papers.measured_numbers import Numbers
from heedful.papers.recipe import published
from heedful.papers.results import Results
from heedful.papers.seat.measuring import F1, OVERLAP, RATIONALE, SHARPNESS
from heedful.papers.seat.method_draws import as_printed, with_interval
from heedful.papers.seat.methods import ABLATED, ABLATED_ON, COMPARED, ENCODERS, WORDS, measured, printed

_ABLATED = {
    "vanilla": "vanilla",
    "seat, no top-k": "seat_without_top_k",
    "seat, no stability": "seat_without_stability",
    "seat": "seat",
}
_BESIDE = ["sharpness", "top 7 as vanilla"]
_ALL_WORDS = ["JSD, all words", "TVD, all words"]


class MethodRow:
    """Numbers of one method on one dataset and encoder, over all its seeds."""

    def __init__(self, numbers: Numbers, dataset: str, encoder: str, method: str, audit: str) -> None:
        self.numbers, self.dataset, self.audit = numbers, dataset, audit
        self.model, self.method = f"{encoder} {method}", method

    def mean(self, name: str) -> str:
        """A column's mean with its interval."""
        return with_interval(self.numbers.get(self.dataset, self.model, self.audit, name))

    @property
    def f1(self) -> str:
        """F1 on clean texts."""
        return self.mean(F1)

    @property
    def beside(self) -> list[str]:
        """What stands beside every stability number: sharpness, and top items as the vanilla model of the same seed."""
        return [self.mean(SHARPNESS), self.mean(OVERLAP)]

    def head(self) -> list[str]:
        """Which method, and of how many seeds."""
        found = self.numbers.of(self.dataset, self.model, self.audit)
        return [self.method, str(next(n.seeds for n in found if n.seed is None))]


Cells = Callable[[MethodRow, str, str], Iterable[Sequence[str]]]
"""From a method with its dataset and encoder to rows of cells."""


def _by_encoder(
    results: Results, methods: Sequence[str], audit: str, headings: Sequence[str], cells: Cells
) -> list[Table]:
    """One table for every dataset and encoder, with the methods below each other."""
    tables = []
    for dataset, encoder, able in measured(results.numbers, methods, audit):
        rows = []
        for method in able:
            row = MethodRow(results.numbers, dataset, encoder, method, audit)
            rows += [[*row.head(), *more] for more in cells(row, dataset, encoder)]
        title = f"{dataset}, {encoder}" + (
            " (the paper: BERT)" if ENCODERS[encoder].printed != encoder else ""
        )
        tables.append(Table(["method", "seeds", *headings], rows, title))
    return tables


def _beside_paper(ours: Sequence[str], theirs: Sequence[float | None]) -> list[str]:
    return [cell for pair in zip(ours, map(as_printed, theirs), strict=True) for cell in pair]


def table_1(results: Results) -> list[Table]:
    """Noise of 1e-3."""

    def cells(row: MethodRow, dataset: str, encoder: str) -> list[list[str]]:
        return [_noise(row, 1e-3, printed(published("seat")["table_1"], dataset, encoder, row.method))]

    headings = ["JSD, one word", "paper", "TVD, one word", "paper", "F1", "paper", *_ALL_WORDS, *_BESIDE]
    return _by_encoder(results, COMPARED, "embedding_stability", headings, cells)


def table_5(results: Results) -> list[Table]:
    """Corpora."""
    counts = results.corpora
    rows = []
    for dataset in counts.datasets:
        theirs = published("seat")["table_5"].get(dataset, {})
        ours = [
            count_cell(counts, dataset, COUNTED_WORDS, "test", 1),
            *(by_class_cell(counts, dataset, split) for split in ("train", "test")),
        ]
        paper = [str(theirs.get(name, NOTHING)) for name in ("length", "train", "test")]
        rows.append([dataset, *(cell for pair in zip(ours, paper, strict=True) for cell in pair)])
    return [
        Table(
            ["dataset", *_with_paper(["mean length", "train", "test"])],
            rows,
            "Texts by class, in the order of the labels; length is that of test texts, in words",
        )
    ]


def table_8(results: Results) -> list[Table]:
    """More noise."""

    def cells(row: MethodRow, dataset: str, encoder: str) -> list[list[str]]:
        return [
            [f"{noise:g}", *_noise(row, noise, printed(part, dataset, encoder, row.method))]
            for noise, part in published("seat")["table_8"].items()
        ]

    headings = [
        "noise",
        "JSD, one word",
        "paper",
        "TVD, one word",
        "paper",
        "F1",
        "paper",
        *_ALL_WORDS,
        *_BESIDE,
    ]
    return _by_encoder(results, COMPARED, "embedding_stability", headings, cells)


def _noise(row: MethodRow, noise: float, theirs: Sequence[float | None]) -> list[str]:
    one = [row.mean(f"jsd_one_{noise:g}"), row.mean(f"tvd_one_{noise:g}"), row.f1]
    every = [row.mean(f"jsd_all_{noise:g}"), row.mean(f"tvd_all_{noise:g}")]
    return [*_beside_paper(one, theirs), *every, *row.beside]


def table_2(results: Results) -> list[Table]:
    """Comprehensiveness, sufficiency, sensitivity."""

    def cells(row: MethodRow, dataset: str, encoder: str) -> list[list[str]]:
        theirs = printed(published("seat")["table_2"], dataset, encoder, row.method)
        ours = _beside_paper([row.mean(name) for name in RATIONALE], theirs)
        return [[*ours, row.mean("comprehensiveness_random"), row.mean("sufficiency_random")]]

    headings = [*_with_paper(RATIONALE), "comprehensiveness of random words", "sufficiency of random words"]
    return _by_encoder(results, COMPARED, "rationale", headings, cells)


def table_9(results: Results) -> list[Table]:
    """The same beside what the paper prints for each noise, and at a fixed number of words."""

    def cells(row: MethodRow, dataset: str, encoder: str) -> list[list[str]]:
        parts = [
            printed(part, dataset, encoder, row.method) for part in published("seat")["table_9"].values()
        ]
        found = []
        for place, name in enumerate(RATIONALE):
            found += [row.mean(name), *(as_printed(part[place]) for part in parts)]
        return [[*found, row.mean("comprehensiveness_top"), row.mean("sufficiency_top")]]

    radii = [f"paper, {noise:g}" for noise in published("seat")["table_9"]]
    headings = [cell for name in RATIONALE for cell in (name, *radii)]
    headings += ["comprehensiveness, top 7", "sufficiency, top 7"]
    return _by_encoder(results, COMPARED, "rationale", headings, cells)


def table_3(results: Results) -> list[Table]:
    """One synonym."""
    return _synonyms(results, WORDS[:1])


def table_10(results: Results) -> list[Table]:
    """Two and three synonyms."""
    return _synonyms(results, WORDS[1:])


def _synonyms(results: Results, counts: Sequence[int]) -> list[Table]:
    def cells(row: MethodRow, dataset: str, encoder: str) -> list[list[str]]:
        found = []
        for count in counts:
            ours = [row.mean(f"jsd_{count}"), row.mean(f"tvd_{count}"), row.f1]
            theirs = printed(published("seat")["words"][count], dataset, encoder, row.method)
            relative = row.mean(f"relative_jsd_{count}")
            found.append([str(count), *_beside_paper(ours, theirs), relative, *row.beside])
        return found

    headings = ["words", *_with_paper(["JSD", "TVD", "F1"]), "relative JSD", *_BESIDE]
    return _by_encoder(results, COMPARED, "word_stability", headings, cells)


def table_4(results: Results) -> list[Table]:
    """Ablation: sufficiency, TVD, F1."""
    return _ablation(results, "table_4", ("sufficiency", "tvd", "f1"))


def table_6(results: Results) -> list[Table]:
    """Ablation: JSD, TVD, F1."""
    return _ablation(results, "table_6", ("jsd", "tvd", "f1"))


def table_7(results: Results) -> list[Table]:
    """Ablation: comprehensiveness, sufficiency, sensitivity."""
    return _ablation(results, "table_7", RATIONALE)


def _ablation(results: Results, table: str, names: Sequence[str]) -> list[Table]:
    reads = "rationale" if names == RATIONALE else "embedding_stability"
    results = results.on(ABLATED_ON)

    def cells(row: MethodRow, dataset: str, encoder: str) -> list[list[str]]:
        lost = MethodRow(results.numbers, dataset, encoder, row.method, "rationale")
        ours = [_ablated(row, lost, name) for name in names]
        own = _ABLATED[row.method]
        theirs = published("seat")[table].get(ENCODERS[encoder].printed, {}).get(own, [None] * 3)
        sharp = MethodRow(results.numbers, dataset, encoder, row.method, "sharpness").beside
        return [[*_beside_paper(ours, theirs), *sharp]]

    spoken = {"jsd": "JSD, one word", "tvd": "TVD, one word", "f1": "F1"}
    headings = [*_with_paper([spoken.get(name, name) for name in names]), *_BESIDE]
    return _by_encoder(results, ABLATED, reads, headings, cells)


def _ablated(row: MethodRow, lost: MethodRow, name: str) -> str:
    if name in RATIONALE:
        return lost.mean(name)
    return row.f1 if name == "f1" else row.mean(f"{name}_one_0.01")


def _with_paper(names: Sequence[str]) -> list[str]:
    return [heading for name in names for heading in (name, "paper")]

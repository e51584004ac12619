"""Figures 2 and 5 of SEAT: other seeds, and the top-k surrogate by epoch."""

from __future__ import annotations

from heedful.audits.audit import BINS
from heedful.output.interval_dots import IntervalDot, interval_dots
from heedful.output.lines import lines
from heedful.output.numbers import NOTHING, fixed, significant
from heedful.output.panels import Panel, together
from heedful.output.tables import Table
from heedful.papers.measured_numbers import TRAINING, MeasuredNumber
from heedful.papers.paper_page import Picture
from heedful.papers.results import Results
from heedful.papers.seat.measuring import SEEDS, SHARPNESS, TERMS, bin_name
from heedful.papers.seat.methods import measured

SEEDED = ("vanilla", "seat", "steady")


def figure_2(results: Results) -> list[Table]:
    """Largest JSD to the models of other seeds, by the largest weight and the predicted class."""
    numbers = results.numbers
    rows = []
    for dataset, encoder, able in measured(numbers, SEEDED, SEEDS):
        for method in able:
            model = f"{encoder} {method}"
            for label in dict.fromkeys(n.group for n in numbers.of(dataset, model, SEEDS)):
                cells = [
                    _box(numbers.get(dataset, model, SEEDS, bin_name(low, high), group=label))
                    for low, high in BINS
                ]
                relative, sharp = (
                    _spelled(numbers.get(dataset, model, SEEDS, name, group=label))
                    for name in ("relative_jsd", SHARPNESS)
                )
                rows.append([dataset, encoder, method, label, *cells, relative, sharp])
    bins = [f"largest weight {fixed(low, 2)}–{fixed(high, 2)}" for low, high in BINS]
    title = (
        "Largest JSD of the heatmap to those of other seeds: median over texts [quartiles], number of texts"
    )
    headings = ["dataset", "encoder", "method", "predicted class", *bins, "relative JSD", "sharpness"]
    return [Table(headings, rows, title)] if rows else []


def figure_5(results: Results) -> list[Table]:
    """Surrogate and true overlap, epoch by epoch."""
    numbers = results.numbers
    rows = []
    for dataset, encoder, _ in measured(numbers, ("seat",), TRAINING):
        model = f"{encoder} seat"
        found = [n for n in numbers.of(dataset, model, TRAINING) if n.measure in TERMS]
        for epoch in dict.fromkeys(n.group for n in found):
            terms = [numbers.get(dataset, model, TRAINING, term, group=epoch) for term in TERMS]
            seeds = next(n.seeds for n in found if n.group == epoch)
            rows.append([dataset, encoder, epoch, str(seeds), *map(_spelled, terms)])
    headings = [
        "dataset",
        "encoder",
        "epoch",
        "seeds",
        "L_topk, train",
        "top 7 as vanilla, train",
        "L_topk, dev",
        "top 7 as vanilla, dev",
    ]
    return [Table(headings, rows, "SEAT while it is trained: means over texts and seeds")] if rows else []


def figure_2_drawn(results: Results) -> list[Picture]:
    """Medians and quartiles by the largest weight and the predicted class, one drawing for each corpus and encoder."""
    numbers, drawn = results.numbers, []
    for dataset, encoder, able in measured(numbers, SEEDED, SEEDS):
        dots = [
            IntervalDot(f"{low:.2f}–{high:.2f}, {label}", method, found.estimate, found.low, found.high)
            for low, high in BINS
            for label in dict.fromkeys(n.group for n in numbers.of(dataset, f"{encoder} vanilla", SEEDS))
            for method in able
            if label != "all"
            and (
                found := numbers.get(dataset, f"{encoder} {method}", SEEDS, bin_name(low, high), group=label)
            )
        ]
        if dots:
            title = f"The heatmap with other seeds: {dataset}, {encoder}"
            caption = [
                "Rows: largest weight and predicted class. Dot: median over texts; line: half of them."
            ]
            axis = "largest JSD to the heatmaps of other seeds"
            spec = interval_dots(dots, title=title, axis=axis, caption=caption)
            drawn.append(
                Picture(f"figure-2-{dataset}-{encoder.lower()}", f"{title}, by largest weight", spec)
            )
    return drawn


def figure_5_drawn(results: Results) -> list[Picture]:
    """The loss and the overlap by epoch, on train and dev."""
    numbers, drawn = results.numbers, []
    for dataset, encoder, _ in measured(numbers, ("seat",), TRAINING):
        own = list(numbers.of(dataset, f"{encoder} seat", TRAINING))
        found = {term: [n.estimate for n in own if n.measure == term] for term in TERMS}
        if not any(len(values) > 1 for values in found.values()):
            continue
        panels = [
            Panel(
                spoken,
                lines({split: found[f"{split} {name}"] for split in ("train", "dev")}, axes=("epoch", "")),
            )
            for name, spoken in (("top_k_loss", "L_topk"), ("top_k_overlap", "top 7 as vanilla"))
        ]
        title = f"The surrogate and what it stands for: {dataset}, {encoder}"
        spec = together(panels, title=title, columns=2, caption=["Means over texts and seeds."])
        drawn.append(Picture(f"figure-5-{dataset}-{encoder.lower()}", f"{title}, by epoch", spec))
    return drawn


def _spelled(found: MeasuredNumber | None) -> str:
    return significant(found.estimate if found else None)


def _box(found: MeasuredNumber | None) -> str:
    """A box with three digits, since heatmaps of two seeds may be near each other."""
    if found is None:
        return NOTHING
    return f"{significant(found.estimate)} [{significant(found.low)}–{significant(found.high)}] {found.texts}"

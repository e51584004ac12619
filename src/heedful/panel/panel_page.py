"""What the panel found, as a page: error rates of a policy, which test tells faithful from unfaithful, and every model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heedful.audits.audit import AUDITS
from heedful.audits.policy import Policy, read_policy
from heedful.audits.verdict import EXIT_CODES, KINDS, Verdict
from heedful.output.numbers import NOTHING, fixed, with_interval, written
from heedful.output.tables import Cell, Row, Table, markdown
from heedful.panel.auroc import Separation, separation, separations
from heedful.panel.case import FAITHFUL, LEAST_SKILL, LEAST_TEXTS, UNFAITHFUL, Case, fails_its_check, sound
from heedful.panel.corpora import CORPORA, KEPT_APART
from heedful.panel.learn import held_out, held_out_encoders
from heedful.panel.members import MEMBERS
from heedful.panel.verdicts import Errors, Rate, errors, verdict_of

ALL_CORPORA = {**CORPORA, **KEPT_APART}
_SORTS = ("faithful", "unfaithful", "in between", "flat", "not counted")


def overview(cases: Sequence[Case], policy: Policy) -> list[str]:
    """Say in a few lines how often a policy is wrong."""
    attention = sound([case for case in cases if case.source == "attention"])
    found = errors((case, verdict_of(case, policy)) for case in attention)
    counts = ", ".join(f"{sum(c.sort == sort for c in attention)} {sort}" for sort in _SORTS)
    corpora = len({case.corpus for case in attention})
    lines = [
        f"{len(attention)} models on {corpora} corpora: {counts}.",
        f"Policy {policy.name} (version {policy.version}):",
        f"  unfaithful and shown        {found.shown}",
        f"  faithful and refused        {found.forbidden}",
        f"  faithful, no caveat         {found.whole}",
        f"  not enough evidence         {found.open}",
    ]
    if policy == read_policy():
        unseen = errors(held_out(attention, policy))
        lines += [
            "Its thresholds set on all corpora but one, and judged on that one, for each in turn:",
            f"  unfaithful and shown        {unseen.shown}",
            f"  faithful and refused        {unseen.forbidden}",
        ]
    return lines


def page(cases: Sequence[Case], policy: Policy) -> str:
    """Write the whole page, in Markdown."""
    every = [case for case in cases if case.source == "attention"]
    attention, cases = sound(every), sound(cases)
    parts = [
        "# The panel: how often is the verdict wrong?",
        _lead(attention),
        "## Models and their truth",
        _table(
            ("corpus", *_SORTS, "accuracy without the evidence", "on the evidence alone"),
            [_corpus_row(name, every) for name in _in_order({c.corpus for c in every}, ALL_CORPORA)],
        ),
        _failed(every),
        "## Error rates of the policy",
        _error_tables(attention, policy),
        "## Which test tells a faithful heatmap from an unfaithful one?",
        _SEPARATION,
        _separation_table(attention),
        "### By kind of encoder and by corpus",
        _separation_groups(attention),
        "## Explainers",
        _explainers(cases),
        "## Every model",
        _every(cases, policy),
    ]
    if missing := _missing(every):
        parts += ["## Not measured", missing]
    return "\n\n".join(filter(None, parts)) + "\n"


def _failed(cases: Sequence[Case]) -> str:
    """Name the corpora that are not what they claim."""
    failed = [name for name in sorted({c.corpus for c in cases}) if fails_its_check(name, cases)]
    if not failed:
        return ""
    return (
        f"Not counted in what follows, because there the evidence alone does not decide: {', '.join(failed)}. "
        "It was deleted and left alone to see; where it does not decide, nobody knows what a heatmap should point at."
    )


def _lead(cases: Sequence[Case]) -> str:
    return (
        f"{len(cases)} models on {len({c.corpus for c in cases})} corpora in which it is known, word by word, what decides a label. What is "
        "true of a model is measured: of the texts whose answer falls without the evidence (by 0.1 of probability or more), how often is the "
        "word with most attention evidence? Counted from what a word picked at random reaches (0) to every text (1), a model is *faithful* "
        f"from {FAITHFUL} on and *unfaithful* up to {UNFAITHFUL}; those in between count for neither, nor do flat heatmaps, which point nowhere and are never shown. A model that hardly does better than the most "
        f"frequent label (less than {LEAST_SKILL} of the way to no error), or of which fewer than {LEAST_TEXTS} texts need their evidence, is no fair case."
    )


_SEPARATION = (
    "AUROC: the probability that of a faithful and an unfaithful model the faithful one has the better number (0.5 is a coin, below it "
    "the test is inverted), with a 95 % interval over corpora and models. Tests that replace weights keep the states as they are; tests that change "
    "words read the text again. Where fewer models are counted, the audit trains models of its own and was asked of some alone. Plausibility "
    "separates by definition: it asks for the marked words, by which the truth is measured here."
)


def _corpus_row(name: str, cases: Sequence[Case]) -> list[str]:
    here = [case for case in cases if case.corpus == name]
    plain = [case for case in here if case.kind == "vanilla" and case.skill >= LEAST_SKILL]
    counts = [str(sum(case.sort == sort for case in here)) for sort in _SORTS]
    return [name, *counts, _mean(c.without for c in plain), _mean(c.alone for c in plain)]


def _error_tables(cases: Sequence[Case], policy: Policy) -> str:
    judged = [(case, verdict_of(case, policy)) for case in cases]
    rows = [["all, thresholds as they are", *_error_cells(errors(judged))]]
    learnt = policy == read_policy()
    if learnt:
        by_corpus, by_encoder = held_out(cases, policy), held_out_encoders(cases, policy)
        rows.append(
            ["all, each corpus judged by thresholds set on the others", *_error_cells(errors(by_corpus))]
        )
        rows.append(
            [
                "all, each kind of encoder judged by thresholds set on the others",
                *_error_cells(errors(by_encoder)),
            ]
        )
        apart = [pair for pair in judged if pair[0].corpus in KEPT_APART]
        rows.append(
            ["those of corpora kept apart, on which nothing was ever set", *_error_cells(errors(apart))]
        )
        judged = by_corpus
    headings = (
        "models",
        "unfaithful and shown",
        "faithful and refused",
        "faithful, without a caveat",
        "not enough evidence",
    )
    whole = _table(headings, rows)
    kinds = sorted({KINDS.get(case.encoder, case.encoder) for case, _ in judged})
    groups = [
        [
            f"encoder: {kind}",
            *_error_cells(errors([p for p in judged if KINDS.get(p[0].encoder, p[0].encoder) == kind])),
        ]
        for kind in kinds
    ]
    groups += [
        [name, *_error_cells(errors([p for p in judged if p[0].corpus == name]))]
        for name in _in_order({c.corpus for c, _ in judged}, ALL_CORPORA)
    ]
    groups += [
        [f"made: {kind}", *_error_cells(errors([p for p in judged if p[0].kind == kind]))]
        for kind in sorted({c.kind for c, _ in judged})
    ]
    how = (
        "each corpus judged by thresholds that were set on the others" if learnt else "thresholds as they are"
    )
    note = (
        "Intervals (95 %, Clopper and Pearson) take models for independent; those of one corpus are alike, so that they are a little "
        "too narrow. What is set on the other corpora is the line that forbids; which numbers are candidates, and what they must reach "
        f"for *show*, was chosen with the panel in view. {_between(judged)}"
    )
    return f"{whole}\n\n{note}\n\nBy groups, {how}:\n\n{_table(headings, groups)}"


def _between(judged: Sequence[tuple[Case, Verdict]]) -> str:
    """Say what becomes of models that are neither faithful nor unfaithful."""
    words = [str(verdict) for case, verdict in judged if case.sort == "in between"]
    if not words:
        return ""
    answers = ", ".join(f"{words.count(word)} {word}" for word in EXIT_CODES)
    return f"Of the {len(words)} models in between: {answers}."


def _error_cells(found: Errors) -> list[str]:
    return [str(found.shown), str(found.forbidden), _count(found.whole), _count(found.open)]


def _count(rate: Rate) -> str:
    return f"{rate.count} of {rate.of}" if rate.of else NOTHING


def _separation_table(cases: Sequence[Case]) -> str:
    found = separations(cases)
    rows: list[Row] = [
        [
            Cell(s.measure, code=True),
            _changes(s.measure),
            AUDITS.get(s.measure.partition(".")[0]).paper,
            _auroc(s),
            f"{s.faithful} and {s.unfaithful}",
        ]
        for s in found
    ]
    table = _table(
        ("number", "what it does", "from", "AUROC (95 % interval)", "faithful and unfaithful models"), rows
    )
    judged = {s.measure.partition(".")[0] for s in found}
    rest = [name for name in AUDITS if name not in judged]
    return f"{table}\n\nNot judged, because too few models were asked: {', '.join(rest)}." if rest else table


def _separation_groups(cases: Sequence[Case]) -> str:
    kinds = sorted({KINDS.get(case.encoder, case.encoder) for case in cases})
    corpora = _in_order({case.corpus for case in cases}, ALL_CORPORA)
    best = [s.measure for s in separations(cases, resamples=0)]
    groups = [[c for c in cases if KINDS.get(c.encoder, c.encoder) == kind] for kind in kinds]
    groups += [[c for c in cases if c.corpus == name] for name in corpora]
    rows: list[Row] = []
    for measure in best:
        found = [separation(group, measure, resamples=0) for group in groups]
        rows.append([Cell(measure, code=True), *(NOTHING if s is None else fixed(s.auroc, 2) for s in found)])
    return _table(("number", *kinds, *corpora), rows)


def _explainers(cases: Sequence[Case]) -> str:
    explained = {(c.corpus, c.member) for c in cases if c.source != "attention"}
    rows = []
    for source in sorted({case.source for case in cases}):
        here = [c for c in cases if c.source == source and (c.corpus, c.member) in explained]
        sorts = [str(sum(c.sort == sort for c in here)) for sort in _SORTS[:3]]
        rows.append([source, _mean(c.truth for c in here if c.truth is not None), *sorts])
    others = [case for case in cases if case.source != "attention"]
    # An explainer agrees with itself, whatever it points at.
    found = [s for s in separations(others) if s.measure.partition(".")[0] != "agreement"]
    first: list[Row] = [[Cell(s.measure, code=True), _auroc(s)] for s in found[:12]]
    return (
        "The same models, and the same measured truth, for other scores than attention.\n\n"
        + _table(("scores", "truth, mean", *_SORTS[:3]), rows)
        + "\n\nWhich numbers tell faithful scores of explainers from unfaithful ones. The unfaithful ones are random scores, which are "
        "easier to find than a model that looks away, so that more numbers find them; agreement is left out, because an explainer agrees "
        "with itself:\n\n" + _table(("number", "AUROC (95 % interval)"), first)
    )


def _every(cases: Sequence[Case], policy: Policy) -> str:
    rows = [
        [
            case.corpus,
            case.member,
            case.source,
            fixed(case.accuracy, 2),
            fixed(case.truth, 2),
            case.sort,
            str(verdict_of(case, policy)),
        ]
        for case in sorted(cases, key=lambda c: (c.source != "attention", c.corpus, c.member, c.source))
    ]
    table = _table(("corpus", "model", "scores", "accuracy", "truth", "sort", "verdict"), rows)
    return f"<details><summary>{len(rows)} heatmaps</summary>\n\n{table}\n\n</details>"


def _missing(cases: Sequence[Case]) -> str:
    there = {(case.corpus, case.member) for case in cases}
    lines = []
    for corpus in ALL_CORPORA:
        lacking = [name for name in MEMBERS if (corpus, name) not in there]
        if lacking:
            lines.append(f"- {corpus}: {', '.join(lacking)}")
    return "\n".join(lines)


def _changes(measure: str) -> str:
    return AUDITS.get(measure.partition(".")[0]).does


def _auroc(found: Separation) -> str:
    return with_interval(found.auroc, found.low, found.high, lambda x: fixed(x, 2))


def _mean(values: Iterable[float]) -> str:
    given = list(values)
    return written(sum(given) / len(given)) if given else NOTHING


def _in_order(found: set[str], order: Iterable[str]) -> list[str]:
    known = [name for name in order if name in found]
    return [*known, *sorted(found - set(known))]


def _table(headings: Sequence[str], rows: Sequence[Row]) -> str:
    return markdown(Table(headings, rows))

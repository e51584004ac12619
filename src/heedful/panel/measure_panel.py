"""Train the models of the panel, measure the truth of each, ask every audit; what is finished is not done again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import ValidationError

from heedful.audits.audit import ALL, Number
from heedful.audits.running.run import audit
from heedful.audits.subject.subject import Subject
from heedful.audits.subject.texts import choose_texts
from heedful.checking import build
from heedful.config import AuditOptions, DataOptions
from heedful.data.corpora.reader import load_corpus
from heedful.errors import BadInput, HeedfulError
from heedful.intake.json_text import read_json
from heedful.models.altered import alter
from heedful.models.classifier import Classifier
from heedful.panel.case import Case
from heedful.panel.members import MEMBERS, SOURCES, TRAINING, Member
from heedful.panel.truth import measure_truth
from heedful.progress import QUIET, Lines, Watcher
from heedful.scale.piece import Outcome, Piece
from heedful.scale.share_out import share_out
from heedful.storage import write_json
from heedful.training.train import resolve, train

TEXTS = 300
"""Test texts that each model is audited on."""

ALSO: Mapping[str, Mapping[str, Any]] = {
    "word_stability": {"synonyms": "glove-840b-300d"},
    "plausibility": {},
    "randomisation": {"shuffled_labels": True},
    "seed_stability": {"seeds": (20,)},
    "imitation": {"seeds": (10,)},
}
"""Audits that a verdict does not ask, most of which train a model or more; asked of the panel by name, with these options."""

_RETRAINED = ("randomisation", "seed_stability", "imitation")
"""Of them, those that train the model once more, which cannot be done to a model that was altered afterwards."""

_TELLS = {"randomisation": "randomisation.similarity_shuffled_labels"}
"""The number that tells whether an audit was asked, where others of it are measured for every model."""


def measure_panel(
    corpus: str,
    options: Mapping[str, Any],
    members: Sequence[Member],
    *,
    folder: Path,
    texts: int = TEXTS,
    also: Sequence[str] = (),
    watcher: Watcher = QUIET,
) -> list[Case]:
    """Measure the members of one corpus, and of those measured ask `also` other audits.

    A model that cannot be trained, and an audit that cannot be asked, are named and left out.
    """
    torch.set_num_threads(1)
    try:
        check(corpus)
    except BadInput as error:
        watcher.say(f"{corpus} is left out. {error}")
        return []
    pieces = [
        Piece(
            f"{corpus} {member.name}",
            _member_piece,
            {
                "corpus": corpus,
                "options": dict(options),
                "member": {**asdict(member), "options": dict(member.options)},
                "folder": str(folder),
                "texts": texts,
                "also": list(also),
            },
        )
        for member in members
    ]

    def tell(place: int, outcome: Outcome) -> None:
        if outcome.problem and not outcome.fault:
            watcher.say(f"{pieces[place].name}: {outcome.problem}")
        for line in outcome.value or ():
            watcher.say(line)

    found = []
    for member, outcome in zip(
        members, share_out(pieces, title=corpus, unit="models", done=tell, watcher=watcher), strict=True
    ):
        if outcome.fault:
            outcome.taken()
        found += [case for case in _kept(corpus, member, folder) if case.limit == texts]
    return found


def _member_piece(config: Mapping[str, Any]) -> list[str]:
    """Measure one member, and give what there is to say of it."""
    said = Lines()
    measure_member(
        config["corpus"],
        config["options"],
        Member(**config["member"]),
        folder=Path(config["folder"]),
        texts=config["texts"],
        also=config["also"],
        watcher=said,
    )
    return said.lines


def _kept(corpus: str, member: Member, folder: Path) -> list[Case]:
    """Read what there is of a member."""
    paths = (_file(corpus, member, source, folder) for source in _sources(member))
    return [case for path in paths if (case := read_case(path)) is not None]


def measure_member(
    corpus: str,
    options: Mapping[str, Any],
    member: Member,
    *,
    folder: Path,
    texts: int = TEXTS,
    also: Sequence[str] = (),
    watcher: Watcher = QUIET,
) -> list[Case]:
    """Measure one member by all its sources; what is finished is read."""
    found = []
    for source in _sources(member):
        path = _file(corpus, member, source, folder)
        case = read_case(path)
        if case is None or case.limit != texts:
            try:
                classifier = _model(corpus, options, member, folder / "runs")
                case = _ask(corpus, member, classifier, source, texts=texts)
            except HeedfulError as error:
                watcher.say(f"{corpus} {member.name}: {error}")
                break
            write_json(path, case.model_dump(mode="json"))
            truth = "unknown" if case.truth is None else f"{case.truth:.2f}"
            watcher.say(f"{case.name}: accuracy {case.accuracy:.2f}, truth {truth}, {case.sort}")
        if source == "attention":
            for name in _missing(case, member, also):
                try:
                    case = _ask_also(case, name, _model(corpus, options, member, folder / "runs"))
                except HeedfulError as error:
                    watcher.say(f"{case.name}, {name}: {error}")
                    continue
                write_json(path, case.model_dump(mode="json"))
                watcher.say(f"{case.name}: {name}")
        found.append(case)
    return found


def _sources(member: Member) -> tuple[str, ...]:
    return ("attention", *(SOURCES if member.explained else ()))


def _file(corpus: str, member: Member, source: str, folder: Path) -> Path:
    return folder / "cases" / corpus.replace("/", "-") / f"{member.name}--{source}.json"


def check(corpus: str) -> None:
    """Refuse a corpus that is not there, or whose deciding words are not marked."""
    split = load_corpus(DataOptions(dataset=corpus)).splits["test"]
    if split.evidence is None or not any(split.evidence):
        raise BadInput(
            f"Nobody marked the evidence in {corpus}, so that nothing is known of its models: plant some ({corpus}+token, +pair or +order)."
        )


def read_case(path: Path) -> Case | None:
    """Read a finished case; a damaged one is measured again."""
    try:
        return Case(**read_json(path))
    except (OSError, ValueError, TypeError, ValidationError):
        return None


def read_cases(folder: Path) -> list[Case]:
    """Read all finished cases below a folder."""
    cases = (read_case(path) for path in sorted((folder / "cases").glob("*/*.json")))
    return [case for case in cases if case is not None]


def _model(corpus: str, options: Mapping[str, Any], member: Member, runs: Path) -> Classifier:
    """Train a member, or load it, with the members that it depends on."""
    if member.altered is not None:
        assert member.of is not None
        lender = None if member.lender is None else _model(corpus, options, MEMBERS[member.lender], runs)
        return alter(_model(corpus, options, MEMBERS[member.of], runs), member.altered, lender=lender)
    values = {"dataset": corpus, **TRAINING, **options, **member.options}
    if member.of is not None:
        base = _model(corpus, options, MEMBERS[member.of], runs)
        values = {"base": str(base.run), **member.options}
    return train(resolve(values), runs=runs)


def _ask(corpus: str, member: Member, classifier: Classifier, source: str, *, texts: int) -> Case:
    options: dict[str, Any] = {"limit": texts, "source": source, "permutations": 50}
    chosen = build(AuditOptions, options)
    subject = Subject(classifier, choose_texts(classifier, None, chosen), chosen)
    truth = measure_truth(subject)
    result = audit(classifier, **options)
    summaries = dict(result.summaries)
    if source == "attention":
        summaries |= audit(classifier, only=["randomisation"], shuffled_labels=False, **options).summaries
    labels = subject.texts.instances.split.labels[np.concatenate(subject.texts.rows)]
    trained = classifier.trained
    assert trained is not None
    return Case(
        corpus=corpus,
        member=member.name,
        encoder=classifier.encoder,
        normaliser=trained.normaliser,
        kind=member.kind,
        seed=int(member.options.get("seed", 0)),
        source=source,
        contextual=classifier.model.contextual,
        accuracy=result.about.performance["accuracy"],
        majority=float(np.bincount(labels).max() / len(labels)),
        truth=None if math.isnan(truth.score) else truth.score,
        share=None if math.isnan(truth.share) else truth.share,
        texts=truth.texts,
        limit=texts,
        without=truth.without,
        alone=truth.alone,
        numbers=_numbers(summaries),
    )


def _missing(case: Case, member: Member, also: Sequence[str]) -> list[str]:
    """Give the audits that were not asked of a case yet, and can be."""
    return [
        name
        for name in also
        if not any(measure.startswith(_TELLS.get(name, f"{name}.")) for measure in case.numbers)
        and not (member.altered and name in _RETRAINED)
    ]


def _ask_also(case: Case, name: str, classifier: Classifier) -> Case:
    """Ask one more audit on the same texts."""
    summaries = audit(classifier, only=[name], limit=case.limit, **ALSO[name]).summaries
    return case.model_copy(update={"numbers": {**case.numbers, **_numbers({name: summaries[name]})}})


def _numbers(summaries: Mapping[str, Any]) -> dict[str, Number]:
    return {
        f"{name}.{number.name}": number
        for name, summary in summaries.items()
        for number in summary.numbers
        if number.group == ALL and number.estimate is not None
    }

"""heedful sweep with command: panel"""

from __future__ import annotations

from pathlib import Path

from heedful.cli.swept.swept_command import SWEPT, Kinds, Options, Row, SweptCommand, check_known

_KNOWN: Kinds = {"corpus": str, "member": str, "texts": int, "folder": str}


def _check(options: Options) -> Options:
    from heedful.errors import BadInput, did_you_mean
    from heedful.panel.members import MEMBERS

    check_known(options, _KNOWN, needed=("corpus", "member"))
    if options["member"] not in MEMBERS:
        raise BadInput(
            f"There is no model of the panel named {options['member']!r}: {did_you_mean(options['member'], MEMBERS)}"
        )
    return dict(options)


def _do(options: Options, runs: Path) -> Row:
    from heedful.panel.corpora import options_of
    from heedful.panel.measure_panel import TEXTS, check, measure_member
    from heedful.panel.members import MEMBERS

    corpus = options["corpus"]
    check(corpus)
    cases = measure_member(
        corpus,
        options_of(corpus),
        MEMBERS[options["member"]],
        folder=Path(options.get("folder") or runs.parent / "panel"),
        texts=options.get("texts") or TEXTS,
    )
    row: Row = {}
    for case in cases:
        before = "" if case.source == "attention" else f"{case.source} "
        row |= {f"{before}truth": case.truth, f"{before}accuracy": case.accuracy, f"{before}sort": case.sort}
    return row


SWEPT.register("panel", "measure a model of the panel on a corpus, which heedful panel then counts")(
    SweptCommand(_check, _do)
)

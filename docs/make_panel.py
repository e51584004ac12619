"""Put what was measured of the panel where heedful and its readers find it.

    python docs/make_panel.py PANEL

reads the cases that `heedful panel --measure --folder PANEL` kept, adds them to src/heedful/panel/measured.parquet, and writes the error
rates of the default policy (src/heedful/audits/policy.yaml), how well every audit separates (src/heedful/audits/separation.yaml) and
docs/panel.md anew. Without a folder, the pages are written again from what is there.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import yaml

from heedful.audits.audit import ALL, AUDITS
from heedful.audits.policy import POLICIES, read_policy
from heedful.audits.separation import FILE, MeasuredSeparation
from heedful.audits.verdict import KINDS
from heedful.panel.auroc import separations
from heedful.panel.case import sound
from heedful.panel.learn import LEARNT, held_out, learn
from heedful.panel.measure_panel import read_cases
from heedful.panel.panel_page import page
from heedful.panel.table import MEASURED, joined, read_table, write_table
from heedful.panel.verdicts import error_rates, errors
from heedful.storage import write_text

HERE = Path(__file__).parent


def main() -> None:
    """Write everything that follows from the cases."""
    cases = read_table() if MEASURED.is_file() else []
    if len(sys.argv) > 1:
        cases = joined(cases, read_cases(Path(sys.argv[1])))
        write_table(cases, MEASURED)
    attention = sound([case for case in cases if case.source == "attention"])
    learnt = learn(attention, read_policy())
    for rule in learnt.rules:
        if rule.measure in LEARNT:
            print(f"{rule.measure}: learnt {rule.forbid}")
    judged = held_out(attention, read_policy())
    rates = {ALL: error_rates(errors(judged))}
    for kind in sorted({KINDS[case.encoder] for case in attention if case.encoder in KINDS}):
        rates[kind] = error_rates(errors(p for p in judged if KINDS.get(p[0].encoder) == kind))
    policy = POLICIES["default"]
    text = re.sub(r"\nerrors:\n(  .*\n)*", "\n", policy.read_text(encoding="utf-8")).rstrip() + "\n"
    block = yaml.safe_dump(
        {"errors": {name: rate.model_dump() for name, rate in rates.items()}}, sort_keys=False
    )
    write_text(policy, text + block)
    best: dict[str, dict[str, object]] = {}
    asked = [rule.measure for rule in read_policy().rules]
    # Of each audit the number that the policy asks for, and else the one that separates best.
    for found in sorted(separations(attention), key=lambda s: s.measure not in asked):
        audit, _, number = found.measure.partition(".")
        separation = MeasuredSeparation(
            number=number,
            auroc=round(found.auroc, 3),
            low=round(found.low, 3),
            high=round(found.high, 3),
            models=found.faithful + found.unfaithful,
            chosen=found.measure not in asked,
        )
        best.setdefault(audit, separation.model_dump())
    write_text(FILE, yaml.safe_dump({name: best[name] for name in AUDITS if name in best}, sort_keys=False))
    write_text(HERE / "panel.md", page(cases, read_policy()))


if __name__ == "__main__":
    main()

"""Measure what docs/flat.md tells: run each command as a user would, and keep the numbers in docs/measured.

    HEEDFUL_DATA=… python docs/measure_flat.py VECTORS LANGUAGE_MODEL [part …]

VECTORS are counter-fitted (heedful data make counterfitted), LANGUAGE_MODEL is the folder of a masked one. It goes through the parts
that are named, in that order, or through all of them (docs/asked.py). What is kept is not measured again, complete runs are found and interrupted ones go on, so that it may
be stopped at any time, and several of it may work on different parts. Then: python docs/make_results.py
"""

from __future__ import annotations

import sys

from asked import FLAT_PARTS, MEASURED

from heedful.cli.app import main as heedful

if __name__ == "__main__":
    vectors, language_model, *chosen = sys.argv[1:]
    files = [f"--attack-vectors={vectors}", f"--attack-language-model={language_model}", f"--join={MEASURED}"]
    parts = {part.name: part for part in FLAT_PARTS}
    for part in [parts[name] for name in chosen or parts]:
        print(f"== {part.name}", flush=True)
        try:
            heedful(["reproduce", "flat", *part.flags, *files])
        except SystemExit as done:
            if done.code:
                print(f"{part.name} failed with exit code {done.code}", flush=True)

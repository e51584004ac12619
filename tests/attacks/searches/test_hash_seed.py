from __future__ import annotations

import os
import subprocess
import sys

CODE = """
from heedful.attacks.attack import Attack
from heedful.attacks.candidates.of_original import OfOriginal
from heedful.attacks.draft import Source
from heedful.attacks.driver import Driver
from heedful.attacks.searches.genetic import Genetic
from heedful.attacks.searches.improved_genetic import ImprovedGenetic
from heedful.attacks.searches.particle_swarm import ParticleSwarm
from heedful.attacks.space import SearchSpace
from heedful.attacks.victim import FunctionVictim

class Source_:
    def propose(self, places):
        return [[draft.word(p) + end for end in "abc"] for draft, p in places]

def victim(texts):
    return [[(p := .4 * (sum(map(ord, t)) % 97) / 97), 1 - p] for t in texts]

for search in (Genetic(9, 3), ImprovedGenetic(9, 3), ParticleSwarm(9, 3)):
    attack = Attack(OfOriginal(Source_()), (), search, lazy=False)
    done = []
    Driver(attack, FunctionVictim(victim), SearchSpace(attack)).run(
        [(n, Source.cut(t), 1) for n, t in enumerate(["one two three", "four five"])], done=done.append)
    print([(d.number, d.draft.text, d.queries, d.read) for d in done])
"""


def test_the_hash_seed_changes_no_search(tmp_path):
    outputs = {
        subprocess.run(
            [sys.executable, "-c", CODE],
            cwd=tmp_path,
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (0, 1, 2)
    }
    assert len(outputs) == 1

"""Faster genetic attack: Jia et al. 2019, Certified robustness to adversarial word substitutions."""

from __future__ import annotations

from heedful.attacks.attack import ATTACKS, Attack
from heedful.attacks.candidates.of_original import OfOriginal
from heedful.attacks.constraints.constraint import Constraint
from heedful.attacks.constraints.fluency import NotLessProbable
from heedful.attacks.constraints.places import NoStopWords
from heedful.attacks.constraints.stop_words import nltk_stop_words
from heedful.attacks.options import AttackOptions
from heedful.attacks.resources import language_model, share_of_words, substitutes
from heedful.attacks.searches.genetic import Genetic

_NEEDS = (
    "refuses substitutes that a masked language model finds improbable (leave that out with fluency=False, "
    "--no-fluency)"
)


@ATTACKS.register(
    "genetic_faster", "the genetic attack, substitutes judged once by the original text (Jia et al. 2019)"
)
def genetic_faster(options: AttackOptions) -> Attack:
    """Breed texts as the genetic attack does, for 40 generations, with substitutes that do not depend on each other.

    Where the sources differ, and which is followed:

    - Candidates. Paper and code: 8 neighbours of the original word, as above. TextAttack: 8 neighbours of the current
      word, with the distance to the original. Followed: the paper.
    - Language model. Paper and code: log p of six words to each side, in the original text, falls by 5 at most.
      TextAttack: the same, by another model. Followed, with the log probability of the word alone, by a masked
      language model.
    - How many words. Paper and code: all. TextAttack: a fifth. Followed: TextAttack; `max_changed` of 1 gives the
      paper's.
    - Parents, stop words, and which word: as in the genetic attack.
    """
    candidates, near = substitutes(options, count=8, min_cosine=0.75)
    constraints: list[Constraint] = [NoStopWords(nltk_stop_words()), *near, *share_of_words(options, 0.2)]
    if options.fluency:
        constraints.append(NotLessProbable(language_model(options, _NEEDS), drop=5.0))
    return Attack(
        candidates=OfOriginal(candidates),
        constraints=tuple(constraints),
        search=Genetic(generations=40, seed=options.seed),
        lazy=False,
    )

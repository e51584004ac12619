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
    "refuses substitutes that a language model finds improbable (leave that out with fluency=False, "
    "--no-fluency, of audits --no-attack-fluency)"
)


@ATTACKS.register(
    "genetic_faster", "the genetic attack, substitutes judged once by the original text (Jia et al. 2019)"
)
def genetic_faster(options: AttackOptions) -> Attack:
    """Breed texts as the genetic attack does, for 40 generations, with substitutes that do not depend on each other.

    Where the sources differ, and which is followed:

    - Candidates. Paper and code: at most 8 neighbours of the original word, as above, in a file that is fetched.
      TextAttack: 8 neighbours of the current word, with the distance to the original. Followed: the paper.
    - Language model. Paper and code: log p of the word with six words to each side, in the original text, falls by 5
      at most; the code leaves out what its model does not know, and refuses such substitutes. TextAttack: the same
      bound, by another model. Followed: so with a causal language model, which knows every word; with a masked one
      the log probability of the word alone counts.
    - Parents. Code: by the probability of the wrong class, without a temperature. TextAttack: as in its genetic attack.
      Followed: as in ours.
    - Which word. Code: any that has a substitute, equally often, and its best choice may be the original word.
      Followed: as in the genetic attack.
    - Generations. The code runs 20 if not told; its published command says 40, as TextAttack. Followed: 40.
    - How many words, and stop words. Paper and code: all, and none. TextAttack: a fifth, and NLTK's. Followed:
      TextAttack; `max_changed` of 1 gives the paper's number of words.
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

"""Genetic attack: Alzantot et al. 2018, Generating natural language adversarial examples."""

from __future__ import annotations

from heedful.attacks.attack import ATTACKS, Attack
from heedful.attacks.candidates.of_original import OfOriginal
from heedful.attacks.constraints.constraint import Constraint
from heedful.attacks.constraints.fluency import MostProbable
from heedful.attacks.constraints.places import NoStopWords
from heedful.attacks.constraints.stop_words import nltk_stop_words
from heedful.attacks.options import AttackOptions
from heedful.attacks.resources import language_model, share_of_words, substitutes
from heedful.attacks.searches.genetic import Genetic

_NEEDS = (
    "keeps the substitutes that a language model finds most probable (leave that out with fluency=False, "
    "--no-fluency, of audits --no-attack-fluency)"
)


@ATTACKS.register(
    "genetic", "neighbours in counter-fitted space, bred from a population of 60 (Alzantot et al. 2018)"
)
def genetic(options: AttackOptions) -> Attack:
    """Breed texts with replaced words: 60 members, 20 generations, at most a fifth of the words.

    Where the sources differ, and which is followed:

    - Parents. Paper and code: the fitter, the more probable, by softmax of the scores over a temperature (of .3 in the
      code of today; 3 in an older one). TextAttack: the other way round (scores of .9 and .1 give .065 and .935).
      Followed: the paper, with .3.
    - Candidates. Paper and code: 8 neighbours of the *original* word, squared distance of unit vectors at most .5
      (cosine .75). TextAttack: neighbours of the current word, which may drift away. Followed: the paper.
    - Language model. Paper and code: of the candidates the 4 most probable by a causal model, after the word before
      alone (times that of the word behind after the candidate, if that is chosen). TextAttack: the first 4 whatever
      their probability, and the last word of a text stands before the first. Followed: the paper, with six words at
      each side: a masked language model fills the gap between them, and of a causal one the whole stretch counts.
    - Which word. Code: one that was not replaced yet, drawn by its number of neighbours, of fifty; any, once all were
      replaced. TextAttack: another is drawn until one helps. Followed: the code, by the number of substitutes that
      remain; words that were replaced are drawn again only where no other may be.
    - How many words. Code: no limit in the search; the paper counts a fifth as the most. TextAttack: a fifth.
      Followed: a fifth, rounded up; a child beyond it is bred anew.
    - Stop words. Code: the 26 most frequent words of its corpus. TextAttack: NLTK's. Followed: TextAttack.
    """
    candidates, near = substitutes(options, count=8, min_cosine=0.75)
    constraints: list[Constraint] = [NoStopWords(nltk_stop_words()), *near, *share_of_words(options, 0.2)]
    if options.fluency:
        constraints.append(MostProbable(language_model(options, _NEEDS), count=4))
    return Attack(
        candidates=OfOriginal(candidates),
        constraints=tuple(constraints),
        search=Genetic(seed=options.seed),
        lazy=False,
    )

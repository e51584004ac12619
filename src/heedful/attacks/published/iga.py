"""IGA: Wang et al. 2019, Natural language adversarial attacks and defenses in word level."""

from __future__ import annotations

from heedful.attacks.attack import ATTACKS, Attack
from heedful.attacks.constraints.places import NoStopWords
from heedful.attacks.constraints.stop_words import nltk_stop_words
from heedful.attacks.options import AttackOptions
from heedful.attacks.resources import share_of_words, substitutes
from heedful.attacks.searches.improved_genetic import ImprovedGenetic


@ATTACKS.register(
    "iga", "improved genetic: words replaced up to five times, parents cut at one point (Wang et al. 2019)"
)
def iga(options: AttackOptions) -> Attack:
    """Breed texts whose words may be replaced again and again: 60 members, 20 generations, no language model.

    Where the sources differ, and which is followed:

    - First population. Paper: a member for each word, with its best substitute. TextAttack: the same, but for word 0
      a word is drawn. Followed: the paper, and of more than 60 the fittest.
    - Parents. TextAttack: as in its genetic attack, the less fit the more probable. Followed: the fitter, as in ours.
    - Candidates. Paper and TextAttack: 50 neighbours of the *current* word, squared distance of unit vectors at most
      .5 (cosine .75), each word at most five times. Followed.
    - How many words, and stop words. TextAttack: a fifth, and NLTK's. Followed.
    """
    candidates, near = substitutes(options, count=50, min_cosine=0.75, to="current")
    return Attack(
        candidates=candidates,
        constraints=(NoStopWords(nltk_stop_words()), *near, *share_of_words(options, 0.2)),
        search=ImprovedGenetic(seed=options.seed),
        lazy=False,
    )

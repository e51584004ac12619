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

    - First population. Code: two members for each word, with its two best substitutes. TextAttack: one with the best,
      but for word 0 a word is drawn. Followed: one with the best for every word, and of more than 60 the fittest.
    - Candidates. Code: of the 8 nearest neighbours of the *current* word the first 4, squared distance of unit vectors at
      most .5 (cosine .75), as often as they come. TextAttack: 50 such neighbours, each word at most five times.
      Followed: TextAttack.
    - Parents. Code: the 60 fittest, where half of the fitness is the share of words replaced (the more the fitter); each
      is crossed with any other. TextAttack: as in its genetic attack, the less fit the more probable. Followed: the
      fitter, as in ours, by the victim alone.
    - Children. Code and TextAttack: the beginning of one parent and the end of the other. Followed. Code: few members
      are mutated (its draw means a half, though 1 % is written). TextAttack: all. Followed: all.
    - How many words, and stop words. Code: any number, and a success with a quarter or more is not counted; the 27 most
      frequent words and single letters stay. TextAttack: a fifth, and NLTK's. Followed: TextAttack.

    What the paper says beyond its code was not checked.
    """
    candidates, near = substitutes(options, count=50, min_cosine=0.75, to="current")
    return Attack(
        candidates=candidates,
        constraints=(NoStopWords(nltk_stop_words()), *near, *share_of_words(options, 0.2)),
        search=ImprovedGenetic(seed=options.seed),
        lazy=False,
    )

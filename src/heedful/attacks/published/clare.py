"""CLARE: Li et al. 2021, Contextualized perturbation for textual adversarial attack."""

from __future__ import annotations

import math

from heedful.attacks.attack import ATTACKS, Attack
from heedful.attacks.candidates.masked_words import MaskedEdits
from heedful.attacks.constraints.places import NoStopWords, NoWordTwice
from heedful.attacks.constraints.stop_words import nltk_stop_words
from heedful.attacks.options import AttackOptions
from heedful.attacks.resources import language_model, share_of_words, similar_sentences
from heedful.attacks.searches.greedy_edits import GreedyEdits

_NEEDS = "takes the words that it replaces, inserts and merges from a masked language model"
_SIMILARITY = 1 - math.acos(0.7) / math.pi
"""A cosine of .7."""


@ATTACKS.register("clare", "words replaced, inserted and merged by a masked language model (Li et al. 2021)")
def clare(options: AttackOptions) -> Attack:
    """Replace words, insert others and merge two into one, by what a masked language model expects there.

    Where the sources differ, and which is followed:

    - Candidates. Paper: words of at least 5e-4 (replace, insert) and 5e-3 (merge). TextAttack: the same, and of
      inserted ones any; of each the 50 most probable, with stripped pieces of words, in texts padded to 512.
      Followed: TextAttack, with whole words and without padding.
    - Search. Paper: the best edit of each place is found once; then they are made by their scores, one at each place.
      TextAttack: all edits are scored anew after each. Followed: TextAttack.
    - Insertions. Paper: after a word. TextAttack: before it. Followed: the paper; that word then stays as it is.
    - Merges. Paper: any two words. TextAttack: two words whose parts of speech go together. Followed: the paper,
      where a space alone stands between them and behind them, and neither is a stop word.
    - Sentences. Paper and TextAttack (older releases ask for .904): a cosine of at least .7 to the original, by
      TextAttack in a window of 15 words, not asked of shorter texts. Followed: TextAttack, with MiniLM as the
      encoder.
    - Stop words. TextAttack: NLTK's. Followed.
    """
    model = language_model(options, _NEEDS)
    return Attack(
        candidates=MaskedEdits(model, count=options.neighbours or 50),
        constraints=(
            NoWordTwice(),
            NoStopWords(nltk_stop_words()),
            *similar_sentences(options, least=_SIMILARITY),
            *share_of_words(options),
        ),
        search=GreedyEdits(),
    )

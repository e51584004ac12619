"""CLARE: Li et al. 2021, Contextualized perturbation for textual adversarial attack."""

from __future__ import annotations

import math

from heedful.attacks.attack import ATTACKS, Attack
from heedful.attacks.candidates.masked_words import MaskedEdits
from heedful.attacks.constraints.places import NoStopWords, NoWordTwice
from heedful.attacks.constraints.stop_words import nltk_stop_words
from heedful.attacks.options import AttackOptions
from heedful.attacks.resources import masked_language_model, share_of_words, similar_sentences
from heedful.attacks.searches.greedy_edits import GreedyEdits

_NEEDS = "takes the words that it replaces, inserts and merges from a masked language model"
_SIMILARITY = 1 - math.acos(0.7) / math.pi
"""A cosine of .7."""


@ATTACKS.register("clare", "words replaced, inserted and merged by a masked language model (Li et al. 2021)")
def clare(options: AttackOptions) -> Attack:
    """Replace words, insert others and merge two into one, by what a masked language model expects there.

    Where the sources differ, and which is followed:

    - Candidates. Code and TextAttack: words of at least 5e-4 (replace) and 5e-3 (merge), and of inserted ones any; of
      each the 50 most probable. TextAttack: with stripped pieces of words, in texts padded to 512. Followed: these
      numbers, with whole words and without padding.
    - Search. Code: the best edit of each kind at each place is found once; by falling effect each is then made with the
      best word for the text as it is by now, if that helps. TextAttack: all edits are scored anew after each.
      Followed: TextAttack.
    - Insertions. Code: between two words, never before the first, and after a stop word too. TextAttack: before a word.
      Followed: after a word that is no stop word; that word then stays as it is.
    - Merges. Code and TextAttack: two words whose parts of speech go together (a noun with a noun, an adjective with
      a noun); code: none of the first five words. Followed: any two words where a space alone stands between them and
      behind them, and neither is a stop word.
    - Sentences. Code: by the Universal Sentence Encoder, in a window of 15 words to the *current* text, one minus the
      angle in radians is at least .6 or .7 by dataset (for topics less, or nothing, is asked). TextAttack (older releases ask for .904): a cosine of at least .7 to the original,
      in a window of 15 words, not asked of shorter texts. Followed: TextAttack, with MiniLM as the encoder.
    - Stop words. Code and TextAttack: NLTK's are not replaced. Followed. Code: for reviews neither adjectives nor
      adverbs nor auxiliary verbs. Not followed.

    What the paper says beyond its code was not checked.
    """
    model = masked_language_model(options, _NEEDS)
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

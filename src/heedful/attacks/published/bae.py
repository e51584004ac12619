"""BAE: Garg and Ramakrishnan 2020, BERT-based adversarial examples for text classification."""

from __future__ import annotations

import math

from heedful.attacks.attack import ATTACKS, Attack
from heedful.attacks.candidates.masked_words import MaskedWords
from heedful.attacks.constraints.constraint import Constraint
from heedful.attacks.constraints.part_of_speech import SamePartOfSpeech
from heedful.attacks.constraints.places import NoStopWords, NoWordTwice
from heedful.attacks.constraints.stop_words import nltk_stop_words
from heedful.attacks.options import AttackOptions
from heedful.attacks.resources import masked_language_model, share_of_words, similar_sentences
from heedful.attacks.searches.greedy import Greedy

_NEEDS = "takes substitutes from a masked language model"
_SIMILARITY = 1 - 0.2 / math.pi
"""The authors' threshold of .8, with the angle divided by π, which their code forgets."""


@ATTACKS.register(
    "bae", "words that a masked language model expects, one by one (Garg and Ramakrishnan 2020)"
)
def bae(options: AttackOptions) -> Attack:
    """Replace words by those that a masked language model expects in their places (BAE-R).

    Where the sources differ, and which is followed:

    - Candidates. Authors: the 50 most probable tokens, of which whole words that GloVe knows are kept. TextAttack:
      pieces of words too, with their mark stripped, in texts padded to 512. Followed: the 50 most probable *whole
      words*.
    - Sentences. Paper: cosine of at least .8 to the original. Code: 1 − angle of at least .8, a cosine of .98, in a
      window of 15 words, to the *current* text. TextAttack: 1 − .2 / π = .936, which is an angular similarity, as the
      least cosine. Followed: the code's angle, to the original, in that window, not asked of shorter texts, with
      MiniLM as the encoder. The paper's cosine is a `min_similarity` of .795, TextAttack's one of .886; both are far
      easier to reach.
    - Part of speech. All: the same; nouns and verbs for each other by TextAttack. Followed: TextAttack.
    - Order. Paper: the fall of the probability without the word. TextAttack: the score without the word. The same.
    - Stop words. TextAttack: NLTK's. Followed.
    """
    model = masked_language_model(options, _NEEDS)
    constraints: list[Constraint] = [NoWordTwice(), NoStopWords(nltk_stop_words())]
    if options.same_part_of_speech is not False:
        constraints.append(SamePartOfSpeech())
    return Attack(
        candidates=MaskedWords(model, count=options.neighbours or 50),
        constraints=(*constraints, *similar_sentences(options, least=_SIMILARITY), *share_of_words(options)),
        search=Greedy("deletion"),
    )

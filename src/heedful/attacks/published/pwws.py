"""PWWS: Ren et al. 2019, Generating natural language adversarial examples through probability weighted word saliency."""

from __future__ import annotations

from heedful.attacks.attack import ATTACKS, Attack
from heedful.attacks.candidates.wordnet import WordNetSynonyms
from heedful.attacks.constraints.places import NoStopWords, NoWordTwice
from heedful.attacks.constraints.stop_words import nltk_stop_words
from heedful.attacks.options import AttackOptions
from heedful.attacks.resources import own_synonyms, share_of_words
from heedful.attacks.searches.greedy import Greedy


@ATTACKS.register(
    "pwws", "WordNet synonyms, words by saliency times the best substitute's effect (Ren et al. 2019)"
)
def pwws(options: AttackOptions) -> Attack:
    """Replace words by WordNet synonyms, in the order of probability weighted word saliency.

    Where the sources differ, and which is followed:

    - Candidates. Paper and code: synonyms of the word's part of speech, and named entities of the other class in the
      place of named entities. TextAttack: all meanings whatever the part of speech, and no named entities. Followed:
      TextAttack; `same_part_of_speech` gives the paper's synonyms.
    - Order. Paper: softmax of the saliency times the *gain* of the best substitute. TextAttack: times the *score* of the
      best substitute (1 − probability of the true class). Followed: TextAttack.
    - Saliency. Paper: the word is replaced by the model's unknown word. TextAttack: by the literal text "[UNK]", which a
      model may read as several tokens. Followed: TextAttack; but classifiers of transformers read it as text here, as
      all that texts quote, and their own tokenisers, under TextAttack, as the unknown token.
    - Choice. Paper and code: the best substitute of each word is fixed on the original text, and taken whether or not it
      helps. TextAttack: substitutes are scored again on the current text, and one is taken only if it raises the score.
      Followed: TextAttack.
    - Stop words. Paper: none are named. TextAttack: NLTK's. Followed: TextAttack.
    - Ties. TextAttack: the first by the text. Followed, with scores that differ by rounding alone as ties.
    """
    candidates = own_synonyms(options) or WordNetSynonyms(
        same_part_of_speech=bool(options.same_part_of_speech)
    )
    return Attack(
        candidates=candidates,
        constraints=(NoWordTwice(), NoStopWords(nltk_stop_words()), *share_of_words(options)),
        search=Greedy("saliency"),
    )

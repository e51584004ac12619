"""TextFooler: Jin et al. 2020, Is BERT really robust?"""

from __future__ import annotations

from heedful.attacks.attack import ATTACKS, Attack
from heedful.attacks.constraints.constraint import Constraint
from heedful.attacks.constraints.part_of_speech import SamePartOfSpeech
from heedful.attacks.constraints.places import NoStopWords, NoWordTwice
from heedful.attacks.constraints.stop_words import textfooler_stop_words
from heedful.attacks.options import AttackOptions
from heedful.attacks.resources import near_words, own_synonyms, share_of_words
from heedful.attacks.searches.greedy import Greedy

_SIMILARITY = 0.840845057
"""1 − 0.5 / π: the authors' threshold of 0.5, with the angle divided by π, which their code forgets."""


@ATTACKS.register(
    "textfooler", "neighbours in counter-fitted space that keep the sentence similar (Jin et al. 2020)"
)
def textfooler(options: AttackOptions) -> Attack:
    """Replace words by neighbours in counter-fitted space that keep part of speech and the meaning of the sentence.

    Where the sources differ, and which is followed:

    - Cosine of a word and its substitute. Paper: .7. Code: .7 by default, .5 as the author ran it. TextAttack: .5, to the
      original word. Followed: .5.
    - Order. Paper and code: the change when the word is replaced by an unknown one, and more where the class switches.
      TextAttack: the score without the word. Followed: TextAttack.
    - Acceptance. Code: any substitute below the *original* probability. TextAttack: only one that beats the current
      score. Followed: TextAttack.
    - Part of speech. Code: the attacked text, four words to each side. TextAttack: the original text, four words before
      and three after; nouns and verbs may replace each other in both. Followed: TextAttack.
    - Sentences. Paper and code: Universal Sentence Encoder, a cosine that the code computes from an angle. TextAttack: its
      angular similarity, at least .840845, in a window of 15 words against the current text, and not asked of shorter
      texts. Followed: TextAttack, with MiniLM as the encoder, because it can be had anywhere (`sentence_encoder`).
    - Success. All: of the substitutes that change the class, the one with the most similar sentence.
    - Queries. Sentences are compared after the victim has read the candidates, and only as far as needed: the victim reads
      candidates that TextAttack would not have shown it, and far fewer sentences are encoded. The outcome is the same.
    """
    candidates, near = (
        (own_synonyms(options), ()) if options.synonyms else near_words(options, count=50, min_cosine=0.5)
    )
    assert candidates is not None
    constraints: list[Constraint] = [NoWordTwice(), NoStopWords(textfooler_stop_words()), *near]
    if options.same_part_of_speech is not False:
        constraints.append(SamePartOfSpeech())
    if options.similarity:
        from heedful.attacks.constraints.sentence_similarity import SentenceSimilarity

        least = _SIMILARITY if options.min_similarity is None else options.min_similarity
        constraints.append(SentenceSimilarity.load(options.sentence_encoder, least=least, window=15))
    return Attack(
        candidates=candidates,
        constraints=(*constraints, *share_of_words(options)),
        search=Greedy("deletion"),
    )

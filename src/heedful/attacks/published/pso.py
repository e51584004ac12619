"""PSO: Zang et al. 2020, Word-level textual adversarial attacking as combinatorial optimization."""

from __future__ import annotations

from heedful.attacks.attack import ATTACKS, Attack
from heedful.attacks.candidates.of_original import OfOriginal
from heedful.attacks.constraints.constraint import Constraint
from heedful.attacks.constraints.part_of_speech import SamePartOfSpeech
from heedful.attacks.constraints.places import NoStopWords
from heedful.attacks.constraints.stop_words import nltk_stop_words
from heedful.attacks.options import AttackOptions
from heedful.attacks.resources import flags, sememes, share_of_words, substitutes
from heedful.attacks.searches.particle_swarm import ParticleSwarm
from heedful.errors import BadInput


@ATTACKS.register("pso", "words with the same sememes, found by a swarm of 60 particles (Zang et al. 2020)")
def pso(options: AttackOptions) -> Attack:
    """Let a swarm of texts move towards the best of them: words with the same sememes and part of speech.

    Where the sources differ, and which is followed:

    - Moves. Paper and code: a word becomes that of the best with the sigmoid of the velocity, which grows where they
      differ. TextAttack: with one minus that. Followed: the paper.
    - Candidates. Code: words with the same sememes in some meaning, and the same part of speech in some meaning;
      of inflected words those in the same form. TextAttack: the same, from a file that is fetched. Followed: sememes
      and part of speech of one meaning, from a file of the user's (`sememes`), without inflection; or synonyms or
      neighbours of the same part of speech in their place, if these are given.
    - Velocity. Paper: within three. Code and TextAttack: a pull of three by each of the two bests, without a bound.
      Followed: the paper.
    - Mutation. Code and TextAttack: with probability 1 − 2 · (share of words replaced), by the best substitute of a
      word. Code: the word is drawn by its number of substitutes, ten at most. TextAttack: by what its best substitute
      gains, which takes far more queries and finds more. Followed: TextAttack.
    - Stop words. Code: none are named; only nouns, verbs, adjectives and adverbs have candidates. TextAttack: NLTK's.
      Followed: TextAttack.
    """
    candidates, constraints = sememes(options), list[Constraint]()
    if candidates is None:
        if options.synonyms is None and options.vectors is None:
            raise BadInput(
                f"The attack pso takes words with the same sememes from HowNet, which is in no package: give a file of "
                f"words, parts of speech and sememes ({flags('sememes')}), or others in their place "
                f"({flags('vectors')}; or {flags('synonyms')})."
            )
        candidates, near = substitutes(options, count=8, min_cosine=0.75)
        constraints += near
        if options.same_part_of_speech is not False:
            constraints.append(SamePartOfSpeech(noun_for_verb=False))
    return Attack(
        candidates=OfOriginal(candidates),
        constraints=(NoStopWords(nltk_stop_words()), *constraints, *share_of_words(options)),
        search=ParticleSwarm(seed=options.seed),
        lazy=False,
    )

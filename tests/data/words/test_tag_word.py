from __future__ import annotations

import itertools
import random

from heedful.data.words.tagger import Tagger

WORDS = ["the", "plot", "runs", "well-made", "1999", "7", "odd"]


def test_a_word_is_tagged_in_its_place_as_in_its_whole_window():
    chance = random.Random(0)
    tags = ["DT", "NN", "VB", "JJ"]
    features = [f"{kind} {word}" for kind in ("i word", "i-1 word", "i+1 word", "i+2 word") for word in WORDS]
    features += [f"i-1 tag {tag}" for tag in (*tags, "-START-")]
    features += [
        f"i tag+i-2 tag {a} {b}" for a, b in itertools.product((*tags, "-START-"), (*tags, "-START2-"))
    ]
    weights = {feature: {tag: chance.uniform(-1, 1) for tag in tags} for feature in features}
    tagger = Tagger(weights, {"the": "DT"}, set(tags))
    seen = set()
    for size in range(6):
        before, after = chance.choices(WORDS, k=size), chance.choices(WORDS, k=3)
        windows = [[*before, word, *after] for word in WORDS]
        expected = [found[: size + 1] for found in tagger.tag_many(windows)]
        assert tagger.tag_word(before, WORDS, after) == expected
        seen |= {tuple(found) for found in expected}
    assert tagger.tag_word(before, [], after) == [] and len(seen) > 12

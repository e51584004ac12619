"""Generated bAbI stories, read again by a parser that knows nothing of the simulator."""

import itertools
import re
from collections import Counter

import pytest

from heedful.data.corpora.synthetic import generate
from heedful.data.corpora.synthetic.babi import babi_corpus

TASKS = (1, 2, 3)
SMALL = {"train": 250, "test": 50}
PLACES = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
SENTENCE = re.compile(
    r"(?P<person>[A-Z]\w+) (?:(?:went|went back|moved|journeyed|travelled) to the (?P<place>\w+)"
    r"|(?P<take>got|took|grabbed|picked up) the (?P<taken>\w+)(?: there)?"
    r"|(?:left|dropped|discarded|put down) the (?P<dropped>\w+)(?: there)?)\."
)


def sentences(document):
    return re.findall(r"[A-Z][^.]*\.", document)


def read(told):
    """Follow the story: where each person is, and the places each object has been, in order."""
    person_at, holder, path = {}, {}, {}

    def note(thing, place):
        places = path.setdefault(thing, [])
        if not places or places[-1] != place:
            places.append(place)

    for sentence in told:
        found = SENTENCE.fullmatch(sentence)
        assert found, sentence
        person = found["person"]
        if found["place"]:
            person_at[person] = found["place"]
        elif found["taken"]:
            holder[found["taken"]] = person
            note(found["taken"], person_at.get(person))
        else:
            assert holder.pop(found["dropped"], person) == person
            note(found["dropped"], person_at.get(person))
        for thing, carrier in holder.items():
            note(thing, person_at.get(carrier))
    return person_at, path


def answer(told, question):
    person_at, path = read(told)
    if person := re.fullmatch(r"Where is ([A-Z]\w+)\?", question):
        return person_at.get(person[1])
    if thing := re.fullmatch(r"Where is the (\w+)\?", question):
        return path.get(thing[1], [None])[-1]
    thing, place = re.fullmatch(r"Where was the (\w+) before the (\w+)\?", question).groups()
    places = path.get(thing, [])
    last = max((i for i, one in enumerate(places) if one == place), default=0)
    return places[last - 1] if last else None


@pytest.fixture(scope="module", params=TASKS)
def corpus(request):
    return generate(f"babi_{request.param}_generated")


def rows(corpus, split="test"):
    part = corpus.splits[split]
    answers = [corpus.labels[label] for label in part.labels]
    return zip(part.texts, part.queries, answers, part.evidence, strict=True)


def test_sizes_task_and_labels(corpus):
    assert {name: len(split) for name, split in corpus.splits.items()} == {
        "train": 9000,
        "dev": 1000,
        "test": 1000,
    }
    assert (corpus.task, corpus.labels) == ("qa", PLACES)
    counts = Counter(corpus.splits["train"].labels.tolist())
    assert sorted(counts) == list(range(6))
    assert min(counts.values()) > 1200


def test_answers_follow_from_the_story(corpus):
    for document, question, expected, _ in rows(corpus):
        assert answer(sentences(document), question) == expected


def test_answers_follow_from_the_evidence_alone_and_from_nothing_less(corpus):
    for document, question, expected, spans in rows(corpus):
        support = [document[a:b] for a, b in spans]
        assert set(support) <= set(sentences(document))
        assert answer(support, question) == expected
        for i in range(len(support)):
            assert answer(support[:i] + support[i + 1 :], question) is None


def test_evidence_is_as_many_sentences_as_the_task_says(corpus):
    facts = int(corpus.name.split("_")[1])
    for document, _, _, spans in rows(corpus):
        assert len(spans) == facts == len({a for a, _ in spans})
        assert spans == sorted(spans)
        latest = document[spans[-1][0] :]
        assert len(sentences(latest)) <= 5


def test_questions_of_a_story_share_its_beginning(corpus):
    texts = corpus.splits["train"].texts
    for start in range(0, 500, 5):
        story = texts[start : start + 5]
        for earlier, later in itertools.pairwise(story):
            assert later.startswith(earlier + " ")
            assert len(sentences(later)) >= len(sentences(earlier)) + 2


def test_lengths_are_near_those_of_the_original(corpus):
    words = {"babi_1_generated": 31, "babi_2_generated": 79, "babi_3_generated": 252}[corpus.name]
    texts = corpus.splits["train"].texts
    assert sum(len(text.split()) for text in texts) / len(texts) == pytest.approx(words, rel=0.1)


@pytest.mark.parametrize("task", TASKS)
def test_same_seed_same_corpus_and_other_seed_another(task):
    first, again, other = (babi_corpus(task, seed=seed, sizes=SMALL) for seed in (3, 3, 4))
    assert first.fingerprint == again.fingerprint != other.fingerprint
    assert first.splits["train"].evidence == again.splits["train"].evidence
    assert first.splits["train"].texts[:50] != first.splits["test"].texts


def test_all_the_verbs_of_the_original_are_used(corpus):
    words = set(" ".join(corpus.splits["test"].texts).replace(".", "").split())
    assert {"went", "back", "moved", "journeyed", "travelled"} <= words
    handling = {"got", "took", "grabbed", "picked", "left", "dropped", "discarded", "put", "there"}
    assert handling <= words if corpus.name != "babi_1_generated" else not handling & words

"""The Universal Sentence Encoder against plain loops over a sentence, and against what it is known to find alike."""

from __future__ import annotations

import struct

import numpy as np
import pytest
import torch

from heedful.attacks.constraints.sentence_similarity import SentenceSimilarity
from heedful.attacks.constraints.universal_sentence_encoder import UniversalSentenceEncoder
from heedful.errors import BadInput

PIECES = [
    "<unk>",
    "<s>",
    "</s>",
    "\u2581a",
    "\u2581fine",
    "\u2581film",
    "\u2581",
    "f",
    "i",
    "n",
    "e",
    "l",
    "m",
    "a",
]
SIZE, FEATURES, OUT = 6, 4, 5
WIDTHS = {2: 0, 3: 1, 5: 2}


def field(number: int, content: bytes) -> bytes:
    size = len(content)
    return bytes([number << 3 | 2, *([size & 127 | 128, size >> 7] if size > 127 else [size])]) + content


def model(pieces=PIECES) -> bytes:
    """A file of pieces, longer ones the more probable, and rules that replace no character."""
    rules = struct.pack("<I", 2048) + bytes(2048)
    written = b"".join(
        field(1, field(1, piece.encode()) + b"\x15" + struct.pack("<f", len(piece) - 9.0) + b"\x18\x01")
        for piece in pieces
    )
    return written + field(3, field(2, rules))


def weights() -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)

    def some(*shape: int) -> np.ndarray:
        return random.normal(size=shape).astype(np.float32)

    found = {f"q{k}": random.integers(0, 256, (1, SIZE), dtype=np.uint8) for k in range(1, 18)}
    found |= {"lo": some(17), "scale": some(17) / 100, "eps": np.array(1e-6)}
    for n in WIDTHS:
        found |= {f"proj{n}": some(SIZE, FEATURES), f"proj_b{n}": some(FEATURES)}
        found |= {f"ln_g{n}": some(FEATURES), f"ln_b{n}": some(FEATURES)}
        for layer in ("1", "2"):
            found |= {f"w{layer}_{n}": some(n * FEATURES, FEATURES), f"b{layer}_{n}": some(FEATURES)}
    wide = SIZE + 3 * FEATURES
    found |= {"ln_g": some(wide), "ln_b": some(wide), "cnn_W": some(wide, OUT), "cnn_b": some(OUT)}
    shapes = {"d0": (OUT, 3), "d1": (3, 3), "p1": (OUT, 3), "d2": (3, OUT), "p3": (3, OUT), "d3": (OUT, OUT)}
    return found | {name: some(*shape) for name, shape in shapes.items()}


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "encoder"
    place.mkdir()
    (place / "sp.model").write_bytes(model())
    np.savez(place / "weights.npz", **weights())
    return place


def by_hand(ids: list[int]) -> np.ndarray:
    """One sentence, one place after the other."""
    w = weights()

    def normal(x: np.ndarray, gain: np.ndarray, shift: np.ndarray) -> np.ndarray:
        return (x - x.mean()) / np.sqrt(x.var() + 1e-6) * gain + shift

    def joined(name: str) -> np.ndarray:
        return np.concatenate([w[f"{name}{n}"] for n in WIDTHS], axis=-1)

    rows = [w[f"q{p % 17 + 1}"][p // 17] * w["scale"][p % 17] + w["lo"][p % 17] for p in ids]
    projected = [normal(r @ joined("proj") + joined("proj_b"), joined("ln_g"), joined("ln_b")) for r in rows]
    features = [[row] for row in rows]
    for number, (n, before) in enumerate(WIDTHS.items()):
        x = [row[number * FEATURES : (number + 1) * FEATURES] for row in projected]
        for layer in ("1", "2"):
            new = []
            for t in range(len(x)):
                places = range(t - before, t - before + n)
                window = [x[p] if 0 <= p < len(x) else np.zeros(FEATURES) for p in places]
                said = np.concatenate(window) @ w[f"w{layer}_{n}"] + w[f"b{layer}_{n}"]
                new.append(x[t] + np.maximum(said, 0))
            x = new
        for each, row in zip(features, x, strict=True):
            each.append(row)
    total = sum(
        normal(np.concatenate(each), w["ln_g"], w["ln_b"]) @ w["cnn_W"] + w["cnn_b"] for each in features
    )
    mean = total / np.sqrt(len(ids))
    first = np.maximum(mean @ w["p1"] + np.maximum(mean @ w["d0"], 0) @ w["d1"], 0)
    last = np.tanh(first @ w["p3"] + np.maximum(first @ w["d2"], 0) @ w["d3"])
    return last / np.linalg.norm(last)


SENTENCES = {
    "a fine film": [1, 3, 4, 5, 2],
    "  a   film ": [1, 3, 5, 2],
    "": [1, 0, 2],
    "film": [1, 5, 2],
    "a zzz": [1, 3, 6, 0, 2],
}


def test_every_sentence_is_what_plain_loops_give_whatever_its_companions(folder):
    encoder = UniversalSentenceEncoder(folder)
    together = encoder(list(SENTENCES))
    for sentence, found in zip(SENTENCES, together, strict=True):
        assert found.numpy() == pytest.approx(by_hand(SENTENCES[sentence]), abs=1e-5)
        assert torch.allclose(found, encoder([sentence])[0], atol=1e-6)


def test_it_is_taken_by_its_folder(folder):
    constraint = SentenceSimilarity.load(str(folder), least=0.5)
    assert constraint._encodings.similarities([("a fine film", "a fine film")]) == [pytest.approx(1)]


@pytest.mark.parametrize("damage", ["cut", "text", "few", "array", "shape"])
def test_a_damaged_folder_is_refused_in_a_sentence(folder, damage):
    arrays = weights()
    if damage == "array":
        arrays.pop("d3")
    if damage == "shape":
        arrays["d3"] = arrays["d3"][:, :2]
    np.savez(folder / "weights.npz", **arrays)
    content = {"cut": model()[:-9], "text": b"no pieces at all", "few": model(PIECES[:2])}.get(
        damage, model()
    )
    (folder / "sp.model").write_bytes(content)
    with pytest.raises(BadInput, match="use-multilingual again") as refused:
        UniversalSentenceEncoder(folder)
    assert "\n" not in str(refused.value)


@pytest.mark.slow
def test_the_real_one_finds_alike_what_is(asset):
    encoder = UniversalSentenceEncoder(asset("use-multilingual"))
    film, movie, weather = encoder(["a wonderful film", "a marvellous movie", "it will rain tomorrow"])
    assert float(film @ movie) > float(film @ weather) + 0.3

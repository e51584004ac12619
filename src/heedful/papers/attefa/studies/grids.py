"""The grids: one for each factor that AtteFa's section 7 names, and Wiegreffe & Pinter's over their twins."""

from __future__ import annotations

import re

from heedful.errors import BadInput
from heedful.papers.attefa.studies.study import Setting, Study, TwinSetting, register

_TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0)
_SPARSE = ("sparsemax", "entmax15")
_PLACES = ("scattered", "start", "middle", "end")
_STRENGTHS = ("any", "strong", "weak")
_HEADS = (1, 2, 4)
# KL has no bound and is about 10 where attention is wholly elsewhere: attention goes there between λ 0.01 and 0.1.
_KL_STRENGTHS = ("0.0001", "0.001", "0.003", "0.01", "0.015", "0.02", "0.03", "0.1", "1")
_QUICK_STRENGTHS = ("0.0001", "0.001", "0.01", "0.1")
ATTEFA = TwinSetting("AtteFa", 1.0, "jsd")
_PLAIN_MOCK = re.compile(r"mock_\d+q?")


def _temperatures(corpus: str) -> list[Setting]:
    settings = [Setting(f"{t:g}", corpus, {"temperature": t}, t) for t in _TEMPERATURES]
    return settings + [Setting(name, corpus, {"normaliser": name}) for name in _SPARSE]


def _placements(corpus: str) -> list[Setting]:
    return [Setting(place, _controlled(corpus, place, usual="scattered")) for place in _PLACES]


def _strengths(corpus: str) -> list[Setting]:
    return [Setting(strength, _controlled(corpus, strength, usual="any")) for strength in _STRENGTHS]


def _heads(corpus: str) -> list[Setting]:
    return [Setting(str(heads), corpus, {"heads": heads}, heads) for heads in _HEADS]


def _base(corpus: str) -> list[Setting]:
    return [Setting("", corpus)]


def _controlled(corpus: str, value: str, *, usual: str) -> str:
    """Name the Mock corpus with this control.

    >>> _controlled("mock_5", "end", usual="scattered"), _controlled("mock_5", "any", usual="any")
    ('mock_5_end', 'mock_5')
    """
    if not _PLAIN_MOCK.fullmatch(corpus):
        raise BadInput(
            f"Words can only be planted in a Mock corpus, not in {corpus}: choose one such as mock_5."
        )
    return corpus if value == usual else f"{corpus}_{value}"


register(
    Study(
        "temperature",
        "Does the temperature of the softmax change how faithful attention is?",
        "temperature",
        ("mock_1", "mock_10"),
        _temperatures,
        "The paper expects low temperatures to help where informative tokens are rare, and high ones where they are frequent.",
    )
)
register(
    Study(
        "placement",
        "Does it matter where informative tokens stand?",
        "placement",
        ("mock_5",),
        _placements,
        "The paper asks, and expects nothing. An encoder that reads words one by one cannot tell, so bases are BiLSTMs here.",
        encoder="bilstm",
    )
)
register(
    Study(
        "strength",
        "Does it matter whether informative tokens are strong or weak words?",
        "strength",
        ("mock_2",),
        _strengths,
        "The paper asks, and expects nothing.",
    )
)
register(
    Study(
        "heads",
        "Does the number of heads change how faithful attention is?",
        "heads",
        ("mock_5",),
        _heads,
        "The paper believes that its method does not transfer to several heads; here they are matched before they are compared, "
        "so that heads that merely change places do not count as different.",
    )
)
register(
    Study(
        "curve",
        "How far do predictions move when twins attend further and further elsewhere?",
        "encoder",
        ("mock_1", "mock_10"),
        _base,
        "Wiegreffe & Pinter read the shape: the flatter the curve, the less faithful the attention. They draw no line between flat "
        "and steep, and neither is one drawn here.",
        twins=(*(TwinSetting(s, float(s), quick=s in _QUICK_STRENGTHS) for s in _KL_STRENGTHS), ATTEFA),
    )
)

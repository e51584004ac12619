"""What an attack wants: that the victim gives another class than the true one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.attacks.requests import Scored


@dataclass(frozen=True)
class Untargeted:
    """Lower the probability of the true class until another wins."""

    def judge(self, probabilities: NDArray[np.float64], label: int) -> Scored:
        """Score what the victim gave to drafts of a text with this label."""
        return Scored(1 - probabilities[:, label], probabilities.argmax(-1) != label, probabilities)

"""What an attack is: a goal, a source of candidates, constraints and a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from heedful.attacks.candidates.candidates import Candidates
from heedful.attacks.candidates.edits import Edits
from heedful.attacks.candidates.of_original import OfOriginal
from heedful.attacks.constraints.constraint import Constraint
from heedful.attacks.constraints.places import NoWordTwice
from heedful.attacks.goal import Untargeted
from heedful.attacks.options import AttackOptions
from heedful.attacks.searches.search import Search
from heedful.registry import Registry


@dataclass(frozen=True)
class Attack:
    """Everything that decides how a text is attacked; see `published/` for how one is assembled."""

    candidates: Candidates | Edits
    constraints: tuple[Constraint, ...]
    search: Search
    goal: Untargeted = field(default_factory=Untargeted)
    lazy: bool = True
    """Whether constraints that take long are asked after the victim, of the best candidates alone. It saves time and
    changes no result but the number of queries: the victim also reads candidates that would have been refused."""

    @property
    def by_original(self) -> bool:
        """Whether the original text decides what may ever stand in each word's place, whatever else is replaced.

        So it is where candidates are those of the original words, or where they depend on the word that stands there (its
        source says so) and none is replaced twice. Of other attacks nothing can be said for all texts that they may make.
        """
        if isinstance(self.candidates, OfOriginal):
            return True
        once = any(isinstance(constraint, NoWordTwice) for constraint in self.constraints)
        return once and bool(getattr(self.candidates, "by_word", False))


Build = Callable[[AttackOptions], Attack]

ATTACKS: Registry[Build] = Registry("attack", "heedful.attacks.published")

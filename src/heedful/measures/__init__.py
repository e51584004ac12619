"""Pure functions of numbers: how good a prediction is, how far apart two distributions are, what flips a decision.

Nothing here knows of models, data or files.
"""

from heedful.measures.correlation import kendall_tau
from heedful.measures.counterfactual import eps_max_jsd
from heedful.measures.divergence import jsd, kl, sharpness, tvd
from heedful.measures.erasure import erasure_curve, first_flip
from heedful.measures.fewest_substitutions import fewest_substitutions
from heedful.measures.flips import smallest_flip_set
from heedful.measures.intervals import bootstrap_interval
from heedful.measures.overlap import top_k_overlap
from heedful.measures.performance import performance
from heedful.measures.permutation import permutation_change

__all__ = [
    "bootstrap_interval",
    "eps_max_jsd",
    "erasure_curve",
    "fewest_substitutions",
    "first_flip",
    "jsd",
    "kendall_tau",
    "kl",
    "performance",
    "permutation_change",
    "sharpness",
    "smallest_flip_set",
    "top_k_overlap",
    "tvd",
]

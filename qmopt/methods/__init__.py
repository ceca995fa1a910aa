"""Methods: each an object with its settings and one verb, ``solve(market) -> Outcome``."""

from qmopt.methods.eisenberg_gale import EisenbergGale, EisenbergGaleModel, eisenberg_gale
from qmopt.methods.outcome import Method, Outcome

__all__ = ["EisenbergGale", "EisenbergGaleModel", "Method", "Outcome", "eisenberg_gale"]

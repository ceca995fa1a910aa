"""Small random markets of bundles and caps, and the method that clears them."""

import numpy as np

import qmopt as qm
from qmopt import Bundles, Linear, Market

KINDS = ["linear, caps", "bundles", "bundles, caps", "linear, caps, all", "bundles, caps, all"]
METHOD = qm.EisenbergGale()


def utility(rng, kind):
    n, m = rng.integers(1, 8), rng.integers(1, 7)
    whole = rng.random() < 0.5  # small numbers make ties
    if kind.startswith("linear"):
        drawn = rng.integers(1, 5, (n, m)) if whole else np.exp(rng.normal(size=(n, m)))
        values = np.where(rng.random((n, m)) < 0.7, drawn, 0.0)
        values[:, 0] = np.maximum(values[:, 0], 1)
        return Linear(values)
    count = n + rng.integers(0, 3 * n + 1)
    owner = np.append(np.arange(n), rng.integers(0, n, count - n))
    drawn = rng.integers(1, 9, (count, m)) if whole else np.exp(rng.normal(size=(count, m)))
    needs = np.where(rng.random((count, m)) < 0.4, drawn, 0.0)
    needs[np.arange(count), rng.integers(0, m, count)] += 1
    return Bundles(owner, needs, rng.integers(1, 10, count))


def draw(seed, kind):
    """A market of a kind: caps from a hundredth of all there is to twice that, for most teams."""
    rng = np.random.default_rng(seed)
    family = utility(rng, kind)
    n, m = family.shape
    supplies = rng.integers(1, 9, m).astype(float)
    more = {}
    if "caps" in kind:
        most = family.value(np.tile(supplies, (n, 1)))
        caps = np.maximum(most * 10 ** rng.uniform(-2, 0.3, n), 1e-3)
        more["utility_caps"] = np.where(rng.random(n) < 0.6, caps, np.inf)
    if "all" in kind:
        more["keep_values"] = np.where(rng.random(n) < 0.5, 10 ** rng.uniform(-1, 1, n), 0)
        more["reserves"] = np.where(rng.random(m) < 0.5, 10 ** rng.uniform(-2, 1, m), 0)
    return Market(np.exp(rng.normal(size=n)), supplies, family, **more)

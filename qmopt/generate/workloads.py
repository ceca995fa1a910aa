"""Markets of teams with workloads: demands, options, recipes, kept credits."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.market import Market
from qmopt.utilities.protocol import Array
from qmopt.utilities.workloads import Workloads

#: Least and most that is wanted of the supply, where nothing is said.
SCARCE, CROWDED = 0.3, 4.0
#: Share of values that an option slower for its kind of work keeps.
QUALITIES = (1.0, 0.9, 0.8, 0.5)
#: Units of a second good that a recipe takes beside one of its first.
MIXES = (0.25, 0.5, 1.0)


def workloads(
    seed: int = 0,
    teams: int | None = None,
    goods: int | None = None,
    *,
    most: int = 5,
    ratio: float | None = None,
) -> Market:
    """Teams with several workloads each, whose demands are a given part of the supply.

    Half of the markets have a short list of speeds, so that ties are the rule; in a third, options
    take a second good beside the first. In three of ten workloads the options are not worth the
    same. Nobody, about half of the teams, or all of them value kept credits at 0 to 1, where a
    spent credit brings about 2 on average.

    Parameters
    ----------
    seed
        Of ``numpy.random.default_rng``. The sizes that are not given are drawn, too.
    teams
        Default: 10 to 200, even in the logarithm.
    goods
        Default: 3 to 30.
    most
        Workloads of a team, from 1.
    ratio
        Chips that all demands take, each by an average option of its workload, over the supply.
        Default: 0.3 to 4, even in the logarithm.

    Examples
    --------
    >>> market = workloads(3)
    >>> market
    Market(12 buyers, 8 goods, ...)
    >>> len(market.utility.demand), len(market.utility.workload)
    (32, 119)
    >>> round(wanted(workloads(7, ratio=1.5)), 9)
    1.5
    """
    rng = np.random.default_rng(seed)
    n = int(np.exp(rng.uniform(np.log(10), np.log(200))))
    n = n if teams is None else teams
    m = int(rng.integers(3, 31)) if goods is None else goods
    team = np.repeat(np.arange(n), rng.integers(1, most + 1, n))
    count = len(team)
    supplies, budgets = np.exp(rng.normal(3, 1, m)), np.exp(rng.normal(0, 1, n))
    listed = rng.random() < 0.5
    speed = np.exp(rng.normal(0, 0.7, m))
    speed = np.round(speed * 4 + 1) / 4 if listed else speed
    options = np.minimum(rng.integers(1, 7, count), m)
    of = np.repeat(np.arange(count), options)
    good = np.concatenate([rng.choice(m, k, replace=False) for k in options])
    rates = speed[good] * (1.0 if listed else np.exp(rng.normal(0, 0.3, len(of))))
    uneven = rng.random(count) < 0.3
    quality = np.where(uneven[of], rng.choice(QUALITIES, len(of)), 1.0)
    worth = np.exp(rng.normal(0, 0.7, count))
    needs = sp.csr_array((np.ones(len(of)), (np.arange(len(of)), good)), shape=(len(of), m))
    if rng.random() < 0.3:
        needs = _with_second_good(rng, needs, good)
    drawn = np.exp(rng.uniform(np.log(SCARCE), np.log(CROWDED)))
    ratio = drawn if ratio is None else ratio
    demand = np.exp(rng.normal(0, 1, count)) * np.sqrt(budgets[team])
    demand *= ratio * supplies.sum() / _chips(demand, of, rates).sum()
    values = worth[of] * quality
    values *= 2 * budgets.sum() / (supplies.sum() * np.mean(values * rates))
    keep = np.zeros(n)
    kind = rng.integers(3)
    if kind:
        keep = rng.uniform(0, 1, n) * (rng.random(n) < 0.5 if kind == 1 else 1)
    utility = Workloads(team, demand, of, needs, values, rates, teams=n)
    title = f"workloads {n} x {m}, seed {seed}"
    return Market(budgets, supplies, utility, keep_values=keep, title=title)


def wanted(market: Market) -> float:
    """Chips that all demands take, each by an average option of its workload, over the supply."""
    utility = market.utility
    assert isinstance(utility, Workloads)
    chips = _chips(utility.demand, utility.workload, utility.rates)
    return float(chips.sum() / market.supplies.sum())


def _chips(demand: Array, of: NDArray[np.int64], rates: Array) -> Array:
    count = len(demand)
    mean = np.bincount(of, weights=1 / rates, minlength=count) / np.bincount(of, minlength=count)
    return demand * mean


def _with_second_good(
    rng: np.random.Generator, needs: sp.csr_array, good: NDArray[np.int64]
) -> sp.csr_array:
    """Let two of five options take some of another good."""
    count, m = needs.shape
    more, other = rng.random(count) < 0.4, (good + rng.integers(1, m, count)) % m
    units = rng.choice(MIXES, count) * more
    second = sp.csr_array((units, (np.arange(count), other)), shape=needs.shape)
    mixed = sp.csr_array(needs + second)
    mixed.eliminate_zeros()
    return mixed

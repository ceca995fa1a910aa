"""Forests worked by hand.

The tree of most examples: team 0 buys goods 2 and 3, team 1 buys good 3 and keeps credits at the
bank (node 4)::

    2 -- 0 -- 3 -- 1 -- 4
"""

import numpy as np
import pytest

from qmopt.forest import flows, grow, heaviest, path

ENDS = [(0, 2), (0, 3), (1, 3), (1, 4)]


def test_parents_come_before_their_children():
    forest = grow(5, ENDS, [4, 0, 1, 2, 3])
    assert forest.order == [4, 1, 3, 0, 2]
    assert forest.parent == [3, 4, 0, 1, -1]
    assert forest.edge == [1, 3, 0, 2, -1]
    assert forest.tree == [0] * 5
    assert forest.depth == [3, 1, 4, 2, 0]


def test_every_tree_is_rooted_at_its_first_node():
    forest = grow(5, [(0, 2), (1, 3)], [3, 4, 2, 1, 0])
    assert [node for node in range(5) if forest.parent[node] == -1] == [2, 3, 4]
    assert forest.tree == [2, 0, 2, 0, 1]
    assert forest.depth == [1, 1, 0, 0, 0]
    assert sorted(forest.order) == list(range(5))


def test_flows_from_the_leaves():
    """Good 2 needs 3 and good 3 needs 5; team 0 has 6 and team 1 has 4: 2 are kept."""
    forest = grow(5, ENDS, [4, 0, 1, 2, 3])
    flow, scale = flows(forest, [6, 4, 3, 5, 0], 4)
    assert flow.tolist() == [3, 3, 2, 2]
    assert scale.tolist() == [3, 9, 14, 18]


def test_a_flow_that_cannot_be_is_negative():
    """Good 2 needs more than team 0 has: 2 would have to flow back from good 3."""
    forest = grow(5, ENDS, [4, 0, 1, 2, 3])
    flow, _ = flows(forest, [6, 4, 8, 5, 0], 4)
    assert flow.tolist() == [8, -2, 7, -3]


@pytest.mark.parametrize("root", range(5))
def test_flows_do_not_depend_on_the_root_where_everything_balances(root):
    first = [root, *(node for node in range(5) if node != root)]
    flow, _ = flows(grow(5, ENDS[:3], first), [6, 4, 3, 7, 0], 3)
    assert flow.tolist() == [3, 3, 4]


def test_the_way_between_two_nodes():
    forest = grow(5, ENDS, [4, 0, 1, 2, 3])
    assert path(forest, 2, 1) == ([0, 1, 2], [])
    assert path(forest, 1, 2) == ([], [0, 1, 2])
    assert path(forest, 4, 4) == ([], [])
    star = grow(4, [(0, 1), (0, 2), (0, 3)], [0, 1, 2, 3])
    assert path(star, 1, 2) == ([0], [1])
    assert path(star, 3, 0) == ([2], [])


def test_the_heaviest_forest():
    """Of the cycle 0-2-1-3 the lightest edge is left out; equal weights keep their order."""
    one, other = np.array([0, 0, 1, 1]), np.array([2, 3, 2, 3])
    assert heaviest(4, one, other, np.array([4.0, 1.0, 3.0, 2.0])) == [0, 2, 3]
    assert heaviest(4, one, other, np.ones(4)) == [0, 1, 2]
    assert heaviest(4, one[:0], other[:0], np.ones(0)) == []


def test_a_heaviest_forest_is_as_heavy_as_that_of_scipy():
    """SciPy's minimum spanning tree, of weights turned round."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import minimum_spanning_tree

    rng = np.random.default_rng(0)
    for _ in range(20):
        n, m = rng.integers(1, 12, 2)
        weight = rng.integers(1, 10, (n, m)) * (rng.random((n, m)) < 0.6)
        one, other = np.nonzero(weight)
        kept = heaviest(n + m, one, n + other, weight[one, other].astype(float))
        turned = sp.csr_array((11.0 - weight[one, other], (one, n + other)), shape=(n + m, n + m))
        tree = minimum_spanning_tree(turned)
        assert len(kept) == tree.nnz
        assert weight[one[kept], other[kept]].sum() == 11 * tree.nnz - tree.sum()


def test_deep_trees_do_not_recurse():
    count = 20_000
    ends = [(k, k + 1) for k in range(count - 1)]
    forest = grow(count, ends, list(range(count)))
    assert forest.depth[-1] == count - 1
    flow, _ = flows(forest, [1.0] * count, count - 1)
    assert flow.tolist() == [1.0, 0.0] * (count // 2 - 1) + [1.0]

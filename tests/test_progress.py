"""Long work tells where it is, to whoever listens in its thread."""

import threading

import pytest

import qmopt as qm
from qmopt import generate
from qmopt.progress import listening, tell

MARKET = generate.lognormal(60, 8)
WORDS = {
    qm.Pivoting(): "crossover",
    qm.InteriorPoint(): "interior point: step",
    qm.ColumnGeneration(): "pass 2 over the values",
    qm.LinearProgramming(): "linear program 1, gap",
    qm.ProportionalResponse(): "proportional response: step 10, gap",
}


@pytest.mark.parametrize("method", WORDS, ids=lambda method: type(method).__name__)
def test_every_method_of_ours_tells_where_it_is(method):
    told = []
    with listening(told.append):
        qm.clear(MARKET, method, tolerance=1e-3)
    assert any(WORDS[method] in line for line in told)


def test_nobody_hears_what_is_not_for_them():
    told = []
    with listening(told.append):
        other = threading.Thread(target=tell, args=("not for us",))
        other.start()
        other.join()
        tell("{} of {}", 1, 2)
    tell("too late")
    assert told == ["1 of 2"]


def test_the_inner_listener_hears_and_then_the_outer_again():
    outer, inner = [], []
    with listening(outer.append):
        with listening(inner.append):
            tell("a")
        tell("b")
    assert (outer, inner) == (["b"], ["a"])


@pytest.mark.parametrize("method", WORDS, ids=lambda method: type(method).__name__)
def test_a_listener_can_stop_the_work(method):
    def stop(line):
        raise KeyboardInterrupt(line)

    with pytest.raises(KeyboardInterrupt), listening(stop):
        qm.clear(MARKET, method)

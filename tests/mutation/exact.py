"""The exact checker against its tests: every single-operator change of its source.

``python -m tests.mutation.exact`` prints how many die, and those that do not, with the reason why
they are no change of what is proved.
"""

import ast
import inspect
import sys
from types import ModuleType

import qmopt as qm
from qmopt import certificate_exact
from tests import test_certificate_exact as table
from tests.exact_mutants import gap, price_mutants, unit_mutants
from tests.mutation.operators import mutants
from tests.mutation.run import time_limit
from tests.test_exact_mutations import seeded

#: Why a mutant that lives changes nothing, by a piece of its description.
EQUIVALENT = {
    "certificate_exact : `2`": "LONG decides what is quicker",
    "certificate_exact : `28`": "LONG decides what is quicker",
    "_common: ": "LONG decides what is quicker, and any unit will do",
    "ExactCertificate: `True`": "whether the record is frozen",
    "`True` -> `False`": "lengths are equal anyway",
    "`units < 0` -> `units <= 0`": "units of 0 are not kept",
    "_violations: `1` -> `2`": "the denominator of 0",
    "`budget * most >= cap`": "both are the same there",
    "`prices[j] or 0` -> `prices[j]`": "what is left over of nothing is nothing",
    "`up * below >= above * down`": "both are the same there",
    "`given in names`": "names are text",
}
WORKED = [
    "an_equilibrium", "what_is_wrong_in_words", "left_over_at_the_reserve_is_right", "kept_credits",
    "caps_and_thrift", "a_cap_that_does_not_bind_and_one_that_is_passed",
    "a_cap_that_is_reached_for_free", "kept_credits_beside_prices_in_thirds", "who_takes_no_part",
    "doubles_are_what_they_are",
]  # fmt: skip


def attacks():
    """Points of a dozen markets: some mutants of their answers, and whether they are right."""
    for seed in range(12):
        market = seeded(seed)
        exact = qm.clear(market, exact=True).exact
        prices, units = list(exact.prices), {(i, j): x for i, j, x in exact.allocation}
        yield market, prices, units, True
        for _, p, x in list(price_mutants(market, prices, units))[::7]:
            if p != prices:
                yield market, p, x, False
        for _, p, x in list(unit_mutants(market, prices, units))[::7]:
            if any(x.get(pair, 0) != units.get(pair, 0) for pair in x.keys() | units.keys()):
                yield market, p, x, gap(market, p, x) == 0


def check(checker, points):
    """Run every check against a module that may be broken."""

    class Patch:
        def setattr(self, _, name, value):
            setattr(checker, name, value)

    for name in WORKED:
        getattr(table, f"test_{name}")()
    for name in table.WRONG:
        table.test_what_is_wrong_is_named(name)
    for name in table.FORMS:
        table.test_forms_of_a_point(name)
    for name in table.BAD:
        table.test_what_is_no_point_is_refused(name)
    usual = checker.LONG
    table.test_prices_too_long_for_one_denominator(Patch())
    checker.LONG = usual
    for market, prices, units, right in points:
        assert qm.certify_exact(market, prices, units).proved == right


def load(tree):
    module = ModuleType("qmopt.certificate_exact_mutant")
    sys.modules[module.__name__] = module
    exec(compile(tree, "<mutant>", "exec"), module.__dict__)
    qm.certify_exact = module.certify_exact
    return module


def main():
    source, points = inspect.getsource(certificate_exact), list(attacks())
    check(load(ast.parse(source)), points)
    alive, count = [], 0
    for mutant in mutants("certificate_exact", source):
        count += 1
        try:
            with time_limit(30):
                check(load(mutant.tree()), points)
            alive.append(f"{mutant.key} (line {mutant.line})")
        except BaseException as error:  # a mutant may die of anything
            if isinstance(error, KeyboardInterrupt):
                raise
    print(f"certificate_exact: {count} mutants, {count - len(alive)} die, {len(alive)} live:")
    for key in alive:
        why = next((why for piece, why in EQUIVALENT.items() if piece in key), "NO REASON KNOWN")
        print(f"  {key.removeprefix('certificate_exact ')}: {why}")


if __name__ == "__main__":
    main()

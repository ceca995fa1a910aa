"""Markets of activities with limits: bundles, utility caps, workloads, kept credits.

One system of equations serves them all (:mod:`qmopt.methods.activities.scaled`), with one way to
take a Newton step in it (``reduced``). ``path`` follows its central path where it is a convex
program, ``homotopy`` leads from there to budgets that are spent in full, and ``settle`` takes
either answer to the last bits.
"""

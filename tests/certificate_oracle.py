"""Every residual once more, straight from the table of definitions, slow and without numpy.

Plain loops over decimal numbers of sixty digits, so that the plain difference of primal and dual
values keeps enough of them. Shares no code with the package.
"""

from decimal import Decimal, localcontext

INF = Decimal("Infinity")


def residuals(values, budgets, supplies, reserves, keeps, caps, prices, units, tolerance):
    """Return the eight residuals as floats; all arguments are lists of floats."""
    with localcontext() as context:
        context.prec = 60
        context.traps = dict.fromkeys(context.traps, False)
        exact = [
            _decimal(a) for a in (values, budgets, supplies, reserves, keeps, caps, prices, units)
        ]
        found = Definition(*exact).residuals(Decimal(tolerance))
        return {name: float(value) for name, value in found.items()}


def _decimal(numbers):
    if isinstance(numbers, list):
        return [_decimal(number) for number in numbers]
    return Decimal(numbers)


def positive(number):
    return number if number > 0 else Decimal(0)


def quotient(top, bottom):
    """A nonnegative number over another, with 0/0 = 0 and positive/0 = inf."""
    if top == 0:
        return Decimal(0)
    return INF if bottom == 0 else top / bottom


class Definition:
    def __init__(self, V, B, s, rho, kappa, c, p, x):
        self.V, self.B, self.s, self.rho, self.kappa, self.c = V, B, s, rho, kappa, c
        self.raw_p, self.raw_x = p, x
        self.teams, self.goods = range(len(B)), range(len(s))
        self.there = [j for j in self.goods if s[j] > 0]
        self.p = [positive(p[j]) if j in self.there else Decimal(0) for j in self.goods]
        self.x = [[positive(units) for units in row] for row in x]
        self.active = [
            i for i in self.teams if B[i] > 0 and c[i] > 0 and any(V[i][j] > 0 for j in self.there)
        ]

    # what the formulas are made of

    def spend(self, i):
        return sum(self.p[j] * self.x[i][j] for j in self.there)

    def value(self, i):
        return sum(self.V[i][j] * self.x[i][j] for j in self.there)

    def kept(self, i):
        return positive(self.B[i] - self.spend(i))

    def utility(self, i):
        return min(self.c[i], self.value(i) + self.kappa[i] * self.kept(i))

    def kept_that_counts(self, i):
        if self.kappa[i] == 0:
            return Decimal(0)
        return min(self.kept(i), positive(self.c[i] - self.value(i)) / self.kappa[i])

    def beta(self, i):
        unit = min(self.p[j] / self.V[i][j] for j in self.there if self.V[i][j] > 0)
        return min(unit, INF if self.kappa[i] == 0 else 1 / self.kappa[i])

    def reach(self, i):
        """What the budget would buy without a cap: B / beta."""
        return INF if self.beta(i) == 0 else self.B[i] / self.beta(i)

    def conjugate(self, i):
        if self.reach(i) <= self.c[i]:
            return self.B[i] * self.reach(i).ln() - self.B[i]
        return self.B[i] * self.c[i].ln() - self.beta(i) * self.c[i]

    def handed_out(self, j):
        return sum(self.x[i][j] for i in self.teams)

    def idle(self, j):
        return positive(self.s[j] - self.handed_out(j))

    def worth(self):
        return sum(self.s[j] * self.p[j] for j in self.there)

    def relative_to(self):
        return self.worth() or sum(self.B)

    # the table

    def residuals(self, tolerance):
        return {
            "negative": self.negative(),
            "reserve": max(
                [positive(1 - self.p[j] / self.rho[j]) for j in self.there if self.rho[j] > 0],
                default=Decimal(0),
            ),
            "overspend": max(positive(self.paid_share(i) - 1) for i in self.teams),
            "regret": max(positive(1 - self.enjoyed_share(i)) for i in self.active),
            "thrift": self.thrift(tolerance),
            "overallocated": self.overallocated(),
            "idle": max(self.idle_shares()),
            "gap": self.gap(),
        }

    def negative(self):
        found = [Decimal(0)]
        for i in self.teams:
            for j in self.goods:
                found.append(quotient(positive(-self.raw_x[i][j]), self.s[j]))
                if j in self.there:
                    received = positive(-self.raw_p[j] * self.raw_x[i][j])
                    found.append(quotient(received, self.B[i]))
        found += [quotient(positive(-self.raw_p[j]) * self.s[j], self.worth()) for j in self.there]
        return max(found)

    def paid_share(self, i):
        return quotient(self.spend(i), self.B[i] if i in self.active else Decimal(0))

    def enjoyed_share(self, i):
        best = min(self.c[i], self.reach(i))
        return Decimal(0) if best == INF else self.utility(i) / best

    def thrift(self, tolerance):
        worst = Decimal(0)
        for i in self.active:
            satisfied = self.utility(i) >= self.c[i] * (1 - tolerance)
            if self.kappa[i] == 0 and self.c[i] < INF and satisfied:
                few = self.spend(i) < Decimal("1e-14") * sum(self.B)
                paid = Decimal(0) if few else self.spend(i)
                worst = max(worst, quotient(paid, self.beta(i) * self.utility(i)) - 1)
        return worst

    def overallocated(self):
        return max(positive(quotient(self.handed_out(j), self.s[j]) - 1) for j in self.goods)

    def idle_shares(self):
        dear = [j for j in self.there if self.p[j] > self.rho[j]]
        credit = sum((self.p[j] - self.rho[j]) * self.idle(j) for j in dear)
        return [self.idle(j) / self.s[j] for j in dear] + [credit / self.relative_to()]

    def gap(self):
        over = self.overallocated()
        fair = [
            [Decimal(0) if over == INF else units / (1 + over) for units in row] for row in self.x
        ]
        point = Definition(self.V, self.B, self.s, self.rho, self.kappa, self.c, self.raw_p, fair)
        dual = self.worth() + sum(point.conjugate(i) for i in self.active)
        # ln(0) is minus infinity in this context
        primal = sum(
            self.B[i] * point.utility(i).ln() - point.kept_that_counts(i) for i in self.active
        ) + sum(self.rho[j] * point.idle(j) for j in self.there)
        difference = INF if dual == INF else dual - primal
        return difference / self.relative_to()

"""Every single-operator mutation of a module, as edited syntax trees."""

import ast
import copy
from collections import Counter
from typing import NamedTuple

#: Names of numbers of the same kind and shape, of which one could be mistaken for another.
ALIKE = [
    ("rows", "columns"),
    ("all_rows", "all_columns"),
    ("all_units", "units"),
    ("n", "m"),
    ("budgets", "keep_values", "utility_caps"),
    ("budgets", "keeps", "caps"),
    ("supplies", "reserves", "prices"),
    ("given_prices", "prices", "offered"),
    ("spend", "value"),
    ("units_out", "left_over"),
    ("kept", "counted"),
    ("utility", "caps"),
    ("dear", "h"),
    ("dear", "wasted", "idle_credits"),
    ("active", "capped"),
    ("satiation", "excess"),
    ("below", "paid"),
    ("paid", "needed", "spend"),
    ("top", "bottom"),
    ("within_budget", "at_cap"),
    ("cost", "unit_cost"),
    ("cost", "budgets"),
]
_POINT = (
    "rows", "columns", "units", "all_rows", "all_columns", "all_units", "given_prices", "prices",
    "offered", "spend", "value", "units_out", "left_over", "best", "unit_cost",
)  # fmt: skip
#: What an object has of these, by the last name before the dot.
FIELDS = {
    "market": (
        "n", "m", "budgets", "keep_values", "utility_caps", "supplies", "reserves", "active",
    ),
    "point": _POINT,
    "self": (*_POINT, "satiation", "excess"),
}  # fmt: skip
ARITHMETIC = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
#: Functions and methods that take the same arguments.
CALLS = {
    "maximum": ("minimum",),
    "minimum": ("maximum",),
    "max": ("min", "sum"),
    "min": ("max", "sum"),
    "sum": ("max", "min"),
    "any": ("all",),
    "all": ("any",),
    "log": ("log1p",),
    "log1p": ("log",),
    "zeros": ("ones",),
    "ones": ("zeros",),
    "isnan": ("isfinite",),
    "isfinite": ("isnan",),
}
#: Functions whose first argument alone is a plausible slip: `np.maximum(x, 0)` to `x`.
WRAPPERS = {"maximum", "minimum", "where", "abs", "nan_to_num", "most", "ratio", "float", "bool"}


class Mutant(NamedTuple):
    """One edit of one expression: the place-th node of the module, in the order of ast.walk."""

    module: str
    line: int
    key: str
    source: str
    place: int
    new: ast.AST

    def tree(self):
        """Parse the module with this one edit in it."""
        tree = ast.parse(self.source)
        old = list(ast.walk(tree))[self.place]
        return ast.fix_missing_locations(Swap(old, copy.deepcopy(self.new)).visit(tree))


class Swap(ast.NodeTransformer):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit(self, node):
        return self.new if node is self.old else self.generic_visit(node)


def mutants(module, source):
    """List all mutants of a module's source, in the order of its text."""
    tree = ast.parse(source)
    nodes, idle, owners = list(ast.walk(tree)), not_run(tree), scopes(tree)
    found, seen = [], Counter()
    order = sorted(
        (node.lineno, node.col_offset, place)
        for place, node in enumerate(nodes)
        if isinstance(node, ast.expr | ast.AugAssign | ast.Return | ast.If) and id(node) not in idle
    )
    for line, _, place in order:
        node, where, known = nodes[place], *owners[id(nodes[place])]
        before = ast.unparse(node)
        for new in replacements(node, known):
            after = ast.unparse(ast.fix_missing_locations(new))
            if after == before:
                continue
            label = f"{module} {where}: `{_first(before)}` -> `{_first(after)}`"
            seen[label] += 1
            key = label if seen[label] == 1 else f"{label} #{seen[label]}"
            found.append(Mutant(module, line, key, source, place, new))
    return found


def _first(text):
    return text.splitlines()[0] if text else "(nothing)"


def not_run(tree):
    """Annotations, docstrings, messages, imports."""
    idle = set()
    for node in ast.walk(tree):
        aside = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.JoinedStr | ast.ImportFrom | ast.Import):
            aside.append(node)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "cast":
            aside.append(node.args[0])
        idle |= {id(child) for top in aside if top is not None for child in ast.walk(top)}
    return idle


def scopes(tree):
    """For each node the function or class that it stands in, and the names known there."""
    owners = {}

    def descend(node, where, known):
        owners[id(node)] = where, known
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                bound = {
                    getattr(inner, "arg", getattr(inner, "id", None))
                    for inner in ast.walk(child)
                    if isinstance(inner, ast.arg)
                    or (isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store))
                }
                descend(child, f"{where}.{child.name}".lstrip("."), bound)
            else:
                descend(child, where, known)

    descend(tree, "", set())
    return owners


def replacements(node, known):
    """What one node could be mistaken for, where the names in `known` can be used."""
    edit = globals().get(f"_{type(node).__name__.lower()}")
    new = list(edit(node)) if edit else []
    return [other for other in new if not isinstance(other, ast.Name) or _bound(node, other, known)]


def _bound(node, other, known):
    return not isinstance(node, ast.Name) or other.id in known


def _with(node, **changes):
    new = copy.deepcopy(node)
    for name, value in changes.items():
        setattr(new, name, value)
    return new


def _binop(node):
    for operator in ARITHMETIC.get(type(node.op), ()):
        yield _with(node, op=operator())
    if isinstance(node.op, ast.Div | ast.Mult | ast.Add | ast.Sub | ast.BitAnd):
        yield node.left  # the denominator, factor or term is gone
    if isinstance(node.op, ast.Mult | ast.Add | ast.BitAnd):
        yield node.right


def _unaryop(node):
    yield node.operand


def _compare(node):
    for k, operator in enumerate(node.ops):
        for other in COMPARISONS.get(type(operator), ()):
            ops = [*node.ops]
            ops[k] = other()
            yield _with(node, ops=ops)


def _boolop(node):
    yield _with(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())
    yield from node.values


def _ifexp(node):
    yield node.body
    yield node.orelse


def _if(node):
    yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    yield _with(node, test=ast.Constant(False))


def _call(node):
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    for other in CALLS.get(name, ()):
        if isinstance(node.func, ast.Name) and other == "sum":
            yield _with(node, func=ast.Name("sum"), args=[ast.List(node.args)])
        elif isinstance(node.func, ast.Name):
            yield _with(node, func=ast.Name(other, ast.Load()))
        else:
            yield _with(node, func=_with(node.func, attr=other))
    if name in WRAPPERS:
        yield from node.args[1:] if name == "where" else node.args[:1]
    if name == "where":
        yield _with(node, args=[node.args[0], node.args[2], node.args[1]])
    if name in ("maximum", "minimum"):
        yield node.args[1]
    if name == "max" and isinstance(node.func, ast.Name):
        for k in range(len(node.args)):
            rest = node.args[:k] + node.args[k + 1 :]
            yield rest[0] if len(rest) == 1 else _with(node, args=rest)


def _name(node):
    if isinstance(node.ctx, ast.Load):
        for other in _alike(node.id):
            yield _with(node, id=other)


def _attribute(node):
    if isinstance(node.ctx, ast.Load):
        base = ast.unparse(node.value).split(".")[-1]
        for other in _alike(node.attr):
            if other in FIELDS.get(base, ()):
                yield _with(node, attr=other)


def _alike(name):
    others = {other for group in ALIKE if name in group for other in group}
    return sorted(others - {name})


def _subscript(node):
    if isinstance(node.ctx, ast.Load):
        yield node.value


def _constant(node):
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
        if node.value:
            yield ast.Constant(0.0)
            yield ast.Constant(2 * node.value)


def _augassign(node):
    yield _with(node, op=ast.Sub())
    yield ast.Assign([_with(node.target, ctx=ast.Store())], node.value)
    yield ast.Pass()


def _return(node):
    if node.value is not None:
        yield _with(node, value=ast.Constant(0.0))

"""Mutants of a market in one format: a tree changed by its grammar, and sometimes its text too."""

import csv
import io
import re
from random import Random

from tests.tables.trees import (
    KEYS,
    NUMBERS,
    TEXTS,
    WORDS,
    Number,
    Pairs,
    Word,
    as_json,
    as_toml,
    copied,
    mutate,
)

FORMATS = ("toml", "json", "csv", "parquet")
#: Of how many mutants the text is changed as well, which most parsers notice.
TORN = 0.2
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\w.+-]+|\s+|.', re.DOTALL)


def mutant(form, trees, rng: Random):
    """Return the files of one mutant, bytes by name; a market of one file is called market.*."""
    tree = copied(rng.choice(trees))
    for _ in range(rng.choice([1, 1, 1, 2, 3, 5])):
        mutate(rng, tree)
    if form in ("toml", "json"):
        text = (as_toml if form == "toml" else as_json)(tree, rng)
        if rng.random() < TORN:
            text = torn(text, rng)
        return {f"market.{form}": encoded(text, rng)}
    files = {}
    for name, part in tree:
        safe = re.sub(r"[^\w-]", "x", name, flags=re.ASCII)[:40] or "x"
        rows = part if isinstance(part, list) and not isinstance(part, Pairs) else [part]
        grid = [row if isinstance(row, Pairs) else Pairs([("x", row)]) for row in rows]
        if form == "parquet":
            files[f"{safe}.parquet"] = as_parquet(grid, rng)
        else:
            text = as_csv(grid, rng)
            text = torn(text, rng) if rng.random() < TORN / 3 else text
            files[f"{safe}.csv"] = encoded(text, rng)
    return files


def torn(text, rng: Random):
    """Change, drop, double or swap tokens of a text, or end it early."""
    tokens = _TOKEN.findall(text) or [""]
    for _ in range(rng.choice([1, 1, 2, 4])):
        place = rng.randrange(len(tokens))
        deed = rng.randrange(6)
        if deed == 0:
            tokens[place] = rng.choice([*NUMBERS, *WORDS, *KEYS])
        elif deed == 1:
            tokens[place] = rng.choice([*"{}[]\",:=#'\n\t.", '"""', "[[", "\r"])
        elif deed == 2:
            tokens[place] = ""
        elif deed == 3:
            tokens[place] *= 2
        elif deed == 4:
            other = rng.randrange(len(tokens))
            tokens[place], tokens[other] = tokens[other], tokens[place]
        else:
            tokens[place] += rng.choice(TEXTS)
    text = "".join(tokens)
    return text[: rng.randrange(len(text) + 1)] if rng.random() < 0.1 else text


def encoded(text, rng: Random):
    kind = rng.choices(["utf-8", "utf-8-sig", "utf-16", "latin-1", "utf-16-le"], [94, 2, 2, 1, 1])[
        0
    ]
    return text.encode(kind, "replace" if kind == "latin-1" else "surrogatepass")


def names(grid):
    return list(dict.fromkeys(key for row in grid for key, _ in row))


def as_csv(grid, rng: Random):
    header = names(grid)
    if header and rng.random() < 0.05:
        header.append(rng.choice(header))
    stream = io.StringIO()
    quoting = rng.choices([csv.QUOTE_MINIMAL, csv.QUOTE_ALL], [9, 1])[0]
    delimiter = rng.choices([",", ";", "\t"], [48, 1, 1])[0]
    end = rng.choices(["\n", "\r\n", "\r"], [8, 2, 1])[0]
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerow(header)
    for row in grid:
        cells = dict(row)
        line = [_cell(cells.get(key, "")) for key in header]
        if rng.random() < 0.01:
            line = rng.choice([line[:-1], [*line, ""], [*line, "x"], []])
        writer.writerow(line)
    text = stream.getvalue()
    return text + rng.choices(["", end, end * 3, '"'], [60, 10, 4, 1])[0]


def _cell(tree):
    return as_json(tree, Random(0)) if isinstance(tree, list) else str(tree)


def as_parquet(grid, rng: Random):
    """Write a table with its columns' types guessed, changed or mixed, and few bytes turned."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns, arrays, titles = [], [], []
    for key in names(grid):
        cells = [_object(dict(row).get(key)) for row in grid]
        columns.append(cells)
        arrays.append(_array(cells, rng, pa))
        titles.append(key.encode("utf-8", "replace").decode())
    if arrays and rng.random() < 0.03:
        columns, arrays, titles = [[*held, held[0]] for held in (columns, arrays, titles)]
    stream = io.BytesIO()
    how = {
        "compression": rng.choice(["NONE", "SNAPPY", "GZIP", "ZSTD"]),
        "use_dictionary": rng.random() < 0.5,
        "row_group_size": rng.choice([1, 2, 1000]),
        "data_page_version": rng.choice(["1.0", "2.0"]),
        "store_schema": rng.random() < 0.7,
    }
    try:
        pq.write_table(pa.Table.from_arrays(arrays, titles), stream, **how)
    except (pa.ArrowException, OverflowError):  # a kind that Arrow has and Parquet has not
        texts = [_texts(held, pa) for held in columns]
        stream = io.BytesIO()
        pq.write_table(pa.Table.from_arrays(texts, titles), stream, **how)
    content = bytearray(stream.getvalue())
    if rng.random() < 0.02:
        for _ in range(rng.choice([1, 1, 3, 20])):
            content[rng.randrange(len(content))] = rng.randrange(256)
    if rng.random() < 0.01:
        del content[rng.randrange(len(content)) :]
    return bytes(content)


def _object(tree):
    if tree is None or isinstance(tree, list):
        return None if tree is None else as_json(tree, Random(0))
    if isinstance(tree, Word):
        return {"true": True, "false": False, "null": None}.get(tree, str(tree))
    if isinstance(tree, Number):
        try:
            return float(tree)
        except ValueError:
            return str(tree)
    return tree.encode("utf-8", "replace").decode()


def _array(cells, rng: Random, pa):
    kinds = [pa.string(), pa.float32(), pa.int64(), pa.int8(), pa.bool_(), pa.binary(), pa.date32()]
    kinds += [pa.timestamp("ns"), pa.decimal128(20, 3), pa.list_(pa.string()), pa.large_string()]
    kinds += [pa.timestamp("s", "UTC"), pa.float16(), pa.uint64(), pa.null(), pa.time64("us")]
    kinds += [
        pa.dictionary(pa.int8(), pa.string()),
        pa.duration("s"),
        pa.binary(3),
        pa.decimal256(70, 9),
    ]
    first = [None] if rng.random() < 0.97 else [rng.choice(kinds)]
    for kind in [*first, None, pa.string()]:
        try:
            return pa.array(cells, kind)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            continue
    return _texts(cells, pa)


def _texts(cells, pa):
    return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())

"""How the files beside this one were made; run it to make them again.

``NAME.toml`` and ``NAME.json`` are markets. ``NAME.TABLE.csv`` (or another ending of a table or
of values) stands for the table of that name in the folder of an otherwise sound market.
"""

import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
TOML = """\
resources = [{ resource = "h100", supply = 8 }, { resource = "l4", supply = 4 }]
teams = [{ team = "a", credits = 6 }, { team = "b", credits = CREDITS }]
bids = [
  { team = "a", resource = "h100", value = 2 },
  { team = "b", resource = "l4", value = 1 },
]
"""
JSON = """\
{"resources": [{"resource": "h100", "supply": 8}, {"resource": "l4", "supply": 4}],
 "teams": [{"team": "a", "credits": 6}, {"team": "b", "credits": CREDITS}],
 "bids": [{"team": "a", "resource": "h100", "value": 2},
          {"team": "b", "resource": "l4", "value": 1}]}
"""


def toml(number="24", extra=""):
    return TOML.replace("CREDITS", number) + extra


def of_json(number="24", old="", new=""):
    text = JSON.replace("CREDITS", number)
    return text.replace(old, new, 1) if old else text


def teams(*names, credits="1"):
    return "team,credits\n" + "".join(f"{name},{credits}\n" for name in names)


TEXTS = {
    # numbers
    "infinity.json": of_json("Infinity"),
    "nan.json": of_json("NaN"),
    "overflow.json": of_json("1e309"),
    "underflow.json": of_json("1e-400"),
    "digits-4301.json": of_json("9" * 4301),
    "digits-401.json": of_json("9" * 401),
    "boolean.json": of_json("true"),
    "text-as-number.json": of_json('"24"'),
    "list-as-number.json": of_json("[24]"),
    "number-as-id.json": of_json(old='"team": "a"', new='"team": 7'),
    "infinity.toml": toml("inf"),
    "nan.toml": toml("-nan"),
    "overflow.toml": toml("1e309"),
    "digits-4301.toml": toml("9" * 4301),
    "boolean.toml": toml("true"),
    "date-as-number.toml": toml("2026-03-01"),
    "hex-digits.toml": toml("0x" + "F" * 300),
    "arabic-digits.teams.csv": teams("a", "b", credits="\u0661\u0662"),
    "full-width-digits.teams.csv": teams("a", "b", credits="\uff11\uff12"),
    "overflow.teams.csv": teams("a", "b", credits="1e309"),
    "underflow.teams.csv": teams("a", "b", credits="1e-400"),
    "hexadecimal.teams.csv": teams("a", "b", credits="0x10"),
    "underscore.teams.csv": teams("a", "b", credits="1_000"),
    "formula.teams.csv": teams("a", "b", credits="=1+1"),
    "long-number.teams.csv": teams("a", "b", credits="0." + "1" * 2000),
    # keys and shape
    "doubled-key.json": of_json(old='"credits": 6', new='"credits": 6, "credits": 600'),
    "doubled-table.json": of_json(old='"teams"', new='"teams": [], "teams"'),
    "doubled-key.toml": toml().replace("credits = 6", "credits = 6, credits = 600"),
    "doubled-table.toml": toml(extra="\n[[teams]]\nteam = 'c'\ncredits = 1\n"),
    "doubled-header.teams.csv": "team,credits,credits\na,1,600\nb,1,1\n",
    "doubled-row.teams.csv": teams("a", "b", "b"),
    "deep.json": of_json(old="[", new="[" * 3000),
    "deep-objects.json": '{"a":' * 200 + "1" + "}" * 200,
    "deep.toml": "x = " + "[" * 3000,
    "deep-dots.toml": ".".join(["a"] * 4000) + " = 1\n",
    "deep-heading.toml": "[" + ".".join(["a"] * 4000) + "]\n",
    "deep-inline.toml": "x = " + "{ a.b = " * 40 + "1" + " }" * 40,
    "laughs.json": of_json(old='"supply": 8', new='"supply": ' + "[" * 9 + '"lol"' + "]" * 9),
    "columns.json": json.dumps({"teams": [{f"c{i}": 1 for i in range(1000)}]}),
    "columns.teams.csv": ",".join(f"c{i}" for i in range(1000)) + "\n",
    "wide-row.teams.csv": "team,credits\na,1" + "," * 1000 + "\n",
    "open-quote.teams.csv": 'team,credits\na,1\n"b,1\n' + "c,1\n" * 40,
    "quotes.teams.csv": "team,credits\n" + '"' * 2001 + ",1\n",
    "long-header.teams.csv": "t" * 140_000 + "\n",
    # names
    "cyrillic.teams.csv": teams("a", "b", "\u0430"),
    "mixed-scripts.teams.csv": teams("a", "b", "visi\u043en"),
    "mixed-scripts-2.teams.csv": teams("a", "b", "\u043c\u043e\u0441\u043ao\u0432\u0430"),
    "encodings.teams.csv": teams("a", "b", "Zo\u00eb", "Zoe\u0308"),
    "full-width.resources.csv": "resource,supply\nh100,8\nl4,4\n\uff48\uff11\uff10\uff10,1\n",
    "case.teams.csv": teams("a", "b", "Vision", "vision"),
    "spaces.teams.csv": teams("a", "b", '"a "'),
    "no-break-space.teams.csv": teams("a", "b", "team x", "team\u00a0x"),
    "dashes.resources.csv": "resource,supply\nh100,8\nl4,4\nus-east,1\nus\u2013east,1\n",
    "zero-width.teams.csv": teams("a", "b", "visi\u200bon"),
    "zero-width-joiner.teams.csv": teams("a", "b", "visi\u200don"),
    "bidi.teams.csv": teams("a", "b", "\u202enoisiv"),
    "bidi-title.toml": 'market.title = "\u202esteerc 6"\n' + toml(),
    "escape.json": of_json(old='"team": "b"', new='"team": "b\\u001b[2J"'),
    "surrogate.json": of_json(old='"team": "b"', new='"team": "\\ud800"'),
    "private.teams.csv": teams("a", "b", "\ue000"),
    "filler.teams.csv": teams("a", "b", "x\u3164"),
    "long-id.teams.csv": teams("a", "b", "c" * 254),
    "lookalike-reference.bids.csv": "team,resource,value\na,h1\u043e0,1\nb,l4,1\n",
    "lookalike-column.teams.csv": "team,cr\u0435dits\na,1\nb,1\n",
}
BYTES = {
    "nul.teams.csv": b"team,credits\na,1\nb\0,1\n",
    "not-utf-8.teams.csv": b"team,credits\na,1\nb\xff,1\n",
    "overlong.teams.csv": b"team,credits\na,1\nb\xc0\xaf,1\n",
    "encoded-surrogate.teams.csv": b"team,credits\na,1\nb\xed\xa0\x80,1\n",
    "utf-16-without-mark.teams.csv": teams("a", "b").encode("utf-16-le"),
    "utf-16-odd.teams.csv": teams("a", "b").encode("utf-16") + b"x",
    "utf-7.teams.csv": b"+/v8-team,credits\na,1\n+AGI-,1\n",
    "gzip.teams.csv": b"\x1f\x8b\x08\0\0\0\0\0\0\x03+IM\xcc\xd5I.JM\xc9,)\xe6\x02\0",
    "workbook.teams.csv": b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0",
}


def npy(header):
    text = header.ljust(118) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text.encode()


def npz(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            if not isinstance(content, bytes):
                array = io.BytesIO()
                np.save(array, content)
                content = array.getvalue()
            # a fixed date, so that making the files again makes the same
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def csr(**changed):
    parts = {
        "data": np.ones(2),
        "indices": np.array([0, 1], np.int32),
        "indptr": np.array([0, 1, 2], np.int32),
        "format": np.array(b"csr"),
        "shape": np.array([2, 2]),
    }
    return npz(**parts | changed)


def float_header(shape):
    return f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"


BYTES |= {
    "huge.values.npy": npy(float_header("(1000000, 1000000)")),
    "short.values.npy": npy(float_header("(2, 2)")) + b"\0" * 8,
    "negative.values.npy": npy(float_header("(-2, 2)")) + b"\0" * 32,
    "pickle.values.npy": npy(float_header("(2, 2)").replace("<f8", "|O")) + b"\x80\x04N.",
    "nested-header.values.npy": b"\x93NUMPY\x01\0" + struct.pack("<H", 9000) + b"(" * 9000,
    "bomb.values.npz": csr(data=np.zeros(300_000)),
    "lying-header.values.npz": csr(data=npy(float_header("(1000000000000,)"))),
    "huge-shape.values.npz": csr(shape=np.array([10**12, 10**12])),
    "wild-index.values.npz": csr(indices=np.array([0, 10**9], np.int32)),
    "negative-index.values.npz": csr(indices=np.array([0, -5], np.int32)),
    "wild-csc.values.npz": csr(indices=np.array([0, 10**9], np.int32), format=np.array(b"csc")),
    "float-index.values.npz": csr(indices=np.array([0.0, 1.0])),
    "path.values.npz": csr(**{"../../evil": np.ones(1)}),
    "diagonal.values.npz": csr(format=np.array(b"dia")),
}


def parquet(columns, path, **options):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), path, **options)


def make():
    for name, text in TEXTS.items():
        (HERE / name).write_bytes(text.encode("utf-8"))
    for name, content in BYTES.items():
        (HERE / name).write_bytes(content)
    import pyarrow as pa

    # in a file of a few kilobytes: six million rows, and a text that unfolds to 100 GB
    same = pa.DictionaryArray.from_arrays(pa.array(np.zeros(6_000_000, np.int8)), ["a"])
    parquet({"team": same}, HERE / "rows.teams.parquet")
    long = pa.DictionaryArray.from_arrays(pa.array(np.zeros(100_000, np.int8)), ["a" * 90_000])
    parquet({"team": long, "credits": np.ones(100_000)}, HERE / "texts.teams.parquet")
    nested = pa.array([["a"], ["b"]])
    parquet({"team": nested, "credits": [1, 2]}, HERE / "nested.teams.parquet")
    parquet({"team": [b"a", b"\xff"], "credits": [1, 2]}, HERE / "bytes.teams.parquet")
    sound = (HERE / "nested.teams.parquet").read_bytes()
    (HERE / "cut.teams.parquet").write_bytes(sound[:-40])
    (HERE / "footer.teams.parquet").write_bytes(sound[:-8] + b"\xff\xff\xff\x7fPAR1")


if __name__ == "__main__":
    make()

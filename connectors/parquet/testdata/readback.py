"""Reads Parquet files of ours with PyArrow, DuckDB and DataFusion, and holds them against what was written.

readback.py FOLDER: for each NAME.parquet there is a NAME.json with columns, types and values. Numbers are
as they are, DOUBLE and FLOAT by their bits, DECIMALs unscaled, days and microseconds since 1970 or midnight,
BYTES in hexadecimal digits.
"""
import json
import math
import os
import struct
import sys
from decimal import Context, Decimal

import datafusion
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

EXACT = Context(prec=80)
FLOATS = {"DOUBLE": ("<d", "<Q"), "FLOAT": ("<f", "<I")}


def values(column, kind):
    """A column of Arrow in the form of the expected values."""
    if kind == "DATE":
        column = column.cast(pa.int32())
    elif kind.startswith("TIMESTAMP"):
        column = column.cast(pa.timestamp("us", tz=column.type.tz)).cast(pa.int64())
    elif kind.startswith("TIME("):
        column = column.cast(pa.time64("us")).cast(pa.int64())
    elif pa.types.is_dictionary(column.type):
        column = column.cast(pa.string())
    out = column.to_pylist()
    if kind == "BYTES":
        return [None if v is None else v.hex() for v in out]
    if kind.startswith("DECIMAL"):
        scale = int(kind.split(",")[1].strip(" )"))
        return [None if v is None else str(int(EXACT.scaleb(v, scale))) for v in out]
    return [number(v, kind) if kind in FLOATS and v is not None else v for v in out]


def number(v, kind):
    return v if math.isnan(v) else struct.unpack(FLOATS[kind][1], struct.pack(FLOATS[kind][0], v))[0]


def double(bits, kind):
    return struct.unpack(FLOATS[kind][0], struct.pack(FLOATS[kind][1], bits))[0]


def same(got, want, kind):
    if got == want:
        return True
    return kind in FLOATS and want is not None and got is not None and math.isnan(got) and math.isnan(double(want, kind))


def compare(who, name, table, columns):
    for c in columns:
        got = values(table[c["name"]], c["type"])
        if len(got) != len(c["values"]):
            sys.exit(f"{name}: {who} reads {len(got)} rows of {c['name']}, want {len(c['values'])}")
        for row, (g, w) in enumerate(zip(got, c["values"])):
            if not same(g, w, c["type"]):
                sys.exit(f"{name}: {who}, column {c['name']} ({c['type']}), row {row}: {g!r}, want {w!r}")


def raw(v, kind):
    """An expected value as a statistic has it."""
    if kind in FLOATS:
        return double(v, kind)
    if kind == "STRING":
        return v.encode()
    if kind == "BYTES":
        return bytes.fromhex(v)
    return int(v) if kind.startswith("DECIMAL") else v


def check_statistics(name, meta, columns):
    first = 0
    for g in range(meta.num_row_groups):
        group = meta.row_group(g)
        for i, c in enumerate(columns):
            chunk, kind = group.column(i), c["type"]
            where = f"{name}: row group {g}, column {c['name']} ({kind})"
            some = c["values"][first:first + group.num_rows]
            live = [raw(v, kind) for v in some if v is not None]
            live = [v for v in live if not (kind in FLOATS and math.isnan(v))]
            s = chunk.statistics
            if not chunk.has_offset_index or (kind not in FLOATS and not chunk.has_column_index):
                sys.exit(f"{where} has no page index")
            if s.null_count != some.count(None):
                sys.exit(f"{where}: {s.null_count} NULLs, want {some.count(None)}")
            if s.has_min_max != bool(live):
                sys.exit(f"{where}: bounds {s.has_min_max}, and there are {len(live)} values")
            if not live:
                continue
            low, high = s.min_raw, s.max_raw
            if kind.startswith("TIME") and int(kind.split("(")[1][0]) <= 3:
                low, high = low * 1000, high * 1000
            if kind.startswith("DECIMAL") and isinstance(low, bytes):
                low, high = int.from_bytes(low, "big", signed=True), int.from_bytes(high, "big", signed=True)
            short = kind in ("STRING", "BYTES") and (len(low) < len(min(live)) or high != max(live))
            if short and not (low <= min(live) and high >= max(live) and min(live).startswith(low) and (len(high) <= 67 or high == max(live))):
                sys.exit(f"{where}: bounds {low!r} and {high!r} of {min(live)!r} and {max(live)!r}")
            if not short and (low, high) != (min(live), max(live)):
                sys.exit(f"{where}: bounds {low!r} and {high!r}, want {min(live)!r} and {max(live)!r}")
        first += group.num_rows


def check_damage(path, meta):
    """A flipped bit in any column is noticed, by the checksum if by nothing else."""
    if meta.num_rows == 0:
        return
    data = bytearray(open(path, "rb").read())
    for i in range(meta.num_columns):
        chunk = meta.row_group(0).column(i)
        start = chunk.dictionary_page_offset or chunk.data_page_offset
        at = start + chunk.total_compressed_size - 1
        data[at] ^= 1
        broken = path + ".broken"
        with open(broken, "wb") as f:
            f.write(data)
        data[at] ^= 1
        try:
            pq.ParquetFile(broken, page_checksum_verification=True).read()
        except OSError:
            continue
        finally:
            os.remove(broken)
        sys.exit(f"{path}: a flipped bit in column {i} is not noticed")


def check_pruning(name, path, columns):
    """DataFusion passes over pages by the page index: it still has to find every row."""
    context = datafusion.SessionContext(datafusion.SessionConfig().set("datafusion.execution.parquet.pushdown_filters", "true"))
    context.register_parquet("t", path)
    for c in columns:
        live = [v for v in c["values"] if v is not None]
        if c["type"] in ("INT", "BIGINT") and live:
            v = live[len(live) // 2]
            got = context.sql(f'SELECT count(*) AS n FROM t WHERE "{c["name"]}" = {v}').to_pydict()["n"][0]
            if got != live.count(v):
                sys.exit(f"{name}: DataFusion finds {got} rows with {c['name']} = {v}, want {live.count(v)}")


def main():
    folder = sys.argv[1]
    names = sorted(n[:-8] for n in os.listdir(folder) if n.endswith(".parquet"))
    for name in names:
        path = os.path.join(folder, name + ".parquet")
        with open(os.path.join(folder, name + ".json"), encoding="utf-8") as f:
            columns = json.load(f)
        file = pq.ParquetFile(path, page_checksum_verification=True)
        compare("PyArrow", name, file.read(), columns)
        check_statistics(name, file.metadata, columns)
        check_damage(path, file.metadata)
        table = duckdb.connect().sql(f"SELECT * FROM read_parquet('{path}')").to_arrow_table()
        compare("DuckDB", name, table, columns)
        check_pruning(name, path, columns)
    print(len(names), "files")


main()

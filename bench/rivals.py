"""Runs another engine on the orders, makes the Parquet inputs, and compares answers.

rivals.py ENGINE INPUT TASK FOLDER   answers a question of bench/plans, with two threads, into out_ENGINE.parquet
rivals.py make NAME FOLDER           makes orders_NAME_snappy.parquet and orders_NAME_zstd.parquet of orders_NAME.csv
rivals.py compare TASK FOLDER ENGINE…  fails where the answers of the engines differ
"""
import os
import sys

THREADS = 2
COLUMNS = ["order_id", "customer_id", "product", "country", "amount", "status", "order_time"]
QUESTIONS = {
    "a": "SELECT country, count(*) AS n, sum(amount) AS s, avg(amount) AS a FROM orders GROUP BY country",
    "b": "SELECT product, CAST(order_time AS DATE) AS d, count(*) AS n, sum(amount) AS s FROM orders "
         "WHERE status = 'PAID' GROUP BY product, CAST(order_time AS DATE)",
    "c": "SELECT customer_id, count(*) AS n, sum(amount) AS s FROM orders GROUP BY customer_id",
    "d": "SELECT country, product, count(*) AS n, sum(net) AS s, max(net) AS mx FROM "
         "(SELECT country, product, amount * CAST(0.81 AS DOUBLE) AS net FROM orders WHERE status = 'PAID' AND amount > 20) x "
         "GROUP BY country, product",
    "e": "SELECT * FROM orders",
}
KEYS = {"a": ["country"], "b": ["product", "d"], "c": ["customer_id"], "d": ["country", "product"], "e": ["order_id"]}


def arrow_schema():
    import pyarrow as pa
    return pa.schema([("order_id", pa.int64()), ("customer_id", pa.int64()), ("product", pa.string()), ("country", pa.string()),
                      ("amount", pa.float64()), ("status", pa.string()), ("order_time", pa.timestamp("us"))])


def duckdb(path, task, out):
    import duckdb as engine
    c = engine.connect()
    c.execute(f"SET threads = {THREADS}")
    c.execute("SET preserve_insertion_order = false")
    columns = ("{'order_id': 'BIGINT', 'customer_id': 'BIGINT', 'product': 'VARCHAR', 'country': 'VARCHAR', "
               "'amount': 'DOUBLE', 'status': 'VARCHAR', 'order_time': 'TIMESTAMP'}")
    source = f"read_parquet('{path}')"
    if path.endswith(".csv"):
        source = (f"read_csv('{path}', columns = {columns}, header = true, delim = ',', quote = '\"', escape = '\"', auto_detect = false)")
    elif path.endswith(".jsonl"):
        source = f"read_json('{path}', columns = {columns}, format = 'newline_delimited', auto_detect = false)"
    c.execute(f"CREATE VIEW orders AS SELECT * FROM {source}")
    c.execute(f"COPY ({QUESTIONS[task]}) TO '{out}' (FORMAT parquet, COMPRESSION snappy)")


def polars(path, task, out):
    os.environ["POLARS_MAX_THREADS"] = str(THREADS)
    import polars as pl
    time = pl.col("order_time")
    if not path.endswith(".parquet"):
        types = [pl.Int64, pl.Int64, pl.String, pl.String, pl.Float64, pl.String, pl.String]
        scan = pl.scan_csv if path.endswith(".csv") else pl.scan_ndjson
        orders = scan(path, schema=dict(zip(COLUMNS, types)))
        time = time.str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="us")
    else:
        orders = pl.scan_parquet(path)
    n, s = pl.len().alias("n"), pl.col("amount").sum().alias("s")
    if task == "a":
        r = orders.group_by("country").agg(n, s, pl.col("amount").mean().alias("a"))
    elif task == "b":
        r = orders.filter(pl.col("status") == "PAID").group_by("product", time.dt.date().alias("d")).agg(n, s)
    elif task == "c":
        r = orders.group_by("customer_id").agg(n, s)
    elif task == "d":
        r = (orders.filter((pl.col("status") == "PAID") & (pl.col("amount") > 20))
             .select("country", "product", (pl.col("amount") * 0.81).alias("net"))
             .group_by("country", "product").agg(n, pl.col("net").sum().alias("s"), pl.col("net").max().alias("mx")))
    else:
        r = orders.with_columns(time)
    r.sink_parquet(out, compression="snappy", maintain_order=False)


def datafusion(path, task, out):
    import shutil
    from datafusion import SessionConfig, SessionContext
    c = SessionContext(SessionConfig().with_target_partitions(THREADS))
    if path.endswith(".csv"):
        c.register_csv("orders", path, schema=arrow_schema(), has_header=True)
    elif path.endswith(".jsonl"):
        c.register_json("orders", path, schema=arrow_schema(), file_extension=".jsonl")
    else:
        c.register_parquet("orders", path)
    shutil.rmtree(out, ignore_errors=True)
    c.sql(QUESTIONS[task]).write_parquet(out, compression="snappy")


def make(name, folder):
    """Row groups of a million rows, as a data pipeline would write them."""
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq
    schema = arrow_schema()
    convert = pc.ConvertOptions(column_types=schema, strings_can_be_null=True, quoted_strings_can_be_null=False)
    reader = pc.open_csv(os.path.join(folder, f"orders_{name}.csv"), convert_options=convert, read_options=pc.ReadOptions(block_size=16 << 20))
    writers = [pq.ParquetWriter(os.path.join(folder, f"orders_{name}_{c}.parquet"), schema, compression=c) for c in ("snappy", "zstd")]
    held, rows = [], 0

    def flush():
        for w in writers:
            w.write_table(pa.Table.from_batches(held, schema))

    for batch in reader:
        while rows + batch.num_rows >= 1_000_000:
            cut = 1_000_000 - rows
            held.append(batch.slice(0, cut))
            flush()
            batch, held, rows = batch.slice(cut), [], 0
        held.append(batch)
        rows += batch.num_rows
    if rows:
        flush()
    for w in writers:
        w.close()


def answers(task, path):
    """Sorted, with types that all engines share; a copy as its counts and sums, since it is large."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds
    data = ds.dataset(path, format="parquet")
    if task == "e":
        sums = {"rows": data.count_rows()}
        for column in COLUMNS:
            values = data.to_table(columns=[column])[column].combine_chunks()
            sums[column + " nulls"] = values.null_count
            if pa.types.is_dictionary(values.type):
                values = values.cast(pa.string())
            if pa.types.is_string(values.type) or pa.types.is_large_string(values.type) or pa.types.is_string_view(values.type):
                values = pc.binary_length(values.cast(pa.large_string()))
            elif pa.types.is_timestamp(values.type):
                values = pc.divide(values.cast(pa.timestamp("us")).cast(pa.int64()), 1_000_000)
            sums[column] = pc.sum(values).as_py()
            del values
        return pa.table({k: [v] for k, v in sums.items()})
    t = data.to_table()
    columns = {}
    for name in t.column_names:
        c = t[name]
        if name == "d":
            c = c.cast(pa.date32())
        elif pa.types.is_floating(c.type) or name in ("s", "a", "mx"):
            c = c.cast(pa.float64())
        elif pa.types.is_integer(c.type):
            c = c.cast(pa.int64())
        else:
            c = c.cast(pa.string())
        columns[name] = c
    return pa.table(columns).sort_by([(k, "ascending") for k in KEYS[task]])


def near(a, b):
    import pyarrow.compute as pc
    room = pc.add(pc.multiply(pc.max_element_wise(pc.abs(a), pc.abs(b)), 1e-9), 1e-6)
    return pc.all(pc.less_equal(pc.abs(pc.subtract(a, b)), room)).as_py()


def compare(task, folder, engines):
    """Keys and counts are compared exactly, sums nearly: others add doubles in whatever order they come."""
    import pyarrow as pa
    want = answers(task, os.path.join(folder, f"out_{engines[0]}.parquet"))
    for engine in engines[1:]:
        got = answers(task, os.path.join(folder, f"out_{engine}.parquet"))
        if got.num_rows != want.num_rows:
            sys.exit(f"{engine} gives {got.num_rows} rows, {engines[0]} {want.num_rows}")
        for name in want.column_names:
            a, b = want[name].combine_chunks(), got[name].combine_chunks()
            if pa.types.is_floating(a.type):
                # Polars sums no values at all to 0, where SQL says NULL.
                same = (engine == "polars" or a.is_null().equals(b.is_null())) and near(a.fill_null(0), b.fill_null(0))
            else:
                same = a.equals(b)
            if not same:
                sys.exit(f"column {name}: {engine} differs from {engines[0]}")


def main():
    if sys.argv[1] == "make":
        make(*sys.argv[2:4])
    elif sys.argv[1] == "compare":
        compare(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        engine, source, task, folder = sys.argv[1:5]
        run = {"duckdb": duckdb, "polars": polars, "datafusion": datafusion}[engine]
        run(os.path.join(folder, source), task, os.path.join(folder, f"out_{engine}.parquet"))


main()

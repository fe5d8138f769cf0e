"""Asks another engine one of the questions of bench/plans: rivals.py ENGINE TASK FOLDER.

Reads FOLDER/orders.csv with two threads and writes FOLDER/out_ENGINE_TASK.csv.
"""
import os
import sys

engine, task, folder = sys.argv[1:4]
path = os.path.join(folder, "orders.csv")
out = os.path.join(folder, f"out_{engine}_{task}.csv")
THREADS = 2

QUESTIONS = {
    "a": "SELECT country, count(*) AS n, sum(amount) AS s, avg(amount) AS a FROM orders GROUP BY country",
    "b": "SELECT product, CAST(order_time AS DATE) AS d, count(*) AS n, sum(amount) AS s FROM orders "
         "WHERE status = 'PAID' GROUP BY product, CAST(order_time AS DATE)",
    "c": "SELECT customer_id, count(*) AS n, sum(amount) AS s FROM orders GROUP BY customer_id",
    "d": "SELECT country, product, count(*) AS n, sum(net) AS s, max(net) AS mx FROM "
         "(SELECT country, product, amount * CAST(0.81 AS DOUBLE) AS net FROM orders WHERE status = 'PAID' AND amount > 20) x "
         "GROUP BY country, product",
}


def duckdb():
    import duckdb
    c = duckdb.connect()
    c.execute(f"SET threads = {THREADS}")
    c.execute("SET preserve_insertion_order = false")
    columns = ("{'order_id': 'BIGINT', 'customer_id': 'BIGINT', 'product': 'VARCHAR', 'country': 'VARCHAR', "
               "'amount': 'DOUBLE', 'status': 'VARCHAR', 'order_time': 'TIMESTAMP'}")
    c.execute(f"CREATE VIEW orders AS SELECT * FROM read_csv('{path}', columns = {columns}, header = true, "
              "delim = ',', quote = '\"', escape = '\"', auto_detect = false)")
    c.execute(f"COPY ({QUESTIONS[task]}) TO '{out}' (FORMAT csv, HEADER)")


def polars():
    os.environ["POLARS_MAX_THREADS"] = str(THREADS)
    import polars as pl
    schema = {"order_id": pl.Int64, "customer_id": pl.Int64, "product": pl.String, "country": pl.String,
              "amount": pl.Float64, "status": pl.String, "order_time": pl.String}
    orders = pl.scan_csv(path, schema=schema)
    n, s = pl.len().alias("n"), pl.col("amount").sum().alias("s")
    if task == "a":
        r = orders.group_by("country").agg(n, s, pl.col("amount").mean().alias("a"))
    elif task == "b":
        day = pl.col("order_time").str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="us").dt.date().alias("d")
        r = orders.filter(pl.col("status") == "PAID").group_by("product", day).agg(n, s)
    elif task == "c":
        r = orders.group_by("customer_id").agg(n, s)
    else:
        r = (orders.filter((pl.col("status") == "PAID") & (pl.col("amount") > 20))
             .select("country", "product", (pl.col("amount") * 0.81).alias("net"))
             .group_by("country", "product").agg(n, pl.col("net").sum().alias("s"), pl.col("net").max().alias("mx")))
    r.sink_csv(out, maintain_order=False)


def datafusion():
    import pyarrow as pa
    from datafusion import SessionConfig, SessionContext
    c = SessionContext(SessionConfig().with_target_partitions(THREADS))
    schema = pa.schema([("order_id", pa.int64()), ("customer_id", pa.int64()), ("product", pa.string()), ("country", pa.string()),
                        ("amount", pa.float64()), ("status", pa.string()), ("order_time", pa.timestamp("us"))])
    c.register_csv("orders", path, schema=schema, has_header=True)
    with open(out, "w", encoding="utf-8") as f:
        for i, batch in enumerate(c.sql(QUESTIONS[task]).collect()):
            import pyarrow.csv as pc
            import io
            buffer = io.BytesIO()
            pc.write_csv(pa.Table.from_batches([batch]), buffer, pc.WriteOptions(include_header=i == 0, quoting_style="none"))
            f.write(buffer.getvalue().decode())


{"duckdb": duckdb, "polars": polars, "datafusion": datafusion}[engine]()

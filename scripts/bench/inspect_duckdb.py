"""Counts messages by role, swipes and dates with DuckDB: inspect_duckdb.py CHAT"""

import pathlib
import sys

import duckdb

query = pathlib.Path(__file__).with_name("inspect.sql").read_text()
print(duckdb.sql(query.replace("CHAT", sys.argv[1])).fetchall())

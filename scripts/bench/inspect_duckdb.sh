#!/bin/sh
# Counts messages by role, swipes and dates with DuckDB: inspect_duckdb.sh CHAT
sed "s|CHAT|$1|" "$(dirname "$0")/inspect.sql" | duckdb

"""Runs the recipes of docs/delivery.md on a folder of Parquet files, and prints what they return as JSON."""
import json

import duckdb
import openpyxl

with open("recipe.sql") as query:
    rows = [[str(cell) for cell in row] for row in duckdb.sql(query.read()).fetchall()]
names = {}
with open("recipe.py") as recipe:
    exec(recipe.read(), names)
table = names["table"]
sheet = openpyxl.load_workbook("prices.xlsx").active
print(
    json.dumps(
        {
            "duckdb": rows,
            "newer": duckdb.sql("select added from read_parquet('pdp_bulk/*/*/*.parquet', union_by_name = true) order by added").fetchall(),
            "pandas": {"columns": list(table.columns), "titles": sorted(table["title"])},
            "excel": [[cell.value for cell in row] for row in sheet],
            "formulas": sum(cell.data_type == "f" for row in sheet for cell in row),
        }
    )
)

"""Reads one table in every format with the tools of analysts, and prints what each one sees as JSON."""
import csv
import json
import sys

import duckdb
import openpyxl
import pandas

folder = sys.argv[1]


def values(rows):
    """Returns rows with null for every missing value."""
    return [[None if pandas.api.types.is_scalar(cell) and pandas.isna(cell) else cell for cell in row] for row in rows]


def by_duckdb(query):
    return [list(row) for row in duckdb.sql(query).fetchall()]


def by_csv(*names):
    with open(f"{folder}/table.csv", newline="", encoding="utf-8") as lines:
        return [[row[name] for name in names] for row in csv.DictReader(lines)]


def by_spreadsheet():
    """Imports the CSV as a spreadsheet does: a text that starts with "=" becomes a formula."""
    workbook = openpyxl.Workbook()
    with open(f"{folder}/table.csv", newline="", encoding="utf-8") as lines:
        for row in csv.reader(lines):
            # Cells cannot hold control characters, which a spreadsheet drops.
            workbook.active.append([openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE.sub("", cell) for cell in row])
    workbook.save(f"{folder}/table.xlsx")
    sheet = openpyxl.load_workbook(f"{folder}/table.xlsx").active
    return {
        "rows": sheet.max_row,
        "formulas": [cell.value for row in sheet for cell in row if cell.data_type == "f"],
    }


parquet = pandas.read_parquet(f"{folder}/table.parquet", dtype_backend="pyarrow")
text = pandas.read_csv(f"{folder}/table.csv", dtype=str, keep_default_na=False)
lines = pandas.read_json(f"{folder}/table.jsonl", lines=True, dtype=False)
print(
    json.dumps(
        {
            "duckdb": {
                "parquet": by_duckdb(f"select unit_index, title, \"price.amount\", sold, available, images, other_fields from '{folder}/table.parquet' order by unit_index"),
                "types": by_duckdb(f"select column_name, column_type from (describe select * from '{folder}/table.parquet')"),
                "csv": by_duckdb(f"select unit_index, title, \"price.currency\", other_fields from read_csv('{folder}/table.csv', all_varchar = true, header = true, parallel = false, allow_quoted_nulls = false) order by unit_index::int"),
                "jsonl": by_duckdb(f"select unit_index, title from read_json('{folder}/table.jsonl', format = 'newline_delimited') order by unit_index"),
                "lists": by_duckdb(f"select unit_index, counts, epoch_ms(seen_at), other_fields from '{folder}/table.parquet' where unit_index in (14, 15) order by unit_index"),
                "model": by_duckdb(f"select models ->> '$[0].price' from '{folder}/table.parquet' where unit_index = 10"),
            },
            "pandas": {
                "parquet": values(parquet[["unit_index", "title", "price.amount", "sold", "available"]].values.tolist()),
                "csv": text[["unit_index", "title", "price.currency"]].values.tolist(),
                "jsonl": len(lines),
            },
            "csv": by_csv("unit_index", "title", "price.currency", "other_fields"),
            "spreadsheet": by_spreadsheet(),
        }
    )
)

"""Records as pandas data frames. Needs the extra ``gleaner-client[pandas]``."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, cast

if TYPE_CHECKING:
    import pandas

__all__ = ["to_frame"]


_UNIT_COLUMNS = ("index", "key", "region")
_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")


def to_frame(records: Iterable[Dict[str, Any]]) -> "pandas.DataFrame":
    """Returns a row for each unit of ``Client.records()``: its key and region, and the fields of its record.

    Searches and shops have files instead of records: pass ``Client.rows()``. Raises ValueError for their units.

    Columns have the types of the Parquet file of the job: nested objects become columns with dots, such as
    ``price.amount``; times in UTC become timestamps; a list of texts, numbers, or booleans stays a list, and other lists
    become JSON text. Half of a surrogate pair becomes U+FFFD, and a column with a time that pandas cannot hold stays
    text. A field of a record whose name is ``key``, ``region``, or ``index`` gets the prefix ``record.``.
    """
    import pandas

    rows = []
    for unit in map(_well_formed, records):
        # Rows of a table have no batch.
        if "batch_id" not in unit or "unit_index" in unit:
            rows.append(_flat(unit))
            continue
        if "record" not in unit:
            raise ValueError("The results of the job are files: use to_frame(client.rows(job_id))")
        own = {name: unit.get(name) for name in _UNIT_COLUMNS}
        fields = _flat(unit["record"] or {})
        rows.append({**own, **{(f"record.{name}" if name in own else name): value for name, value in fields.items()}})
    frame = pandas.DataFrame(rows)
    for name in frame.columns.difference(_UNIT_COLUMNS):
        frame[name] = _typed(frame[name])
    is_of_units = not frame.empty and tuple(frame.columns[:3]) == _UNIT_COLUMNS
    return frame.set_index("index") if is_of_units else frame


def _well_formed(value: Any) -> Any:
    """Returns a JSON value with U+FFFD for half of a surrogate pair, which columns of texts cannot hold."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_well_formed(element) for element in value]
    if isinstance(value, dict):
        return {_well_formed(name): _well_formed(member) for name, member in value.items()}
    return value


def _flat(record: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the fields of a record with those of nested objects by names with dots."""
    import pandas

    rows = pandas.json_normalize(record).to_dict("records")
    return cast(Dict[str, Any], rows[0]) if rows else {}


def _typed(column: "pandas.Series[Any]") -> "pandas.Series[Any]":
    """Returns a column of times as timestamps, and one with lists of objects or lists as JSON text."""
    import pandas

    values = [value for value in column if isinstance(value, list) or pandas.notna(value)]
    if values and all(isinstance(value, str) and _UTC.fullmatch(value) for value in values):
        try:
            return pandas.to_datetime(column, utc=True, format="ISO8601")
        except ValueError:
            return column
    lists = [value for value in values if isinstance(value, list)]
    if any(isinstance(element, (dict, list)) for value in lists for element in value):
        return column.map(lambda value: _json(value) if isinstance(value, list) else value)
    return column


def _json(value: List[Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

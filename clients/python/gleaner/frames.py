"""Records as pandas data frames. Needs the extra ``gleaner-client[pandas]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable

if TYPE_CHECKING:
    import pandas

__all__ = ["to_frame"]


def to_frame(records: Iterable[Dict[str, Any]]) -> "pandas.DataFrame":
    """Returns a row for each unit of ``Client.records()``: its key and region, and the fields of its record.

    Nested objects become columns with dots, such as ``price.amount``. Lists stay lists. A field of a record whose name is
    ``key``, ``region``, or ``index`` gets the prefix ``record.``.
    """
    import pandas

    rows = []
    for unit in records:
        own = {name: unit.get(name) for name in ("index", "key", "region")}
        record = pandas.json_normalize(unit.get("record") or {}).to_dict("records")
        fields = record[0] if record else {}
        rows.append({**own, **{(f"record.{name}" if name in own else name): value for name, value in fields.items()}})
    frame = pandas.DataFrame(rows)
    return frame if frame.empty else frame.set_index("index")

"""The error of failed calls."""

from __future__ import annotations

import http.client
import json
import urllib.error
from typing import Any, Dict, List, Optional

__all__ = ["GleanerError"]


class GleanerError(Exception):
    """A response other than 2xx.

    ``status`` is its HTTP status, ``code`` the error code, such as ``insufficient_credits``, ``problems`` the invalid
    fields of a request, ``request_id`` the id to quote in a report, and ``retry_after`` the seconds after which the service
    accepts the request.
    """

    def __init__(self, status: int, body: Any, retry_after: Optional[float] = None) -> None:
        fields: Dict[str, Any] = body if isinstance(body, dict) else {}
        detail = fields.get("detail", body)
        self.status = status
        self.body = body
        self.code: str = fields.get("code") or ("invalid" if status == 422 else "")
        self.request_id: str = fields.get("request_id") or ""
        self.problems: List[Dict[str, Any]] = detail if isinstance(detail, list) else []
        self.retry_after = retry_after
        if self.problems:
            detail = "; ".join(f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in self.problems)
        super().__init__(f"{status}: {detail}")

    @classmethod
    def of(cls, error: urllib.error.HTTPError) -> "GleanerError":
        """Returns the error of a response, which is read and closed. Its body may be cut off."""
        with error:
            try:
                text = error.read().decode("utf-8", "replace")
            except (OSError, http.client.HTTPException):
                text = ""
        try:
            body = json.loads(text)
        except ValueError:
            body = text[:1000]
        seconds = error.headers.get("Retry-After") or ""
        return cls(error.code, body, float(seconds) if seconds.isdigit() else None)

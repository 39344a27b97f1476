"""Client of the REST API: calls, submits, waits, and downloads."""

from __future__ import annotations

import difflib
import hashlib
import http.client
import json
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
import warnings
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple, cast

from .errors import GleanerError
from .generated.models import Job, Quote, ResultFile
from .generated.operations import OPERATIONS

__all__ = ["Client", "Submitted"]

# Responses after which a repeatable request is sent again.
_RETRIED = (429, 502, 503, 504)
_CHUNK = 1 << 20
# Longest Retry-After that is waited for, in seconds.
_MAX_RETRY_AFTER = 120
# What a broken connection raises. A chunked response that is cut off raises an HTTPException.
_BROKEN = (urllib.error.URLError, ConnectionError, TimeoutError, http.client.HTTPException)
# Time that the service may hold a response back while a job has not changed, in seconds.
_WAIT_SECONDS = 30


class Submitted(NamedTuple):
    """An accepted job: its id, a UUID even if the kind numbers its tasks, and the response."""

    job_id: str
    response: Dict[str, Any]


def _near(operation_id: str) -> str:
    """Returns the question which operations are meant, or where all are listed if none is spelled alike."""
    names = {name.lower(): name for name in OPERATIONS}
    near = difflib.get_close_matches(operation_id.lower(), names, cutoff=0.75)
    return f". Did you mean {' or '.join(names[name] for name in near)}?" if near else ". The service lists them at /docs"


def _origin_of(url: str) -> Tuple[str, Optional[str], Optional[int]]:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, without the API key to another origin, and never from HTTPS to HTTP."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        scheme = _origin_of(req.full_url)[0]
        if scheme == "https" and _origin_of(newurl)[0] != "https":
            fp.close()
            raise GleanerError(code, {"detail": f"{req.full_url} redirects from HTTPS to {newurl}"})
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None and _origin_of(req.full_url) != _origin_of(newurl):
            request.remove_header("Authorization")
        return request


class Client:
    """Calls the REST API with one API key.

    ``timeout`` is the time in seconds that a connection may be silent, and ``max_attempts`` the number of times that a
    repeatable request is sent. A client keeps no connections open and may be used by several threads.
    """

    def __init__(self, url: str, api_key: str, *, timeout: float = 60, max_attempts: int = 5) -> None:
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(f"{url!r} is not an HTTP or HTTPS address")
        if max_attempts < 1:
            raise ValueError(f"max_attempts: {max_attempts} is less than 1")
        self.url = url.rstrip("/")
        self._api_key = _key_of(api_key)
        self._timeout = timeout
        self._max_attempts = max_attempts
        self._opener = urllib.request.build_opener(_Redirects)
        self._sleep = time.sleep

    def call(
        self,
        operation_id: str,
        body: Any = None,
        *,
        query: Optional[Dict[str, Any]] = None,
        idempotency_key: Optional[str] = None,
        **path: Any,
    ) -> Any:
        """Calls an operation by its id, with the variables of its path as keyword arguments. Returns its JSON response.

        A GET, and a request with an idempotency key, is repeated if the connection breaks or the service is busy.
        """
        text = self._send(operation_id, body, query, idempotency_key, path, receive=_read_all)
        return json.loads(text) if text else None

    def submit(
        self,
        operation_id: str,
        body: Any,
        *,
        idempotency_key: Optional[str] = None,
        **options: Any,
    ) -> Submitted:
        """Submits a job exactly once, or retries one with ``submit("retryJob", None, job_id=…)``.

        ``options`` are those of every submit, such as ``max_credits``, and the variables of the path. With ``wait``, up
        to 60 seconds, the response has the ``outcome`` of a job that ended in time, with the record of a job with one
        unit. For ``validate_only``, there is ``quote``.
        """
        if "validate_only" in options:
            raise TypeError("submit() creates a job: use quote() instead of validate_only")
        key = idempotency_key or str(uuid.uuid4())
        path = _path_of(operation_id, options)
        response = self.call(operation_id, body, query=options, idempotency_key=key, **path)
        job_id = response.get("job_id")
        if job_id is None:
            job_id = self._job_of_task(response["task_id"])
        return Submitted(job_id, response)

    def quote(self, operation_id: str, body: Any, **options: Any) -> Quote:
        """Returns what ``submit`` would cost with the same arguments, and when the job could run. Nothing is created."""
        path = _path_of(operation_id, options)
        query = {**options, "validate_only": True}
        text = self._send(operation_id, body, query, None, path, repeatable=True, receive=_read_all)
        return cast(Quote, json.loads(text))

    def job(self, job_id: str) -> Job:
        """Returns the current state of a job."""
        return cast(Job, self.call("getJob", job_id=job_id))

    def wait(self, job_id: str, timeout: Optional[float] = None) -> Job:
        """Waits until a job has ended, however it ended. Raises TimeoutError after ``timeout`` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _WAIT_SECONDS if end is None else end - time.monotonic()
            seconds = max(0, min(_WAIT_SECONDS, int(left)))
            job = cast(Job, self.call("getJob", query={"wait": f"{seconds}s"}, job_id=job_id))
            if job["ended"]:
                return job
            if end is not None and time.monotonic() >= end:
                raise TimeoutError(f"job {job_id} is {job['status']} after {timeout} s")
            if seconds == 0:
                self._sleep(0.2)

    def pages(self, operation_id: str, items: str, *, query: Optional[Dict[str, Any]] = None, **path: Any) -> Iterator[Any]:
        """Yields the elements of ``items`` of every page of a list, for example ``pages("listJobs", "jobs")``."""
        token = ""
        while True:
            page = self.call(operation_id, query={**(query or {}), "page_token": token}, **path)
            yield from page[items]
            token = page.get("next_page_token") or ""
            if token == "":
                return

    def records(self, job_id: str) -> Iterator[Dict[str, Any]]:
        """Yields the results of a job so far, one unit at a time: ``{"index", "key", "region", "input", "record", …}``."""
        return self._results(job_id)

    def rows(self, job_id: str, *, columns: Optional[str] = None) -> Iterator[Dict[str, Any]]:
        """Yields a row for each record of a job so far, also of searches and shops: its unit and its fields.

        With ``columns="standard"``, rows have the columns that all marketplaces have in common.
        """
        return self._results(job_id, {"format": "jsonl", "columns": columns})

    def _results(self, job_id: str, query: Optional[Dict[str, Any]] = None) -> Iterator[Dict[str, Any]]:
        with self._send("streamResults", None, query, None, {"job_id": job_id}) as response:
            for line in _lines_of(response):
                if line.strip():
                    yield json.loads(line)

    def files(self, job_id: str) -> List[ResultFile]:
        """Returns the result files of a job, with links that are valid for 7 days."""
        return cast(List[ResultFile], self.call("listFiles", job_id=job_id)["files"])

    def download(self, file: ResultFile, folder: str) -> str:
        """Saves a result file in a folder under its name, and returns the path.

        The file gets its name only when its SHA-256 is right. An interrupted download continues where it ended, and
        fails after ``max_attempts`` attempts in a row that get no further. Raises ValueError for other contents.
        """
        os.makedirs(folder, exist_ok=True)
        target = os.path.join(folder, os.path.basename(file["name"]))
        if os.path.exists(target) and _digest_of(target).hexdigest() == file["sha256"]:
            return target
        part = target + ".part"
        idle = 0
        while True:
            before = _size_of(part)
            try:
                self._append(file, part)
                break
            except _BROKEN:
                idle = 0 if _size_of(part) > before else idle + 1
                if idle >= self._max_attempts:
                    raise
                self._sleep(_pause(idle + 1))
        digest = _digest_of(part).hexdigest()
        if digest != file["sha256"]:
            _discard(part)
            raise ValueError(f"{file['name']}: SHA-256 is {digest}, not {file['sha256']}")
        os.replace(part, target)
        _remove(_note_of(part))
        return target

    def download_all(self, job_id: str, folder: str) -> List[str]:
        """Saves every result file of a job in a folder, except those that are there. Returns their paths."""
        return [self.download(file, folder) for file in self.files(job_id)]

    def _append(self, file: ResultFile, part: str) -> None:
        """Appends the rest of a file to what an earlier attempt saved of it."""
        total = int(file["bytes"])
        etag = _etag_of(part, file)
        size = 0 if etag is None else _size_of(part)
        if size == total and size > 0:
            return
        headers = {"Range": f"bytes={size}-", "If-Range": cast(str, etag)} if 0 < size < total else {}
        link = urllib.parse.urljoin(self.url + "/", file["download_url"])
        # Some links need the owner's key, too. It is for the service only, never for a storage engine.
        if _origin_of(link) == _origin_of(self.url):
            headers["Authorization"] = f"Bearer {self._api_key}"
        with self._open("GET", link, headers, None, True) as response:
            is_resumed = response.status == 206 and f"bytes {size}-" in response.headers.get("Content-Range", "")
            if response.status != 200 and not is_resumed:
                _discard(part)
                raise ConnectionError(f"{file['name']}: the service does not serve the requested range")
            size = size if is_resumed else 0
            _write_note(part, file, response.headers.get("ETag", ""))
            with open(part, "ab" if is_resumed else "wb") as output:
                for chunk in _chunks_of(response):
                    size += len(chunk)
                    if size > total:
                        raise ValueError(f"{file['name']}: it has more than {total} bytes")
                    output.write(chunk)
        if size < total:
            raise ConnectionError(f"{file['name']}: the connection ended {total - size} bytes early")

    def _job_of_task(self, task_id: int) -> str:
        for job in self.pages("listJobs", "jobs"):
            if job.get("task_id") == task_id:
                return cast(str, job["job_id"])
        raise GleanerError(404, {"detail": f"There is no task {task_id}.", "code": "not_found"})

    def _send(
        self,
        operation_id: str,
        body: Any,
        query: Optional[Dict[str, Any]],
        idempotency_key: Optional[str],
        path: Dict[str, Any],
        repeatable: bool = False,
        receive: Optional[Callable[[Any], bytes]] = None,
    ) -> Any:
        if operation_id not in OPERATIONS:
            raise ValueError(f"There is no operation {operation_id!r}{_near(operation_id)}")
        verb, template = OPERATIONS[operation_id]
        for name, value in path.items():
            if f"{{{name}}}" not in template:
                hint = f"Pass a parameter of the query as query={{{name!r}: …}}"
                raise TypeError(f"{operation_id}: the path {template} has no variable {name!r}. {hint}")
            template = template.replace(f"{{{name}}}", urllib.parse.quote(str(value), safe=""))
        if "{" in template:
            missing = ", ".join(re.findall(r"{(\w+)}", template))
            raise TypeError(f"{operation_id}: the path {template} needs {missing}, as keyword arguments")
        # The paths start with /v1, and an address may end in it.
        url = self.url.removesuffix("/v1") + template
        given = {name: _text(value) for name, value in (query or {}).items() if value is not None and value != ""}
        if given:
            url += "?" + urllib.parse.urlencode(given)
        headers = {"Authorization": f"Bearer {self._api_key}", "Accept": "application/json, application/x-ndjson"}
        data = None
        if body is not None:
            data, headers["Content-Type"] = _encode(body)
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        repeatable = repeatable or verb == "GET" or idempotency_key is not None
        return self._open(verb, url, headers, data, repeatable, receive)

    def _open(
        self,
        verb: str,
        url: str,
        headers: Dict[str, str],
        data: Optional[bytes],
        repeatable: bool,
        receive: Optional[Callable[[Any], bytes]] = None,
    ) -> Any:
        """Returns the response, or what ``receive`` returns for it: the request is repeated if either fails."""
        attempts = self._max_attempts if repeatable else 1
        for attempt in range(1, attempts + 1):
            request = urllib.request.Request(url, data=data, headers=headers, method=verb)
            try:
                response = self._opener.open(request, timeout=self._timeout + _WAIT_SECONDS)
                for warning in _warnings_of(response.headers):
                    warnings.warn(warning, stacklevel=4)
                return response if receive is None else receive(response)
            except urllib.error.HTTPError as error:
                failed = GleanerError.of(error)
                # A request in progress under the same key is a conflict that names when to ask again.
                is_retried = error.code in _RETRIED or (error.code == 409 and "Retry-After" in error.headers)
                pause = _pause(attempt) if failed.retry_after is None else failed.retry_after
                if not is_retried or attempt == attempts or pause > _MAX_RETRY_AFTER:
                    raise failed from None
                self._sleep(pause)
            except _BROKEN as error:
                if attempt == attempts:
                    raise _os_error_of(error) from error
                self._sleep(_pause(attempt))
        raise AssertionError("unreachable")


def _encode(body: Any) -> Tuple[bytes, str]:
    """Returns a body and its media type: a form if a field is a file, as bytes, otherwise JSON."""
    if not isinstance(body, dict) or not any(isinstance(value, bytes) for value in body.values()):
        return json.dumps(body).encode(), "application/json"
    boundary = uuid.uuid4().hex
    form = b""
    for name, value in body.items():
        is_file = isinstance(value, bytes)
        filename = f'; filename="{name}"' if is_file else ""
        form += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{filename}\r\n\r\n'.encode()
        form += (value if is_file else _text(value).encode()) + b"\r\n"
    return form + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def _key_of(api_key: Optional[str]) -> str:
    """Returns an API key without surrounding white space, such as the line break of its file."""
    key = (api_key or "").strip()
    if not key:
        raise ValueError("The API key is missing: pass it as api_key")
    if not key.isascii() or not key.isprintable():
        raise ValueError("The API key contains other characters than a key has")
    return key


def _warnings_of(headers: Any) -> List[str]:
    """Returns the warnings of a response: of the service, and of fields that had no effect."""
    warning = headers.get("X-Gleaner-Warning")
    ignored = headers.get("X-Ignored-Fields")
    found = [] if warning is None else [warning]
    if ignored is not None:
        found.append(f"The service does not know these fields, and ignored them: {urllib.parse.unquote(ignored)}")
    return found


def _path_of(operation_id: str, given: Dict[str, Any]) -> Dict[str, Any]:
    """Takes the variables of an operation's path from the given arguments, and returns them."""
    _, template = OPERATIONS.get(operation_id, ("", ""))
    return {name: given.pop(name) for name in list(given) if f"{{{name}}}" in template}


def _pause(attempt: int) -> float:
    return float(min(30, 0.5 * 2 ** (attempt - 1)))


def _os_error_of(error: Exception) -> OSError:
    """Returns an error of a connection as an OSError. Those of a response that was cut off are none."""
    return error if isinstance(error, OSError) else ConnectionError(f"The response was cut off: {error!r}")


def _read_all(response: Any) -> bytes:
    """Returns the body of a response. Raises IncompleteRead if it was cut off, also among the headers."""
    with response:
        text = cast(bytes, response.read())
    is_framed = "Content-Length" in response.headers or "Transfer-Encoding" in response.headers
    if not text and not is_framed and response.status != 204:
        raise http.client.IncompleteRead(b"")
    return text


def _lines_of(response: Any) -> Iterator[bytes]:
    """Yields the lines of a response. Raises an OSError if it was cut off, which its own iterator does not notice."""
    pieces: List[bytes] = []
    try:
        while chunk := response.read1(_CHUNK):
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                yield b"".join([*pieces, end])
                pieces = []
            pieces.append(rest)
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
    except http.client.HTTPException as error:
        raise _os_error_of(error) from error
    yield b"".join(pieces)


def _chunks_of(response: Any) -> Iterator[bytes]:
    """Yields the body of a response, also what precedes the cut of a chunked one."""
    try:
        while chunk := response.read(_CHUNK):
            yield chunk
    except http.client.IncompleteRead as error:
        yield error.partial
        raise


def _size_of(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.remove(path)


def _note_of(part: str) -> str:
    return part + ".json"


def _discard(part: str) -> None:
    _remove(part)
    _remove(_note_of(part))


def _write_note(part: str, file: ResultFile, etag: str) -> None:
    """Records which bytes a partial file holds. A weak tag does not identify bytes: such a file is not resumed."""
    if not etag.startswith('"'):
        _remove(_note_of(part))
        return
    with open(_note_of(part), "w", encoding="utf-8") as note:
        json.dump({"sha256": file["sha256"], "etag": etag}, note)


def _etag_of(part: str, file: ResultFile) -> Optional[str]:
    """Returns the entity tag of a partial file that can be resumed. None for another file's, and for one without a note."""
    try:
        with open(_note_of(part), encoding="utf-8") as content:
            note = json.load(content)
    except (OSError, ValueError):
        return None
    is_own = isinstance(note, dict) and note.get("sha256") == file["sha256"] and _size_of(part) <= int(file["bytes"])
    return note.get("etag") if is_own and os.path.exists(part) else None


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _digest_of(path: str) -> Any:
    digest = hashlib.sha256()
    with open(path, "rb") as content:
        while chunk := content.read(_CHUNK):
            digest.update(chunk)
    return digest

"""Tests of the client's redirects, retries, and downloads against servers of its own."""

import hashlib
import http.server
import os
import tempfile
import threading
import unittest
import urllib.request
from typing import Any, Callable, List

from gleaner import Client, GleanerError
from gleaner.client import _Redirects

CONTENT = bytes(range(256)) * 64


class Server:
    """An HTTP server that answers with a function and records the requests."""

    def __init__(self, answer: Callable[[Any, int], None]) -> None:
        requests: List[Any] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.close_connection = True
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                requests.append(self.headers)
                answer(self, len(requests))

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        self.requests = requests
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def head(handler: Any, status: int, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def send_cut(handler: Any, start: int, end: int, etag: str) -> None:
    """Sends bytes in chunks, and closes the connection without the last chunk."""
    status = 200 if start == 0 else 206
    head(handler, status, Transfer_Encoding="chunked", ETag=etag, Content_Range=f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
    for at in range(start, end, 1000):
        chunk = CONTENT[at : min(at + 1000, end)]
        handler.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
    if end == len(CONTENT):
        handler.wfile.write(b"0\r\n\r\n")


class TransferTest(unittest.TestCase):
    def serve(self, answer: Callable[[Any, int], None]) -> Server:
        server = Server(answer)
        self.addCleanup(server.close)
        return server

    def client(self, server: Server, **options: Any) -> Client:
        client = Client(server.url, "gl_key", **options)
        self.slept: List[float] = []
        client._sleep = self.slept.append
        return client

    def download(self, client: Client, content: bytes = CONTENT) -> bytes:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file: Any = {"name": "a.json", "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), "download_url": "/file"}
        path = client.download(file, folder.name)
        self.assertEqual(os.listdir(folder.name), ["a.json"])
        with open(path, "rb") as saved:
            return saved.read()

    def test_sends_the_key_to_no_other_origin(self) -> None:
        storage = self.serve(lambda handler, _: send_cut(handler, 0, len(CONTENT), '"a"'))
        service = self.serve(lambda handler, _: head(handler, 302, Location=f"{storage.url}/bucket", Content_Length="0"))
        self.assertEqual(self.download(self.client(service)), CONTENT)
        self.assertEqual(service.requests[0]["Authorization"], "Bearer gl_key")
        self.assertIsNone(storage.requests[0]["Authorization"])

    def test_keeps_the_key_for_the_same_origin(self) -> None:
        def answer(handler: Any, number: int) -> None:
            if number == 1:
                head(handler, 302, Location="/moved", Content_Length="0")
            else:
                send_cut(handler, 0, len(CONTENT), '"a"')

        service = self.serve(answer)
        self.assertEqual(self.download(self.client(service)), CONTENT)
        self.assertEqual([request["Authorization"] for request in service.requests], ["Bearer gl_key"] * 2)

    def test_follows_no_redirect_from_https_to_http(self) -> None:
        class Body:
            def close(self) -> None:
                pass

        request = urllib.request.Request("https://service.test/file", headers={"Authorization": "Bearer gl_key"})
        with self.assertRaises(GleanerError) as raised:
            _Redirects().redirect_request(request, Body(), 302, "Found", {}, "http://service.test/file")
        self.assertIn("from HTTPS to http://service.test/file", str(raised.exception))
        moved = _Redirects().redirect_request(request, Body(), 302, "Found", {}, "https://service.test:8443/file")
        self.assertFalse(moved.has_header("Authorization"))

    def test_resumes_a_chunked_download_that_was_cut(self) -> None:
        ends = [3000, 7000, 7000, 9000, 11_000, len(CONTENT)]

        def answer(handler: Any, number: int) -> None:
            span = handler.headers["Range"]
            start = 0 if span is None else int(span[len("bytes=") : -1])
            send_cut(handler, start, ends[number - 1], '"a"')

        service = self.serve(answer)
        # More interruptions than attempts, each but one after progress.
        self.assertEqual(self.download(self.client(service, max_attempts=2)), CONTENT)
        self.assertEqual([request["If-Range"] for request in service.requests], [None] + ['"a"'] * 5)
        self.assertEqual([request["Range"] for request in service.requests][1:3], ["bytes=3000-", "bytes=7000-"])

    def test_gives_up_without_progress(self) -> None:
        service = self.serve(lambda handler, _: send_cut(handler, 0, 0, '"a"'))
        with self.assertRaises(Exception):
            self.download(self.client(service, max_attempts=3))
        self.assertEqual(len(service.requests), 3)

    def test_starts_again_if_the_file_changed_or_has_a_weak_tag(self) -> None:
        for etag in ('"b"', 'W/"a"'):

            def answer(handler: Any, number: int, etag: str = etag) -> None:
                send_cut(handler, 0, 5000 if number == 1 else len(CONTENT), '"a"' if number == 1 and etag == '"b"' else etag)

            self.assertEqual(self.download(self.client(self.serve(answer))), CONTENT)

    def test_repeats_a_submission_whose_response_was_cut_under_its_key(self) -> None:
        body = b'{"job_id": "1"}'

        def answer(handler: Any, number: int) -> None:
            if number == 1:
                handler.wfile.write(b"HTTP/1.1 202 Accepted\r\nContent-Ty")
            else:
                head(handler, 502 if number == 2 else 202, Content_Length=str(len(body)))
                handler.wfile.write(body[: 5 if number < 4 else None])

        server = self.serve(answer)
        submitted = self.client(server).submit("submitMktbPdpBulk", {"items": []})
        self.assertEqual((submitted.job_id, len(server.requests)), ("1", 4))
        self.assertEqual(len({request["Idempotency-Key"] for request in server.requests}), 1)

    def test_sends_a_body_with_a_file_as_a_form(self) -> None:
        server = self.serve(lambda handler, _: head(handler, 202, Content_Length="0"))
        self.client(server).call("submitMktaGetPcBulk", {"file": b"a\r\n", "rescrape": True})
        self.client(server).call("submitMktbPdpBulk", {"items": []})
        types = [request["Content-Type"].split(";")[0] for request in server.requests]
        self.assertEqual(types, ["multipart/form-data", "application/json"])

    def test_raises_an_error_for_records_that_were_cut(self) -> None:
        line = b'{"index": 0}\n'

        def chunked(handler: Any, number: int) -> None:
            head(handler, 200, Transfer_Encoding="chunked")
            handler.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")

        def sized(handler: Any, number: int) -> None:
            head(handler, 200, Content_Length=str(2 * len(line)))
            handler.wfile.write(line)

        for answer in (chunked, sized):
            records = self.client(self.serve(answer)).records("1")
            self.assertEqual(next(records), {"index": 0})
            with self.assertRaises(OSError):
                next(records)

    def test_waits_two_minutes_at_most(self) -> None:
        def busy(after: str) -> Server:
            def answer(handler: Any, number: int) -> None:
                if number == 1:
                    head(handler, 429, Retry_After=after, Content_Length="0")
                else:
                    head(handler, 200, Content_Length="0")

            return self.serve(answer)

        self.client(busy("120")).job("1")
        self.assertEqual(self.slept, [120])
        with self.assertRaises(GleanerError) as raised:
            self.client(busy("121")).job("1")
        self.assertEqual((raised.exception.retry_after, self.slept), (121, []))


if __name__ == "__main__":
    unittest.main()

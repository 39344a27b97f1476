#!/usr/bin/env python3
"""Submits a job to Gleaner, waits for its end, downloads its files and checks them.

Needs nothing but Python 3.9 or newer. Every path comes from the service's OpenAPI document, by the
operation's id: <url>/openapi.json, which <url>/docs shows for people.

    export GLEANER_URL=http://127.0.0.1:8080 GLEANER_API_KEY=gl_...
    python3 gleaner_example.py submitMktbPdpBulk body.json results/
"""

import hashlib
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid


class GleanerError(Exception):
    """An answer that is not 2xx: `status`, and `body` as the service wrote it."""

    def __init__(self, status, body):
        self.status = status
        self.body = body
        detail = body.get("detail") if isinstance(body, dict) else body
        if isinstance(detail, list):  # 422: every problem with its place
            detail = "; ".join(f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in detail)
        super().__init__(f"{status}: {detail}")


class Gleaner:
    """Calls operations of the OpenAPI document in the name of one API key."""

    def __init__(self, url, api_key):
        self.url = url.rstrip("/")
        self.api_key = api_key
        with self._open("GET", f"{self.url}/openapi.json", {}) as answer:
            paths = json.load(answer)["paths"]
        self.operations = {
            operation["operationId"]: (verb.upper(), path)
            for path, operations in paths.items()
            for verb, operation in operations.items()
            if isinstance(operation, dict) and "operationId" in operation
        }

    def call(self, operation_id, body=None, query=None, idempotency_key=None, **path_variables):
        """Calls an operation and gives its JSON answer. Repeats it only where that does no harm."""
        verb, path = self.operations[operation_id]
        for name, value in path_variables.items():
            path = path.replace("{" + name + "}", urllib.parse.quote(str(value), safe=""))
        url = self.url.removesuffix("/v1") + path + ("?" + urllib.parse.urlencode(query) if query else "")
        headers = {"Authorization": f"Bearer {self.api_key}"}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        repeatable = verb == "GET" or idempotency_key is not None
        with self._open(verb, url, headers, data, tries=5 if repeatable else 1) as answer:
            return json.load(answer)

    def submit(self, operation_id, body):
        """Submits a job once, however often the connection breaks: the key sees to it."""
        return self.call(operation_id, body, idempotency_key=str(uuid.uuid4()))

    def wait(self, job_id):
        """Waits until a job has ended. The service holds each answer back for up to 30 seconds."""
        while True:
            job = self.call("getJob", query={"wait": "30s"}, job_id=job_id)
            print(f"{job['status']}: {job['success']} done, {job['failed']} failed, {job['total']} in all", file=sys.stderr)
            if job["ended"]:
                return job

    def download(self, job_id, folder):
        """Saves a job's files under their names, each only once its SHA-256 is right."""
        os.makedirs(folder, exist_ok=True)
        saved = []
        for file in self.call("listFiles", job_id=job_id)["files"]:
            target = os.path.join(folder, os.path.basename(file["name"]))
            digest = hashlib.sha256()
            # Some links need the owner's key, too; it goes to the service alone, never to a storage engine.
            link = urllib.parse.urljoin(self.url + "/", file["download_url"])
            own = urllib.parse.urlsplit(link).netloc == urllib.parse.urlsplit(self.url).netloc
            headers = {"Authorization": f"Bearer {self.api_key}"} if own else {}
            with self._open("GET", link, headers, tries=5) as answer, open(target + ".part", "wb") as part:
                while chunk := answer.read(1 << 20):
                    digest.update(chunk)
                    part.write(chunk)
            if digest.hexdigest() != file["sha256"]:
                raise ValueError(f"{file['name']}: SHA-256 is {digest.hexdigest()}, not {file['sha256']}")
            os.replace(target + ".part", target)
            saved.append(target)
        return saved

    def _open(self, verb, url, headers, data=None, tries=5):
        for number in range(1, tries + 1):
            request = urllib.request.Request(url, data=data, headers=headers, method=verb)
            try:
                return urllib.request.urlopen(request, timeout=90)
            except urllib.error.HTTPError as error:
                text = error.read().decode("utf-8", "replace")
                if error.code not in (429, 502, 503) or number == tries:
                    raise GleanerError(error.code, parsed(text)) from None
                time.sleep(int(error.headers.get("Retry-After") or 2 ** (number - 1)))
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if number == tries:
                    raise
                time.sleep(2 ** (number - 1))


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    operation_id, body_file, folder = sys.argv[1:]
    gleaner = Gleaner(os.environ["GLEANER_URL"], os.environ["GLEANER_API_KEY"])
    with open(body_file, encoding="utf-8") as file:
        body = json.load(file)
    try:
        submitted = gleaner.submit(operation_id, body)
        print(f"job {submitted['job_id']} for {submitted['cost']} credits", file=sys.stderr)
        job = gleaner.wait(submitted["job_id"])
        for path in gleaner.download(job["job_id"], folder):
            print(path)
    except GleanerError as error:
        sys.exit(str(error))
    sys.exit(0 if job["status"] == "completed" else 1)


if __name__ == "__main__":
    main()

"""Uses the package against a running service, and prints what it did as JSON."""

import http.server
import json
import os
import tempfile
import threading
import warnings

from gleaner import Client, GleanerError, to_frame

client = Client(os.environ["GLEANER_URL"], os.environ["GLEANER_API_KEY"])


def fails(run, kind=GleanerError):
    try:
        run()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def items(*digits):
    return {"items": [{"shop_domain": "toko-7", "product_key": f"barang-{end}"} for end in digits]}


submitted = client.submit("submitMktbPdpBulk", items("101", "800", "102"), idempotency_key="python-1")
assert client.submit("submitMktbPdpBulk", items("101", "800", "102"), idempotency_key="python-1").job_id == submitted.job_id
job = client.wait(submitted.job_id, timeout=60)
assert client.job(submitted.job_id)["ended"]
records = list(client.records(submitted.job_id))
assert [unit["key"] for unit in records] == ["barang-101", "barang-102"], records

# The failed unit, by its code and alone.
assert [group["code"] for group in client.call("listFaults", job_id=job["job_id"])["faults"]] == ["page_not_found"]
failed = client.pages("listUnits", "units", job_id=job["job_id"], query={"status": "FAILED"})
assert [unit["key"] for unit in failed] == ["barang-800"]
assert "Did you mean listFaults" in str(fails(lambda: client.call("listFault"), ValueError))

# A quote creates nothing, and a submit is no quote.
quote = client.quote("submitMktbPdpBulk", items("103", "103"), max_credits=50)
assert quote["accepted"] and quote["units"] == 2, quote
assert quote["duplicates"] == 1, quote
assert fails(lambda: client.quote("submitMktbPdpBulk", items())).status == 422
assert "quote()" in str(fails(lambda: client.submit("submitMktbPdpBulk", items("103"), validate_only=True), TypeError))

# A retry of a unit whose connection was lost.
lost = client.submit("submitMktbPdpBulk", items("104", "902"))
assert client.wait(lost.job_id, timeout=60)["failed"] == 1
assert client.quote("retryJob", None, job_id=lost.job_id)["units"] == 1
retry = client.submit("retryJob", None, job_id=lost.job_id)
assert client.wait(retry.job_id, timeout=60)["total"] == 1

# A kind whose jobs have numbers.
task = client.submit("submitMktaGetPc", {"region": "sg", "item_id": "20101", "shop_id": "7"})
assert client.wait(task.job_id, timeout=60)["status"] == "completed"
assert submitted.job_id in [one["job_id"] for one in client.pages("listJobs", "jobs", query={"page_size": 1})]

# A kind that takes a file: a form, which is the same under the same key.
rows = {"file": b"region,shop_id,item_id\nsg,7,20101\n", "result_format": "jsonl", "rescrape": True}
upload = client.submit("submitMktaGetPcBulk", rows, idempotency_key="python-2")
assert (upload.response["result_format"], upload.response["rescrape"]) == ("jsonl", True)
assert client.submit("submitMktaGetPcBulk", rows, idempotency_key="python-2").job_id == upload.job_id
assert client.quote("submitMktaGetPcBulk", rows)["units"] == 1

# A job that waits for approval.
waiting = client.submit("submitMktaVariantSold", {"country": "sg", "items": [{"item_id": "20000000991", "shop_id": "7"}]})
fails(lambda: client.wait(waiting.job_id, timeout=1), TimeoutError)
client.call("cancelJob", {}, job_id=waiting.job_id)

with tempfile.TemporaryDirectory() as folder:
    paths = client.download_all(submitted.job_id, folder)
    content = open(paths[0], "rb").read()
    # A file that is there is not fetched again; a part of it is completed.
    before = os.stat(paths[0]).st_mtime_ns
    client.download_all(submitted.job_id, folder)
    assert os.stat(paths[0]).st_mtime_ns == before
    os.remove(paths[0])
    with open(paths[0] + ".part", "wb") as part:
        part.write(content[:100])
    assert open(client.download_all(submitted.job_id, folder)[0], "rb").read() == content
    # Other contents than promised are no result.
    with open(paths[0], "wb") as other:
        other.write(b"x")
    file = client.files(submitted.job_id)[0]
    fails(lambda: client.download({**file, "sha256": "0" * 64}, folder), ValueError)
    assert not os.path.exists(paths[0] + ".part")

error = fails(lambda: client.submit("submitMktbPdpBulk", {"items": [{"shop_domain": 7}]}))
assert error.status == 422 and len(error.problems) == 2, error
error = fails(lambda: client.job("00000000-0000-4000-8000-000000000000"))
assert (error.status, error.code) == (404, "not_found") and error.request_id
assert fails(lambda: Client(client.url, "gl_unknown").call("getAccount")).status == 401
fails(lambda: client.call("nothing"), ValueError)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    rule = client.call("createRule", {"condition": "out_of_stock"})
assert "has no enabled webhook" in str(caught[0].message), caught
client.call("deleteRule", rule_id=rule["rule_id"])
assert "needs job_id" in str(fails(lambda: client.call("getJob"), TypeError))
assert "query={'status': …}" in str(fails(lambda: client.call("listJobs", status="COMPLETED"), TypeError))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    client.call("listJobs", query={"page": 2})
assert "ignored them: page" in str(caught[0].message), caught
fails(lambda: Client("ftp://x", "k"), ValueError)
for missing in (None, "", " \n"):
    assert "API key is missing" in str(fails(lambda: Client(client.url, missing), ValueError))
assert Client(client.url, os.environ["GLEANER_API_KEY"] + "\n").call("getAccount")
assert "gl_" not in str(fails(lambda: Client(client.url, "gl_1\ngl_2"), ValueError))
assert Client(client.url + "/v1/", os.environ["GLEANER_API_KEY"]).job(submitted.job_id)["ended"]


class Busy(http.server.BaseHTTPRequestHandler):
    """Responds with 503 twice, then with JSON."""

    requests = 0

    def do_POST(self):
        Busy.requests += 1
        length = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(length))
        status = 503 if Busy.requests < 3 else 200
        text = json.dumps({"job_id": "j", "key": self.headers["Idempotency-Key"], **body}).encode()
        self.send_response(status)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


with http.server.HTTPServer(("127.0.0.1", 0), Busy) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    busy = Client(f"http://127.0.0.1:{server.server_port}", "k")
    assert busy.submit("submitMktbPdpBulk", {"x": 1}, idempotency_key="same").response == {"job_id": "j", "key": "same", "x": 1}
    assert Busy.requests == 3
    # A POST without a key is not repeated.
    Busy.requests = 0
    assert fails(lambda: busy.call("retryJob", {}, job_id="j")).status == 503
    assert Busy.requests == 1
    server.shutdown()

result = {"status": job["status"], "records": len(records), "files": len(paths)}
if "WITH_PANDAS" in os.environ:
    frame = to_frame(client.records(submitted.job_id))
    assert list(frame["key"]) == ["barang-101", "barang-102"], frame
    assert to_frame([]).empty
    amazon = client.submit("submitMktePdpBulk", {"items": [{"asin": "B0GLN01001", "country": "de"}]})
    client.wait(amazon.job_id, timeout=60)
    product = to_frame(client.records(amazon.job_id))
    assert str(product["_scraped_at"].dtype) in ("datetime64[ns, UTC]", "datetime64[us, UTC]"), product.dtypes
    assert isinstance(product["images"][0], list), product["images"]
    assert isinstance(json.loads(product["variants"][0]), list), product["variants"]
    search = client.submit("submitMktbSearchBulk", {"items": [{"keyword": "kopi 101", "product_limit": 60}]})
    client.wait(search.job_id, timeout=60)
    found = to_frame(client.rows(search.job_id))
    assert found["unit_key"].unique().tolist() == ["kopi 101"] and len(found) == 60, found
    standard = to_frame(client.rows(search.job_id, columns="standard"))
    assert standard["price"].notna().all() and standard["currency"].unique().tolist() == ["IDR"], standard
    odd = to_frame([{"unit_index": 0, "title": "half \ud83d", "tags": ["\udc00"], "at": "2024-02-30T00:00:00Z"}])
    assert odd.to_dict("records") == [
        {"unit_index": 0, "title": "half \ufffd", "tags": ["\ufffd"], "at": "2024-02-30T00:00:00Z"}
    ], odd
    try:
        to_frame(client.records(search.job_id))
        raise AssertionError("files are no records")
    except ValueError as error:
        assert "client.rows" in str(error), error
    result["columns"] = list(frame.columns)
print(json.dumps(result))

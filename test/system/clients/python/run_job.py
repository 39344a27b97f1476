"""Runs one job with the client that openapi-python-client generates: prints its counts as JSON."""

import json
import os
import uuid

from gleaner_client import AuthenticatedClient
from gleaner_client.api.jobs import get_job, list_faults
from gleaner_client.api.tokopedia import retrieve_mktb_pdp_bulk, submit_mktb_pdp_bulk
from gleaner_client.models import (
    BulkRetrieved,
    BulkRetrievedStatus,
    ErrorResponse,
    HTTPValidationError,
    Job,
    MktbPdpItem,
    MktbSubmitPdpBulkRequest,
)


def main():
    client = AuthenticatedClient(os.environ["GLEANER_URL"], os.environ["GLEANER_API_KEY"])
    invalid = submit_mktb_pdp_bulk.sync(client=client, body=MktbSubmitPdpBulkRequest(items=[]))
    assert isinstance(invalid, HTTPValidationError), invalid
    item = MktbPdpItem(product_key="barang-1001", shop_domain="toko-7")
    submitted = submit_mktb_pdp_bulk.sync(
        client=client, body=MktbSubmitPdpBulkRequest(items=[item]), idempotency_key=str(uuid.uuid4())
    )
    job = get_job.sync(submitted.job_id, client=client, wait="30s")
    assert isinstance(job, Job) and job.ended, job
    retrieved = retrieve_mktb_pdp_bulk.sync(submitted.job_id, client=client)
    assert isinstance(retrieved, BulkRetrieved), retrieved
    assert retrieved.status is BulkRetrievedStatus.COMPLETED, retrieved
    unknown = list_faults.sync(str(uuid.uuid4()), client=client)
    assert isinstance(unknown, ErrorResponse) and unknown.code == "not_found", unknown
    print(json.dumps({"success": retrieved.success, "total": retrieved.total}))


main()

/** Runs one job with the client that @hey-api/openapi-ts generates: prints its counts as JSON. */
import assert from 'node:assert/strict';
import { client } from './generated/client.gen.ts';
import {
  getJob,
  listFaults,
  type MktbPdpItem,
  retrieveMktbPdpBulk,
  submitMktbPdpBulk,
} from './generated/index.ts';

client.setConfig({ baseUrl: process.env.GLEANER_URL!, auth: process.env.GLEANER_API_KEY! });
const item: MktbPdpItem = { product_key: 'barang-1001', shop_domain: 'toko-7' };

const { error: invalid } = await submitMktbPdpBulk({ body: { items: [] } });
assert.ok(invalid && 'detail' in invalid && Array.isArray(invalid.detail));
const headers = { 'Idempotency-Key': crypto.randomUUID() };
const submitted = await submitMktbPdpBulk({ body: { items: [item] }, headers, throwOnError: true });
// A submission with `validate_only` returns a quote instead.
assert.ok('job_id' in submitted.data);
const path = { job_id: submitted.data.job_id };
const job = await getJob({ path, query: { wait: '30s' }, throwOnError: true });
assert.equal(job.data.ended, true);
const { data } = await retrieveMktbPdpBulk({ path, throwOnError: true });
const expected: typeof data.status = 'completed';
assert.equal(data.status, expected);
const { error: unknown } = await listFaults({ path: { job_id: crypto.randomUUID() } });
assert.ok(unknown && 'code' in unknown);
assert.equal(unknown.code, 'not_found');
console.log(JSON.stringify({ success: data.success, total: data.total }));

import type { DescMethod } from '@bufbuild/protobuf';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { errorAnswer } from '../errors.ts';
import { having, like, link, matching, positive, text, uuid } from '../matchers.ts';
import type { Case, Endpoint, Marketplace } from '../table.ts';

const rpc = JobService.method;
const submit = '/v1/mktd/pdp/bulk/submit';
const page = (digits: string) => ({ product_id: `1729000077${digits}`, country: 'th' });
const time = like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/, 'time');

const job = {
  job_id: uuid,
  user_id: uuid,
  kind: 'pdp_bulk',
  market: 'mktd',
  region: '',
  status: 'completed',
  cost: 5,
  refunded: 0,
  total: 1,
  success: 1,
  failed: 0,
  created_at: time,
  started_at: time,
  finished_at: time,
  reason: '',
  waiting_for: '',
  retrieve_path: like(/^\/v1\/mktd\/pdp\/bulk\/retrieve\/[0-9a-f-]{36}$/, 'retrieve path'),
  retry_of: '',
  batches: 1,
  batches_done: 1,
  unit_price: 5,
  ended: true,
  user_name: '',
};
const failed = { ...job, status: 'failed', refunded: 5, success: 0, failed: 1 };
const unit = { index: 0, batch_id: uuid, key: page('001').product_id, region: 'th', input: page('001') };
const gone = { ...unit, key: page('800').product_id, input: page('800') };
const failedUnit = { ...gone, status: 'FAILED', code: 'page_not_found', message: text };

/** An endpoint about one job: what it answers of the job that is done, then of the one that failed. */
function about(end: string, method: DescMethod, cases: readonly [Case, ...Case[]]): Endpoint {
  const path = `/v1/jobs/{job_id}${end}`;
  return { verb: 'GET', path, method, names: { param: 'job_id', id: 'uuid' }, cases };
}

const done = { title: 'one that is done', params: { job_id: '{any page}' }, status: 200 } as const;
const lost = { title: 'one that failed', params: { job_id: '{any gone}' }, status: 200 } as const;
const refused = { status: 409, answer: errorAnswer } as const;

/** Jobs of every kind: 10 endpoints. */
export const jobs: Marketplace = {
  name: 'jobs of every kind',
  jobs: {
    'any page': { submit, body: { items: [page('001')] }, ends: true },
    'any gone': { submit, body: { items: [page('800')] }, ends: true },
  },
  endpoints: [
    {
      verb: 'GET',
      path: '/v1/jobs',
      method: rpc.listJobs,
      cases: [
        {
          title: 'the first page',
          status: 200,
          answer: {
            jobs: matching('jobs', Array.isArray),
            next_page_token: matching('token', (value) => typeof value === 'string'),
          },
        },
        {
          title: 'of one without jobs',
          caller: 'poor',
          status: 200,
          answer: { jobs: [], next_page_token: '' },
        },
      ],
    },
    about('', rpc.getJob, [
      { ...done, answer: job },
      { ...lost, answer: failed },
    ]),
    about('/units', rpc.listUnits, [
      {
        ...done,
        answer: { units: [{ ...unit, status: 'SUCCESS', code: '', message: '' }], next_page_token: '' },
      },
      { ...lost, answer: { units: [failedUnit], next_page_token: '' } },
    ]),
    about('/faults', rpc.listFaults, [
      { ...done, answer: { faults: [] } },
      { ...lost, answer: { faults: [{ code: 'page_not_found', units: 1, examples: [failedUnit] }] } },
    ]),
    about('/progress', rpc.getProgress, [
      {
        ...done,
        answer: { points: matching('points', (value) => Array.isArray(value) && value.length > 1) },
      },
    ]),
    about('/files', rpc.listFiles, [
      {
        ...done,
        answer: {
          files: [
            {
              name: like(/^mktd_pdp_.+\.jsonl\.gz$/),
              scope: 'job',
              index: 0,
              key: '',
              content_type: 'application/gzip',
              items: 1,
              bytes: positive,
              sha256: like(/^[0-9a-f]{64}$/, 'SHA-256'),
              download_url: link('mktd_pdp_*.jsonl.gz'),
            },
          ],
        },
      },
    ]),
    about('/results', rpc.streamResults, [
      {
        ...done,
        type: 'application/x-ndjson',
        answer: {
          ...unit,
          record: having({ product_info: matching('object', (value) => typeof value === 'object') }),
        },
      },
    ]),
    about('/failures', rpc.streamFailures, [
      {
        ...lost,
        type: 'application/x-ndjson',
        answer: {
          ...gone,
          code: 'page_not_found',
          message: text,
          credits: 5,
          refund_entry: like(/^refund:[0-9a-f-]{36}$/, 'ledger entry'),
        },
      },
    ]),
    {
      ...about('/retry', rpc.retryJob, [{ ...done, title: 'one of which nothing failed', ...refused }]),
      verb: 'POST',
    },
    {
      ...about('/cancel', rpc.cancelJob, [{ ...done, title: 'one that has ended', ...refused }]),
      verb: 'POST',
    },
  ],
};

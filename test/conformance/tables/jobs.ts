import type { DescMethod } from '@bufbuild/protobuf';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { errorResponse } from '../errors.ts';
import { having, like, link, matching, negative, positive, text, uuid } from '../matchers.ts';
import { createPageCases, pageCases, refusedQuery } from '../pages.ts';
import type { Case, Endpoint, Marketplace } from '../table.ts';

const anObject = matching('object', (value) => typeof value === 'object');

const rpc = JobService.method;
const submit = '/v1/mktd/pdp/bulk/submit';
const page = (digits: string) => ({ product_id: `1729000077${digits}`, country: 'th' });
const time = like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/, 'time');

const token = matching('token', (value) => typeof value === 'string');
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
  reread_of: '',
  schedule_id: '',
  batches: 1,
  batches_done: 1,
  unit_price: 5,
  ended: true,
  user_name: '',
  charged: 5,
  not_run: 0,
  decided_by: '',
  mode: 'live',
};
const failed = { ...job, status: 'failed', refunded: 5, success: 0, failed: 1 };
const unit = {
  index: 0,
  batch_id: uuid,
  key: page('001').product_id,
  region: 'th',
  input: page('001'),
};
const gone = { ...unit, key: page('800').product_id, input: page('800') };
const failedUnit = { ...gone, status: 'FAILED', code: 'page_not_found', message: text };

/** Creates an endpoint for a job. The first cases are a completed and a failed job. */
function about(end: string, method: DescMethod, cases: readonly [Case, ...Case[]]): Endpoint {
  const path = `/v1/jobs/{job_id}${end}`;
  return { verb: 'GET', path, method, names: { param: 'job_id', id: 'uuid' }, cases };
}

const done = { title: 'a completed job', params: { job_id: '{any page}' }, status: 200 } as const;
const lost = { title: 'a failed job', params: { job_id: '{any gone}' }, status: 200 } as const;
const refused = { status: 409, response: errorResponse } as const;

const inFormat = (format: string) => ({ ...done, params: { ...done.params, format } });
const row = having({
  unit_index: 0,
  unit_key: page('001').product_id,
  unit_region: 'th',
  product: matching('product', (value) => typeof value === 'object'),
  skus: matching('variants', Array.isArray),
});

const place = { unit_index: 0, unit_region: 'th', position: 0 };
const entry = {
  ...place,
  unit_key: page('001').product_id,
  status: 'SUCCESS',
  code: '',
  message: '',
  item: having({ title: text }),
  record: having({ product: matching('product', (value) => typeof value === 'object') }),
};
const lostEntry = {
  ...place,
  unit_key: page('800').product_id,
  status: 'FAILED',
  code: 'page_not_found',
  message: text,
};

/** Jobs of every kind. */
export const jobs: Marketplace = {
  name: 'jobs of every kind',
  jobs: {
    'any page': { submit, body: { items: [page('001')] }, ends: true },
    'any gone': { submit, body: { items: [page('800')] }, ends: true },
    'any deleted': { submit, body: { items: [page('002')] }, ends: true },
    'any failing': { submit, body: { items: [page('812')] }, ends: true },
    'any kept': {
      submit,
      body: { items: [page('003')] },
      options: { keep_pages: '1d' },
      ends: true,
    },
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
          response: {
            jobs: matching('jobs with their paths', (value) =>
              (value as { retrieve_path: string }[]).every(({ retrieve_path: path }) =>
                /^\/v1\/(?:mkt|sites)/.test(path),
              ),
            ),
            next_page_token: token,
          },
        },
        {
          title: 'a user without jobs',
          caller: 'poor',
          status: 200,
          response: { jobs: [], next_page_token: '' },
        },
        {
          title: 'jobs of one status, kind, and marketplace',
          params: { status: 'failed', kind: 'pdp_bulk', market: 'mktd', page_size: '1' },
          status: 200,
          response: {
            jobs: [having({ status: 'failed', kind: 'pdp_bulk', market: 'mktd' })],
            next_page_token: token,
          },
        },
        ...pageCases,
        refusedQuery('status', 'done', 'enum'),
        refusedQuery('status', 'constructor', 'enum'),
        refusedQuery('kind', 'everything', 'enum'),
        refusedQuery('market', 'mktz', 'enum'),
      ],
    },
    about('', rpc.getJob, [
      { ...done, response: job },
      { ...lost, response: failed },
      {
        ...done,
        title: 'a wait that ends at once',
        params: { ...done.params, wait: '1s' },
        response: job,
      },
      refusedQuery('wait', 'abc', 'string_pattern_mismatch', {
        params: done.params,
        restOnly: true,
      }),
      refusedQuery('wait', '-1', 'string_pattern_mismatch', {
        params: done.params,
        restOnly: true,
      }),
      refusedQuery('wait', '61s', 'less_than_equal', { params: done.params, restOnly: true }),
    ]),
    about('/units', rpc.listUnits, [
      {
        ...done,
        response: {
          units: [{ ...unit, status: 'SUCCESS', code: '', message: '' }],
          next_page_token: '',
        },
      },
      { ...lost, response: { units: [failedUnit], next_page_token: '' } },
      {
        ...lost,
        title: 'units with a fault',
        params: { ...lost.params, status: 'FAILED', code: 'page_not_found' },
        response: { units: [failedUnit], next_page_token: '' },
      },
      {
        ...lost,
        title: 'units with another fault',
        params: { ...lost.params, code: 'page_blocked' },
        response: { units: [], next_page_token: '' },
      },
      ...createPageCases(done.params),
      refusedQuery('status', 'failed', 'enum', { params: done.params }),
      refusedQuery('code', 'no_such_fault', 'enum', { params: done.params }),
      refusedQuery('code', 'toString', 'enum', { params: done.params }),
    ]),
    about('/faults', rpc.listFaults, [
      { ...done, response: { faults: [] } },
      {
        ...lost,
        response: { faults: [{ code: 'page_not_found', units: 1, examples: [failedUnit] }] },
      },
    ]),
    about('/progress', rpc.getProgress, [
      {
        ...done,
        response: {
          points: matching('points', (value) => Array.isArray(value) && value.length > 1),
        },
      },
    ]),
    about('/quality', rpc.getQuality, [
      {
        ...done,
        response: matching('quality', (value) => {
          const { records, fields } = value as { records: unknown; fields: unknown };
          return Number(records) > 0 && Array.isArray(fields) && fields.length > 0;
        }),
      },
    ]),
    {
      ...about('/release', rpc.releaseJob, [
        { ...done, ...refused, title: 'a job that is not held' },
      ]),
      verb: 'POST',
    },
    {
      ...about('/files', rpc.deleteFiles, [
        {
          title: 'the files of an ended job',
          params: { job_id: '{any deleted}' },
          status: 200,
          response: having({
            job_id: uuid,
            status: 'completed',
            success: 1,
            files_deleted_at: time,
          }),
        },
        { title: 'a job that has not ended', params: { job_id: '{items waiting}' }, ...refused },
      ]),
      verb: 'DELETE',
      verbs: ['GET', 'DELETE'],
    },
    {
      ...about('/files', rpc.listFiles, [
        {
          ...done,
          response: {
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
                records_url: link('mktd_pdp_*'),
              },
            ],
          },
        },
      ]),
      verbs: ['GET', 'DELETE'],
    },
    about('/results', rpc.streamResults, [
      {
        ...done,
        type: 'application/x-ndjson',
        response: {
          ...unit,
          record: having({ product_info: anObject }),
        },
      },
      { ...lost, type: 'application/x-ndjson', restOnly: true },
      {
        ...inFormat('csv'),
        title: 'a completed job, as CSV',
        type: 'text/csv; charset=utf-8',
        restOnly: true,
      },
      refusedQuery('format', 'xlsx', 'enum', { params: done.params, restOnly: true }),
      {
        title: 'the pages that a result was read from',
        params: { job_id: '{any kept}', provenance: 'true' },
        status: 200,
        type: 'application/x-ndjson',
        response: having({
          provenance: {
            reader: like(/^mktd\/product \d+\.\d+\.\d+$/, 'reader'),
            pages: [
              {
                url: like(/^http/, 'URL'),
                fetched_at: time,
                status: 200,
                sha256: like(/^[0-9a-f]{64}$/, 'digest'),
              },
            ],
          },
        }),
        restOnly: true,
      },
      {
        title: 'the pages of a job that keeps none',
        params: { ...done.params, provenance: 'true' },
        status: 200,
        type: 'application/x-ndjson',
        response: having({ record: anObject, provenance: { pages: [] } }),
        restOnly: true,
      },
      {
        title: 'provenance in another format',
        params: { ...done.params, provenance: 'true', format: 'csv' },
        status: 422,
        problems: [[['query', 'provenance'], 'value_error']],
        restOnly: true,
      },
      {
        ...done,
        title: 'the changes of a tracked job',
        params: { job_id: '{tracked}', only: 'changed' },
        status: 200,
        type: 'application/x-ndjson',
        response: having({ index: 0, region: 'th', record: having({ product: anObject }) }),
        restOnly: true,
      },
      {
        ...done,
        title: 'the changes of a job that is not tracked',
        params: { ...done.params, only: 'changed' },
        status: 422,
        problems: [[['query', 'only'], 'value_error']],
        restOnly: true,
      },
      refusedQuery('only', 'new', 'enum', { params: done.params, restOnly: true }),
      {
        ...done,
        title: 'a filter of changes, without a format',
        params: { ...done.params, only: 'changed', filter: 'product.title!=' },
        status: 422,
        problems: [[['query', 'format'], 'missing']],
        restOnly: true,
      },
    ]),
    about('/export', rpc.exportRecords, [
      { ...inFormat('jsonl'), type: 'application/x-ndjson', response: row },
      { ...lost, params: { ...lost.params, format: 'json' }, response: [] },
      {
        ...inFormat('json'),
        title: 'a completed job, as JSON',
        response: [row],
        responseHeaders: {
          'content-disposition': like(
            /^attachment; filename="mktd_pdp_bulk_[0-9a-f-]{36}\.json"$/,
            'file name',
          ),
        },
        restOnly: true,
      },
      ...(['csv', 'csv-bom'] as const).map((format) => ({
        ...inFormat(format),
        title: `a completed job, as ${format}`,
        type: 'text/csv; charset=utf-8',
        restOnly: true,
      })),
      {
        ...inFormat('parquet'),
        title: 'a completed job, as Parquet',
        type: 'application/vnd.apache.parquet',
        restOnly: true,
      },
      {
        title: 'the changes of a tracked job, as JSON Lines',
        params: { job_id: '{tracked}', format: 'jsonl', only: 'changed' },
        status: 200,
        type: 'application/x-ndjson',
        response: having({ unit_index: 0, unit_region: 'th', product: anObject }),
      },
      {
        title: 'the changes of a tracked job, without a format',
        params: { job_id: '{tracked}', only: 'changed' },
        status: 422,
        problems: [[['query', 'format'], 'missing']],
        restOnly: true,
      },
      { ...done, title: 'no format', status: 422, problems: [[['query', 'format'], 'missing']] },
      refusedQuery('format', '', 'enum', { params: done.params, restOnly: true }),
      refusedQuery('format', 'xlsx', 'enum', { params: done.params }),
      refusedQuery('only', 'new', 'enum', inFormat('csv')),
      {
        ...inFormat('csv'),
        title: 'the changes of a job that is not tracked',
        params: { ...inFormat('csv').params, only: 'changed' },
        status: 422,
        problems: [[['query', 'only'], 'value_error']],
        restOnly: true,
      },
      {
        ...inFormat('csv'),
        title: 'a job whose results were deleted',
        params: { job_id: '{any deleted}', format: 'csv' },
        status: 410,
        response: errorResponse,
        restOnly: true,
      },
    ]),
    about('/records', rpc.listRecords, [
      { ...done, response: { records: [entry], next_page_token: '' } },
      { ...lost, response: { records: [lostEntry], next_page_token: '' } },
      {
        ...done,
        title: 'the columns of a selection',
        params: {
          ...done.params,
          filter: 'product.title!=',
          sort: '-item.price',
          column: 'product.title',
        },
        response: {
          records: [{ ...entry, record: { product: { title: text } } }],
          next_page_token: '',
          total: 1,
        },
        restOnly: true,
      },
      {
        ...done,
        title: 'a search for nothing',
        params: { ...done.params, search: 'no such text' },
        response: { records: [], next_page_token: '', total: 0 },
      },
      {
        ...done,
        title: 'one unit',
        params: { ...done.params, unit_index: '0', position: '0' },
        response: { records: [entry], next_page_token: '' },
      },
      refusedQuery('unit_index', '-1', 'greater_than_equal', { params: done.params }),
      {
        ...lost,
        title: 'records of a failed job',
        params: { ...lost.params, status: 'SUCCESS' },
        response: { records: [], next_page_token: '' },
      },
      refusedQuery('status', 'PENDING', 'enum', { params: done.params }),
      refusedQuery('sort', 'skus', 'enum', { params: done.params }),
      refusedQuery('search', 'x'.repeat(201), 'string_too_long', { params: done.params }),
      {
        ...done,
        title: 'a column that the table does not have',
        params: { ...done.params, column: 'constructor' },
        status: 422,
        problems: [[['query', 'column', 0], 'enum']],
        restOnly: true,
      },
      {
        ...done,
        title: 'a condition without an operator',
        params: { ...done.params, filter: 'price' },
        status: 422,
        problems: [[['query', 'filter', 0], 'value_error']],
        restOnly: true,
      },
      ...createPageCases(done.params),
    ]),
    about('/fields', rpc.listFields, [
      {
        ...done,
        response: {
          records: 1,
          fields: matching('fields', (value) =>
            (value as { name: string; fill: number }[]).some(
              ({ name, fill }) => name === 'product.title' && fill === 1,
            ),
          ),
        },
      },
      {
        ...lost,
        response: {
          records: 0,
          fields: matching('fields', (value) =>
            (value as { fill: number }[]).every(({ fill }) => fill === 0),
          ),
        },
      },
    ]),
    about('/failures', rpc.streamFailures, [
      {
        ...lost,
        type: 'application/x-ndjson',
        response: {
          ...gone,
          code: 'page_not_found',
          message: text,
          credits: 5,
          refund_entry: like(/^refund:[0-9a-f-]{36}$/, 'ledger entry'),
        },
      },
      {
        ...lost,
        title: 'a failed job, as CSV',
        params: { ...lost.params, format: 'csv' },
        type: 'text/csv; charset=utf-8',
        restOnly: true,
      },
      refusedQuery('format', 'xlsx', 'enum', { params: lost.params }),
    ]),
    {
      ...about('/retry', rpc.retryJob, [
        { ...done, title: 'a job without failed units', ...refused },
        {
          title: 'a job that has not ended',
          params: { job_id: '{items waiting}' },
          ...refused,
        },
        {
          title: 'a job whose failures are final',
          params: lost.params,
          ...refused,
        },
        {
          title: 'the quote of a job without failed units',
          params: done.params,
          options: { validate_only: 'true' },
          ...refused,
        },
        {
          title: 'the quote of a failed job',
          params: { job_id: '{any failing}' },
          options: { validate_only: 'true' },
          status: 200,
          response: having({ accepted: true, units: 1, cost: 5, needs_approval: false }),
        },
        {
          title: 'a failed job, with max_credits below its price',
          params: { job_id: '{any failing}' },
          options: { max_credits: '4' },
          status: 402,
          code: 'max_credits_exceeded',
          response: { ...errorResponse, required: 5, current: positive, shortfall: negative },
        },
        {
          title: 'a failed job, once per idempotency key',
          params: { job_id: '{any failing}' },
          headers: { 'idempotency-key': 'again' },
          status: 202,
          response: having({ job_id: uuid, kind: 'pdp_bulk', total: 1, cost: 5, retry_of: uuid }),
          restOnly: true,
        },
      ]),
      verb: 'POST',
    },
    {
      ...about('/reread', rpc.rereadJob, [
        { ...done, title: 'a job that keeps no pages', ...refused },
        { title: 'a job that has not ended', params: { job_id: '{items waiting}' }, ...refused },
        {
          title: 'with an option of reading',
          params: { job_id: '{any kept}' },
          options: { max_age: '1d' },
          status: 422,
          problems: [[['query', 'max_age'], 'value_error']],
          restOnly: true,
        },
        {
          title: 'the quote of a reread, at the price of reused results',
          params: { job_id: '{any kept}' },
          options: { validate_only: 'true' },
          status: 200,
          response: having({ accepted: true, units: 1, unit_price: 3, cost: 3, warnings: [] }),
        },
        {
          title: 'a job with kept pages, once per idempotency key',
          params: { job_id: '{any kept}' },
          headers: { 'idempotency-key': 'reread' },
          status: 202,
          response: having({ job_id: uuid, kind: 'pdp_bulk', total: 1, cost: 3, reread_of: uuid }),
          restOnly: true,
        },
      ]),
      verb: 'POST',
    },
    about('/differences', rpc.listDifferences, [
      { ...done, title: 'a job that is no reread', ...refused },
    ]),
    {
      ...about('/cancel', rpc.cancelJob, [{ ...done, title: 'a job that has ended', ...refused }]),
      verb: 'POST',
    },
  ],
};

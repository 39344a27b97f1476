import { MktaService } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { errorResponse } from '../errors.ts';
import { having, like, link, text, uuid } from '../matchers.ts';
import type { Case, Endpoint, Prepared } from '../table.ts';

const rpc = MktaService.method;
const path = '/v1/mkta/variant_sold_v1';
const submit = `${path}/submit`;

const item = (at: number) => ({ item_id: String(41_000_000_000 + at), shop_id: '7100' });
const gone = { item_id: '41000000800', shop_id: '7100' };
const items = [item(1), item(2)];

/** Prepared jobs of variant sold. */
export const jobs: Record<string, Prepared> = {
  'items waiting': { submit, body: { country: 'sg', items }, ends: false },
  'items done': {
    submit,
    body: { country: 'sg', items: [...items, gone] },
    decide: 'approve',
    ends: true,
  },
  'items mixed': {
    submit,
    body: { country: 'sg', items: [...Array.from({ length: 50 }, (_, at) => item(at)), gone] },
    decide: 'approve',
    ends: true,
  },
  'items failed': { submit, body: { country: 'sg', items: [gone] }, decide: 'approve', ends: true },
  'items rejected': { submit, body: { country: 'sg', items }, decide: 'reject', ends: true },
};

const submitted = {
  job_id: uuid,
  status: 'awaiting_approval',
  cost: 20,
  refunded: 0,
  total_items: 2,
  total_batches: 1,
};

const invalid = (
  title: string,
  body: unknown,
  problems: NonNullable<Case['problems']>,
  restOnly = false,
): Case => ({ title, body, status: 422, problems, restOnly });

const itemOf = (at: number, country: string) => ({ ...item(at), country });

const submitEndpoint: Endpoint = {
  verb: 'POST',
  path: submit,
  method: rpc.submitVariantSold,
  submit: {
    takes: 'items',
    most: 50_000,
    price: 10,
    fields: { item_id: { is: 'id', digits: true }, shop_id: { is: 'id', digits: true } },
  },
  cases: [
    {
      title: 'one country for all items',
      body: { country: 'sg', items },
      status: 202,
      response: submitted,
    },
    {
      title: 'a country on every item',
      body: { items: [itemOf(1, 'br'), itemOf(2, 'br')] },
      status: 202,
      response: submitted,
    },
    {
      title: 'an item 50 times, and a second batch whose item repeats the country',
      body: { country: 'id', items: [...new Array(50).fill(item(3)), itemOf(4, 'id')] },
      status: 202,
      response: { ...submitted, cost: 510, total_items: 51, total_batches: 2 },
    },
    invalid('no country anywhere', { items }, [
      [['body', 'items', 0, 'country'], 'missing'],
      [['body', 'items', 1, 'country'], 'missing'],
    ]),
    invalid('a country beside the items that there is not', { country: 'us', items }, [
      [['body', 'country'], 'enum'],
    ]),
    invalid('a country on an item that there is not', { items: [itemOf(1, 'jp')] }, [
      [['body', 'items', 0, 'country'], 'enum'],
    ]),
    invalid(
      'a number for a country',
      { country: 65, items },
      [[['body', 'country'], 'string_type']],
      true,
    ),
    invalid('two countries', { items: [itemOf(1, 'sg'), itemOf(2, 'my')] }, [
      [['body', 'items', 1, 'country'], 'value_error'],
    ]),
    invalid(
      'another country on an item than beside',
      { country: 'sg', items: [item(1), itemOf(2, 'my')] },
      [[['body', 'items', 1, 'country'], 'value_error']],
    ),
    invalid(
      'several problems',
      { country: 'xx', items: [{ item_id: 'a' }, { item_id: 1.5, shop_id: '7' }] },
      [
        [['body', 'country'], 'enum'],
        [['body', 'items', 0, 'item_id'], 'string_pattern_mismatch'],
        [['body', 'items', 0, 'shop_id'], 'missing'],
        [['body', 'items', 1, 'item_id'], 'string_type'],
      ],
      true,
    ),
  ],
};

const pending = { batch_id: uuid, country: 'sg', status: 'PENDING' };
const failed = { batch_id: uuid, country: 'sg', status: 'FAILED' };
const done = {
  batch_id: uuid,
  country: 'sg',
  status: 'SUCCESS',
  download_url: link('batch_*.json'),
};

const retrieved = (
  job: string,
  status: string,
  aggregate: string,
  progress: string,
  batches: unknown[],
) => ({
  title: job,
  params: { job_id: `{items ${job}}` },
  status: 200,
  response: { job_id: uuid, status, job_status: aggregate, progress, batches },
});

const retrieveEndpoint: Endpoint = {
  verb: 'GET',
  path: `${path}/retrieve/{job_id}`,
  method: rpc.retrieveVariantSold,
  names: { param: 'job_id', id: 'uuid', foreign: '{searches done}' },
  cases: [
    retrieved('done', 'completed', 'completed', '1/1 batches complete', [done]),
    retrieved('waiting', 'awaiting_approval', 'pending', '0/1 batches complete', [pending]),
    retrieved('mixed', 'partial_complete', 'partial_complete', '2/2 batches complete', [
      done,
      failed,
    ]),
    retrieved('failed', 'failed', 'failed', '1/1 batches complete', [failed]),
    retrieved('rejected', 'rejected', 'failed', '1/1 batches complete', [failed]),
  ],
};

const downloaded = (
  job: string,
  status: string,
  [total, success, failures]: [number, number, number],
) => ({
  title: job,
  params: { job_id: `{items ${job}}` },
  status: 200,
  response: {
    job_id: uuid,
    status,
    total_items: total,
    success_count: success,
    failed_count: failures,
    download_url: success > 0 ? link('full_*.json') : null,
  },
});

const downloadEndpoint: Endpoint = {
  verb: 'GET',
  path: `${path}/download/{job_id}`,
  method: rpc.downloadVariantSold,
  names: { param: 'job_id', id: 'uuid', foreign: '{shops done}' },
  cases: [
    downloaded('done', 'completed', [3, 2, 1]),
    downloaded('waiting', 'awaiting_approval', [2, 0, 0]),
    downloaded('mixed', 'partial_complete', [51, 50, 1]),
    downloaded('failed', 'failed', [1, 0, 1]),
    downloaded('rejected', 'rejected', [2, 0, 2]),
  ],
};

const itemShown = (
  title: string,
  job: string,
  shown: typeof gone,
  outcome: Record<string, unknown>,
) => ({
  title,
  params: { job_id: `{items ${job}}`, item_id: shown.item_id },
  status: 200,
  response: { job_id: uuid, ...shown, country: 'sg', data: null, error_log: null, ...outcome },
});

const record = having({ itemId: item(1).item_id, shopId: item(1).shop_id, country: 'sg' });

const itemEndpoint: Endpoint = {
  verb: 'GET',
  path: `${path}/download/{job_id}/item/{item_id}`,
  method: rpc.downloadVariantSoldItem,
  names: { param: 'job_id', id: 'uuid', foreign: '{searches done}' },
  cases: [
    itemShown('an item with a record', 'done', item(1), { status: 'SUCCESS', data: record }),
    itemShown('an item that failed', 'done', gone, { status: 'FAILED', error_log: text }),
    itemShown('an item of a waiting job', 'waiting', item(1), { status: 'PENDING' }),
    itemShown('an item of a rejected job', 'rejected', item(1), {
      status: 'FAILED',
      error_log: like(/rejected.*Too expensive\./),
    }),
    {
      title: 'an item that is not in the job',
      params: { job_id: '{items done}', item_id: '999' },
      status: 404,
      response: errorResponse,
    },
  ],
};

/** Endpoints 1 to 4 of marketplace A. */
export const endpoints: readonly Endpoint[] = [
  submitEndpoint,
  retrieveEndpoint,
  downloadEndpoint,
  itemEndpoint,
];

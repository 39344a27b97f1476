import type { DescMethod } from '@bufbuild/protobuf';
import { HistoryService } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { errorResponse } from '../errors.ts';
import { having, like, matching, text, uuid } from '../matchers.ts';
import { createPageCases, invalidTokens, pageCases, refusedQuery } from '../pages.ts';
import type { Case, Endpoint, Marketplace, Verb } from '../table.ts';

const rpc = HistoryService.method;
const submit = '/v1/mktd/pdp/bulk/submit';
const key = '1729000078001';
const time = like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/, 'time');
const number = matching('number', (value) => typeof value === 'number');
const boolean = matching('boolean', (value) => typeof value === 'boolean');
const list = matching('list', Array.isArray);

const values = {
  title: text,
  price: number,
  currency: 'THB',
  stock: number,
  available: boolean,
  sold: number,
  rating: number,
  variants: list,
};
const item = {
  market: 'mktd',
  region: 'th',
  key,
  values,
  present: true,
  first_at: time,
  changed_at: time,
  seen_at: time,
  job_id: uuid,
  store: '',
};
const place = { market: 'mktd', region: 'th', key };
const observation = having({ observed_at: time, job_id: uuid, changed: list });
const cursor = like(/^\d+-[\w-]+$/, 'cursor');
const change = having({
  cursor,
  job_id: uuid,
  type: 'new',
  market: 'mktd',
  region: 'th',
  key,
  title: text,
  at: time,
  fields: list,
});
const noPage = { next_page_token: '' };

const rule = {
  rule_id: uuid,
  name: 'Cheaper',
  condition: 'price_falls_by',
  threshold: 5,
  field: '',
  market: 'mktd',
  region: '',
  key: '',
  series: '',
  channel: 'webhook',
  enabled: true,
  created_at: time,
  updated_at: time,
};
const fields = { name: 'Cheaper', condition: 'price_falls_by', threshold: 5, market: 'mktd' };
const invalid = (title: string, body: object, name: string, type: string): Case => ({
  title,
  body,
  status: 422,
  problems: [[['body', name], type]],
});
const invalidRules = [
  invalid('no threshold', { condition: 'price_below' }, 'threshold', 'missing'),
  invalid(
    'a threshold of 0',
    { condition: 'price_below', threshold: 0 },
    'threshold',
    'value_error',
  ),
  invalid('a fall by more than 100 %', { ...fields, threshold: 200 }, 'threshold', 'value_error'),
  invalid(
    'a threshold without use',
    { condition: 'out_of_stock', threshold: 1 },
    'threshold',
    'value_error',
  ),
  invalid('no field', { condition: 'changes' }, 'field', 'missing'),
  invalid('an unknown field', { condition: 'changes', field: 'colour' }, 'field', 'enum'),
  invalid('an unknown condition', { ...fields, condition: 'cheap' }, 'condition', 'enum'),
  invalid('no condition', { name: 'x' }, 'condition', 'missing'),
];

/** Creates an endpoint for a tracked job. The first case is a job that is compared. */
function ofJob(end: string, method: DescMethod, cases: readonly [Case, ...Case[]]): Endpoint {
  const path = `/v1/jobs/{job_id}/changes${end}`;
  return { verb: 'GET', path, method, names: { param: 'job_id', id: 'uuid' }, cases };
}

/** Creates an endpoint for a rule. */
function ofRule(verb: Verb, method: DescMethod, cases: readonly [Case, ...Case[]]): Endpoint {
  return {
    verb,
    verbs: ['GET', 'PUT', 'DELETE'],
    path: '/v1/rules/{rule_id}',
    method,
    // Cases of ids have no body.
    ...(verb === 'PUT' ? {} : { names: { param: 'rule_id', id: 'uuid' } as const }),
    cases,
  };
}

const tracked = { params: { job_id: '{tracked}' } } as const;
const untracked = {
  title: 'a job that is not tracked',
  params: { job_id: '{untracked}' },
  status: 404,
  response: errorResponse,
} as const;

/** Histories, changes, and rules: 10 endpoints. */
export const histories: Marketplace = {
  name: 'history and changes',
  jobs: {
    tracked: {
      submit,
      body: { items: [{ product_id: key, country: 'th' }] },
      options: { track: 'nightly' },
      ends: true,
    },
    untracked: { submit, body: { items: [{ product_id: key, country: 'th' }] }, ends: true },
  },
  endpoints: [
    {
      verb: 'GET',
      path: '/v1/history',
      method: rpc.listTrackedItems,
      cases: [
        { title: 'every item', status: 200, response: { items: [item], ...noPage } },
        {
          title: 'an item of a series, by its id',
          params: { series: 'nightly', search: key, market: 'mktd', region: 'th' },
          status: 200,
          response: { items: [item], ...noPage },
        },
        {
          title: 'no item',
          params: { region: '-' },
          status: 200,
          response: { items: [], ...noPage },
        },
        ...pageCases,
      ],
    },
    {
      verb: 'GET',
      path: '/v1/history/{market}/{region}/{key}',
      method: rpc.getHistory,
      cases: [
        {
          title: 'the history of an item',
          params: place,
          status: 200,
          response: { item, observations: [observation], ...noPage },
        },
        {
          title: 'a period before it',
          params: { ...place, to: '2020-01-01T00:00:00Z' },
          status: 200,
          response: { item, observations: [], ...noPage },
        },
        {
          title: 'an unknown item',
          params: { ...place, key: '7' },
          status: 404,
          response: errorResponse,
        },
        {
          title: 'a field that is not tracked',
          params: { ...place, fields: 'colour' },
          status: 422,
          problems: [[['query', 'fields', 0], 'enum']],
          restOnly: true,
        },
        ...createPageCases(place),
      ],
    },
    ofJob('', rpc.listChanges, [
      {
        title: 'the changes of a job',
        ...tracked,
        status: 200,
        response: {
          job_id: uuid,
          series: 'nightly',
          status: 'done',
          counts: { new: 1, changed: 0, missing: 0, back: 0, unchanged: 0 },
          messages: 0,
          changes: [change],
          ...noPage,
        },
      },
      untracked,
      refusedQuery('type', 'other', 'enum', { params: tracked.params }),
      ...createPageCases(tracked.params),
    ]),
    ofJob('/download', rpc.streamChanges, [
      {
        title: 'the changes as JSON Lines',
        ...tracked,
        status: 200,
        type: 'application/x-ndjson',
        response: having({ type: 'new', market: 'mktd', region: 'th', key, before: {} }),
      },
      {
        title: 'the changes as CSV',
        params: { ...tracked.params, format: 'csv' },
        status: 200,
        type: 'text/csv; charset=utf-8',
        restOnly: true,
      },
      untracked,
      refusedQuery('format', 'xlsx', 'enum', { params: tracked.params }),
    ]),
    {
      verb: 'GET',
      path: '/v1/changes',
      method: rpc.readChangeFeed,
      cases: [
        {
          title: 'the oldest change',
          params: { limit: '1' },
          status: 200,
          response: { changes: [change], next_cursor: cursor, has_more: boolean },
        },
        {
          title: 'changes of a series without any',
          params: { series: 'weekly', market: 'mktd', type: 'back' },
          status: 200,
          response: { changes: [], next_cursor: cursor, has_more: false },
        },
        {
          title: 'a cursor in the future',
          params: { after: '9999999999999-Lw' },
          status: 200,
          response: { changes: [], next_cursor: '9999999999999-Lw', has_more: false },
        },
        {
          title: 'a cursor older than the retention',
          params: { after: '1600000000000-Lw' },
          status: 410,
          response: errorResponse,
        },
        refusedQuery('limit', '-1', 'greater_than_equal'),
        refusedQuery('limit', '1001', 'less_than_equal'),
        refusedQuery('limit', 'ten', 'int_parsing', { restOnly: true }),
        refusedQuery('type', 'other', 'enum'),
        ...invalidTokens.map((token) => refusedQuery('after', token, 'string_pattern_mismatch')),
      ],
    },
    {
      verb: 'GET',
      path: '/v1/rules',
      verbs: ['GET', 'POST'],
      method: rpc.listRules,
      cases: [
        {
          title: 'the rules of a user without any',
          caller: 'poor',
          status: 200,
          response: { rules: [] },
        },
      ],
    },
    {
      verb: 'POST',
      path: '/v1/rules',
      verbs: ['GET', 'POST'],
      method: rpc.createRule,
      cases: [{ title: 'a rule', body: fields, status: 200, response: rule }, ...invalidRules],
    },
    ofRule('GET', rpc.getRule, [
      {
        title: 'a rule',
        params: { rule_id: '{rule}' },
        status: 200,
        response: having({ rule_id: uuid }),
      },
    ]),
    ofRule('PUT', rpc.updateRule, [
      { title: 'a rule', params: { rule_id: '{rule}' }, body: fields, status: 200, response: rule },
      ...invalidRules.map((row) => ({ ...row, params: { rule_id: '{rule}' } })),
    ]),
    ofRule('DELETE', rpc.deleteRule, [
      {
        title: 'a rule that does not exist',
        params: { rule_id: '00000000-0000-4000-8000-000000000001' },
        status: 404,
        response: errorResponse,
      },
    ]),
  ],
};

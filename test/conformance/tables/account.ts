import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { having, like, matching, positive, text, uuid } from '../matchers.ts';
import { pageCases, refusedQuery } from '../pages.ts';
import type { Case, Marketplace } from '../table.ts';

const rpc = AccountService.method;
const time = like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/, 'time');

/** The only ledger entry of the caller `poor`. */
const grant = {
  key: like(/^grant:/, 'key of a grant'),
  amount: 3,
  type: 'grant',
  job_id: '',
  note: 'test',
  created_at: time,
};
const days = (name: string, fits: (days: { granted: number }[]) => boolean) =>
  matching(name, (value) => Array.isArray(value) && fits(value));
const refusedName = (title: string, name: unknown, type: string, restOnly = false): Case => ({
  title,
  body: { name },
  status: 422,
  problems: [[['body', 'name'], type]],
  restOnly,
});

/** The caller's account: 8 endpoints. */
export const account: Marketplace = {
  name: 'the account',
  jobs: {},
  endpoints: [
    {
      verb: 'GET',
      path: '/v1/account',
      method: rpc.getAccount,
      cases: [
        {
          title: 'the account',
          status: 200,
          response: {
            account: {
              id: uuid,
              name: 'Test',
              email: 'test@example.test',
              balance: positive,
              created_at: time,
              suspended: false,
              mode: 'live',
              live_account_id: '',
            },
          },
        },
      ],
    },
    {
      verb: 'GET',
      path: '/v1/account/ledger',
      method: rpc.listLedgerEntries,
      cases: [
        {
          title: 'every entry',
          caller: 'poor',
          status: 200,
          response: { entries: [{ ...grant, user_id: '' }], next_page_token: '' },
        },
        {
          title: 'the newest entry',
          params: { page_size: '1' },
          status: 200,
          response: { entries: [having({ key: text, job_id: uuid })], next_page_token: text },
        },
        ...pageCases,
      ],
    },
    {
      verb: 'GET',
      path: '/v1/account/ledger/export',
      method: rpc.exportLedger,
      cases: [
        {
          title: 'JSON Lines',
          caller: 'poor',
          params: { format: 'jsonl' },
          status: 200,
          type: 'application/x-ndjson',
          response: grant,
        },
        {
          title: 'CSV by default',
          caller: 'poor',
          status: 200,
          type: 'text/csv; charset=utf-8',
          restOnly: true,
        },
        refusedQuery('format', 'xlsx', 'enum'),
      ],
    },
    {
      verb: 'GET',
      path: '/v1/account/export',
      method: rpc.exportAccount,
      cases: [
        {
          title: 'everything of the account',
          status: 200,
          type: 'application/x-ndjson',
          restOnly: true,
        },
      ],
    },
    {
      verb: 'GET',
      path: '/v1/account/usage',
      method: rpc.getUsage,
      cases: [
        {
          title: 'two days',
          caller: 'poor',
          params: { days: '2' },
          status: 200,
          response: {
            days: days('two days with a grant', ([one, two, ...more]) => {
              return one!.granted + two!.granted === 3 && more.length === 0;
            }),
          },
        },
        {
          title: '30 days by default',
          status: 200,
          response: { days: days('thirty days', ({ length }) => length === 30) },
        },
        refusedQuery('days', '367', 'less_than_equal'),
        refusedQuery('days', '-1', 'greater_than_equal'),
        refusedQuery('days', 'all', 'int_parsing', { restOnly: true }),
      ],
    },
    {
      verb: 'GET',
      path: '/v1/account/keys',
      verbs: ['POST', 'GET'],
      method: rpc.listApiKeys,
      cases: [
        {
          title: 'every key',
          caller: 'poor',
          status: 200,
          response: {
            keys: [
              having({
                key_id: uuid,
                name: 'test',
                prefix: like(/^gl_.{4}$/),
                created_at: time,
                scopes: ['read', 'submit'],
              }),
            ],
          },
        },
      ],
    },
    {
      verb: 'POST',
      path: '/v1/account/keys',
      verbs: ['POST', 'GET'],
      method: rpc.createApiKey,
      cases: [
        {
          title: 'a second key',
          body: { name: 'laptop', expires_at: '2999-01-01T00:00:00Z' },
          status: 200,
          response: { key_id: uuid, api_key: like(/^gl_[\w-]{43}$/, 'key') },
        },
        {
          title: 'a key with a scope and a ceiling',
          body: { name: 'limited', scopes: ['read'], credit_ceiling: 50 },
          status: 200,
          response: { key_id: uuid, api_key: like(/^gl_[\w-]{43}$/, 'key') },
        },
        {
          title: 'a test key',
          body: { name: 'ci', mode: 'test' },
          status: 200,
          response: { key_id: uuid, api_key: like(/^gl_test_[\w-]{43}$/, 'key') },
        },
        {
          title: 'an unknown mode',
          body: { name: 'x', mode: 'sandbox' },
          status: 422,
          problems: [[['body', 'mode'], 'enum']],
        },
        {
          title: 'an unknown scope',
          body: { name: 'x', scopes: ['read', 'write'] },
          status: 422,
          problems: [[['body', 'scopes', 1], 'enum']],
        },
        {
          title: 'a negative ceiling',
          body: { name: 'x', credit_ceiling: -1 },
          status: 422,
          problems: [[['body', 'credit_ceiling'], 'greater_than_equal']],
        },
        {
          title: 'with a key that has a ceiling',
          body: { name: 'x' },
          caller: 'limited',
          status: 403,
          response: {
            detail: 'A key with a credit ceiling cannot create keys.',
            code: 'forbidden',
            request_id: text,
          },
        },
        {
          title: 'without a name',
          body: {},
          status: 422,
          problems: [[['body', 'name'], 'missing']],
          restOnly: true,
        },
        {
          title: 'a name of maximum length, of characters outside the BMP',
          body: { name: '😀'.repeat(200) },
          status: 200,
        },
        refusedName('a name that is too long', 'x'.repeat(201), 'string_too_long'),
        refusedName('an empty name', '', 'string_too_short', true),
        refusedName('null as the name', null, 'string_type', true),
        refusedName('a number as the name', 17, 'string_type', true),
        {
          title: 'no body',
          raw: { type: 'application/json', bytes: '' },
          status: 422,
          problems: [[['body'], 'missing']],
          restOnly: true,
        },
        {
          title: 'an expiry in the past',
          body: { name: 'laptop', expires_at: '2020-01-01T00:00:00Z' },
          status: 422,
          problems: [[['body', 'expires_at'], 'value_error']],
        },
        {
          title: 'an expiry that is not a timestamp',
          body: { name: 'laptop', expires_at: 'tomorrow' },
          status: 422,
          problems: [[['body', 'expires_at'], 'datetime_from_date_parsing']],
          restOnly: true,
        },
      ],
    },
    {
      verb: 'DELETE',
      path: '/v1/account/keys/{key_id}',
      method: rpc.revokeApiKey,
      names: { param: 'key_id', id: 'uuid' },
      cases: [
        {
          title: 'a key of the caller, also if it is already revoked',
          params: { key_id: '{spare key}' },
          status: 200,
          response: {
            key: {
              key_id: '{spare key}',
              name: 'spare',
              prefix: like(/^gl_.{4}$/),
              created_at: time,
              revoked_at: time,
              scopes: ['read', 'submit'],
              credits_spent: 0,
              operator_role: '',
              mode: 'live',
            },
          },
        },
      ],
    },
  ],
};

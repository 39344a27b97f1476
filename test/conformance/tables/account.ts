import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { having, like, matching, positive, uuid } from '../matchers.ts';
import type { Marketplace } from '../table.ts';

const rpc = AccountService.method;
const time = like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/, 'time');

/** The only entry of the caller `poor`. */
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
const refused = (title: string, params: Record<string, string>, type: string) => ({
  title,
  params,
  status: 422,
  problems: [[['query', Object.keys(params)[0]!], type]] as const,
});

/** The caller's own account: 7 endpoints. */
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
          answer: {
            account: {
              id: uuid,
              name: 'Test',
              email: 'test@example.test',
              balance: positive,
              created_at: time,
              suspended: false,
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
          answer: { entries: [{ ...grant, user_id: '' }], next_page_token: '' },
        },
        refused('more entries than a page holds', { page_size: '1001' }, 'less_than_equal'),
        refused('a token that no page gave', { page_token: 'bm90IGEgdG9rZW4' }, 'value_error'),
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
          answer: grant,
        },
        refused('another format', { format: 'xlsx' }, 'enum'),
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
          answer: {
            days: days('two days with a grant', ([one, two, ...more]) => {
              return one!.granted + two!.granted === 3 && more.length === 0;
            }),
          },
        },
        {
          title: 'thirty days where nothing is said',
          status: 200,
          answer: { days: days('thirty days', ({ length }) => length === 30) },
        },
        refused('more than a year', { days: '367' }, 'less_than_equal'),
        refused('days before today', { days: '-1' }, 'greater_than_equal'),
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
          answer: {
            keys: [having({ key_id: uuid, name: 'test', prefix: like(/^gl_.{4}$/), created_at: time })],
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
          title: 'a further key',
          body: { name: 'laptop', expires_at: '2999-01-01T00:00:00Z' },
          status: 200,
          answer: { key_id: uuid, api_key: like(/^gl_[\w-]{43}$/, 'key') },
        },
        {
          title: 'without a name',
          body: {},
          status: 422,
          problems: [[['body', 'name'], 'missing']],
          restOnly: true,
        },
        {
          title: 'a name that is too long',
          body: { name: 'x'.repeat(201) },
          status: 422,
          problems: [[['body', 'name'], 'string_too_long']],
        },
        {
          title: 'an end that is no time',
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
          title: 'a key of the caller, as often as it is revoked',
          params: { key_id: '{spare key}' },
          status: 200,
          answer: {
            key: {
              key_id: '{spare key}',
              name: 'spare',
              prefix: like(/^gl_.{4}$/),
              created_at: time,
              revoked_at: time,
            },
          },
        },
      ],
    },
  ],
};

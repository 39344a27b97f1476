import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type ConnectRouter, createConnectRouter } from '@connectrpc/connect';
import { createFetchHandler } from '@connectrpc/connect/protocol';
import { describe, expect, test } from 'vitest';
import { createGleanerClient } from '../../clients/typescript/index.ts';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { type Job, JobSchema, JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import {
  type CallOutcome,
  type ChaosSubmit,
  type ChaosUser,
  createProblems,
  type KnownJob,
  type Problems,
} from './account.ts';
import { checkCredits } from './check-credits.ts';
import { expectHistory } from './check-history.ts';
import { checkResults } from './check-results.ts';
import { createServedLog } from './served.ts';
import { works } from './works.ts';

const jobId = '6b0cbe2e-7a8e-4f0c-9d3f-0a4a6f1a0001';
const otherId = '6b0cbe2e-7a8e-4f0c-9d3f-0a4a6f1a0002';
const pages = works.find(({ name }) => name === 'pdp_bulk')!;

/** Creates a client of a service with the given methods. */
function clientOf(routes: (router: ConnectRouter) => void) {
  const router = createConnectRouter();
  routes(router);
  const handlers = new Map(
    router.handlers.map((handler) => [handler.requestPath, createFetchHandler(handler)]),
  );
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    const handler = handlers.get(new URL(request.url).pathname);
    return handler ? handler(request) : Response.json({ detail: 'not found' }, { status: 404 });
  };
  return createGleanerClient({ url: 'http://gleaner.test', apiKey: 'gl_1', maxAttempts: 1, fetch });
}

const categoriesOf = (problems: Problems) => problems.list().map((text) => text.split(':')[0]!);

type JobChanges = MessageInitShape<typeof JobSchema>;

function jobOf(changes: JobChanges = {}): Job {
  const counts = {
    total: 2,
    success: 1,
    failed: 1,
    cost: 10,
    refunded: 5,
    status: 'partial_complete',
  };
  return create(JobSchema, { jobId, ended: true, ...counts, ...(changes as object) });
}

interface Case {
  balance?: number;
  entries?: [key: string, amount: number, job: string][];
  outcomes?: CallOutcome[];
  isAcknowledged?: boolean;
  job?: JobChanges;
}

const paid: [string, number, string][] = [
  [`refund:${jobId}`, 5, jobId],
  [`charge:${jobId}`, -10, jobId],
  ['grant:1', 100, ''],
];

/** Returns the problems of an account with a job of two units at 5 credits, one of which failed. */
async function creditProblems({ balance = 95, entries = paid, ...known }: Case): Promise<string[]> {
  const client = clientOf((router) =>
    router.service(AccountService, {
      getAccount: () => ({ account: { id: 'u', balance: BigInt(balance) } }),
      listLedgerEntries: () => ({
        entries: entries.map(([key, amount, jobId]) => ({
          key,
          amount: BigInt(amount),
          jobId,
          type: key.split(':')[0]!,
        })),
      }),
    }),
  );
  const user: ChaosUser = { id: 'u', granted: 100, client };
  const submission: ChaosSubmit = {
    work: pages,
    user,
    subjects: ['1', '2'],
    isKeyed: false,
    outcomes: known.outcomes ?? ['accepted'],
  };
  const job: KnownJob = {
    jobId,
    submission,
    subjects: submission.subjects,
    isAcknowledged: known.isAcknowledged ?? true,
    retries: [],
    retryOf: null,
    job: jobOf(known.job),
  };
  const problems = createProblems(() => {});
  const books = { users: [user], submissions: [submission], jobs: new Map([[jobId, job]]) };
  await checkCredits(books, user, client, problems);
  return categoriesOf(problems);
}

describe('checkCredits()', () => {
  test('accepts a job that was charged once and refunded for its failed unit', async () => {
    expect(await creditProblems({})).toEqual([]);
  });

  test('accepts a charge for a submission without a reply', async () => {
    expect(await creditProblems({ isAcknowledged: false, outcomes: ['unanswered'] })).toEqual([]);
  });

  test('accepts a refused submit that was charged and refunded in full', async () => {
    const entries: Case['entries'] = [[`refund:${jobId}`, 10, jobId], ...paid.slice(1)];
    const job = { status: 'failed', success: 0, failed: 2, refunded: 10 };
    const refused: Case = { isAcknowledged: false, outcomes: ['refused'] };
    expect(await creditProblems({ ...refused, entries, balance: 100, job })).toEqual([]);
  });

  test.each<[string, Case, string[]]>([
    [
      'a charge for a submit that returned an error',
      { isAcknowledged: false, outcomes: ['refused'] },
      ['mischarged'],
    ],
    ['a balance that is not the sum of the ledger', { balance: 94 }, ['mischarged', 'mischarged']],
    ['a missing refund', { entries: paid.slice(1), balance: 90 }, ['mischarged', 'mischarged']],
    [
      'a second charge',
      { entries: [['charge:x', -10, jobId], ...paid], balance: 85 },
      ['mischarged', 'duplicated', 'mischarged'],
    ],
    [
      'a charge for a job that no client knows',
      { entries: [['charge:x', -10, otherId], ...paid], balance: 85 },
      ['mischarged'],
    ],
    [
      'a duplicate ledger entry',
      { entries: [paid[0]!, ...paid], balance: 100 },
      ['duplicated', 'mischarged', 'mischarged'],
    ],
    ['a cost above the price of its units', { job: { cost: 20 } }, ['mischarged', 'mischarged']],
  ])('reports %s', async (_, changes, categories) => {
    expect(await creditProblems(changes)).toEqual(categories);
  });
});

/** Returns the problems of a job of three items, the second of which failed. */
async function resultProblems(
  keys: readonly string[],
  { records = ['1', '3'], title = 'Lamp 1', success = 2, code = '', poison = '' } = {},
): Promise<string[]> {
  const input = (id: string) => ({ product_id: id, country: 'th' });
  const client = clientOf((router) =>
    router.service(JobService, {
      listUnits: () => ({
        units: keys.map((id, index) => ({
          index,
          key: id,
          input: JSON.stringify(input(id)),
          status: id === '2' ? 'FAILED' : 'SUCCESS',
          code: id === '2' ? code : '',
        })),
      }),
      async *streamResults() {
        for (const id of records) {
          const record = { product: { title: id === '1' ? title : `Lamp ${id}` } };
          yield { data: Buffer.from(`${JSON.stringify({ input: input(id), record })}\n`) };
        }
      },
      listFiles: () => ({ files: [] }),
    }),
  );
  const served = createServedLog();
  const origin = served.record(
    {
      market: 'x',
      regions: [''],
      subject: ({ body }) => body,
      respond: ({ body }) => ({ status: 200, headers: {}, body: `Lamp ${body}` }),
    },
    (body) => [body],
  );
  for (const body of ['1', '2', '3'])
    origin.respond({ method: 'GET', url: new URL('http://x.test'), headers: {}, body, region: '' });
  const user: ChaosUser = { id: 'u', granted: 0, client };
  // A single product page has no file.
  const work = { ...pages, file: 'none' as const, poison };
  const subjects = ['1', '2', '3'];
  const submission: ChaosSubmit = { work, user, subjects, isKeyed: true, outcomes: ['accepted'] };
  const job = jobOf({ total: 3, success, failed: 3 - success });
  const problems = createProblems(() => {});
  const known = {
    jobId,
    submission,
    subjects,
    isAcknowledged: true,
    retries: [],
    retryOf: null,
    job,
  };
  await checkResults({ client, served, problems, failures: new Map() }, known);
  return categoriesOf(problems);
}

describe('checkResults()', () => {
  test('accepts each item once, in order, with the record that the origin served', async () => {
    expect(await resultProblems(['1', '2', '3'])).toEqual([]);
  });

  test('accepts an abandoned unit whose page is poisonous', async () => {
    expect(await resultProblems(['1', '2', '3'], { code: 'work_abandoned', poison: '2' })).toEqual(
      [],
    );
  });

  test.each<[string, readonly string[], Parameters<typeof resultProblems>[1], string[]]>([
    ['a missing unit', ['1', '3'], {}, ['lost']],
    [
      'a duplicate unit',
      ['1', '2', '3', '3'],
      { records: ['1', '3', '3'], success: 3 },
      ['duplicated', 'duplicated'],
    ],
    ['units in another order', ['2', '1', '3'], {}, ['other']],
    ['a missing record', ['1', '2', '3'], { records: ['1'] }, ['lost']],
    ['a record of another page', ['1', '2', '3'], { title: 'Lamp 3' }, ['other']],
    ['counts that differ from the units', ['1', '2', '3'], { success: 3 }, ['other']],
    [
      'an abandoned unit whose page is not poisonous',
      ['1', '2', '3'],
      { code: 'work_abandoned' },
      ['lost'],
    ],
    ['a poisonous page whose unit succeeded', ['1', '2', '3'], { poison: '3' }, ['other']],
  ])('reports %s', async (_, keys, changes, categories) => {
    expect(await resultProblems(keys, changes)).toEqual(categories);
  });
});

describe('expectHistory()', () => {
  const found = { status: 'SUCCESS', code: '' };
  const gone = { status: 'FAILED', code: 'page_not_found' };
  const failed = { status: 'FAILED', code: 'not_queued' };
  const first = { run: 0, factor: 1 };

  test.each([
    [
      'falls',
      [found, found, found],
      [1, 0.9, 0.97],
      true,
      {
        changes: ['new', 'changed', 'changed'],
        observations: [first, { run: 1, factor: 0.9 }, { run: 2, factor: 0.97 }],
        messages: [1],
      },
    ],
    [
      'is missing once',
      [found, gone, found],
      [1, null, 1],
      true,
      { changes: ['new', 'missing', 'back'], observations: [first], messages: [] },
    ],
    [
      'has no price',
      [found, found, found],
      [1, 0.9, 0.97],
      false,
      { changes: ['new', null, null], observations: [first], messages: [] },
    ],
    [
      'is not read once',
      [found, failed, found],
      [1, 0.9, 0.97],
      true,
      {
        changes: ['new', null, 'changed'],
        observations: [first, { run: 2, factor: 0.97 }],
        messages: [],
      },
    ],
  ])('returns the history of an item that %s', (_, outcomes, factors, hasPrice, expected) => {
    expect(expectHistory(outcomes, factors, hasPrice, 5)).toEqual(expected);
  });
});

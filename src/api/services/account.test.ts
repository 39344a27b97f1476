import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { parse } from 'csv-parse/sync';
import { beforeEach, expect, test } from 'vitest';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { PriceService } from '../../../gen/gleaner/price/v1/price_pb.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { type CoreCaller, openCore, type TestCore } from '../../../test/support/rpc/core.ts';
import { newId } from '../../base/id.ts';
import type { LedgerEntry } from '../../store/documents.ts';
import { replaceMethods } from '../../store/wrap.ts';

const { getAccount, getUsage, exportLedger, listApiKeys, createApiKey } = AccountService.method;
const dayMs = 86_400_000;

let fixture: JobFixture;
let core: TestCore;
let userId: string;
let user: CoreCaller;
beforeEach(async () => {
  fixture = await openJobFixture();
  core = await openCore(fixture.context);
  userId = await fixture.createUser(0);
  user = (await core.createKey(userId)).caller;
  return () => fixture.close();
});

/** Posts an entry of the user. */
async function post(amount: number, fields: Partial<LedgerEntry> = {}): Promise<LedgerEntry> {
  const entry: LedgerEntry = {
    key: `grant:${newId()}`,
    userId,
    amount,
    type: 'grant',
    jobId: null,
    keyId: null,
    note: '',
    createdAt: fixture.clock.now(),
    ...fields,
  };
  await fixture.context.store.ledger.post(entry);
  return entry;
}

const charge = (amount: number, createdAt: number) => {
  const jobId = newId();
  return post(-amount, { key: `charge:${jobId}`, type: 'charge', jobId, createdAt });
};

const textOf = (parts: { data: Uint8Array }[]) =>
  Buffer.concat(parts.map(({ data }) => data)).toString();

test('the price list has the price that a submission costs', async () => {
  const { prices } = await user.call(PriceService.method.getPriceList, {});
  await post(100);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(1));
  const price = prices.find(({ market, kind }) => market === 'mkta' && kind === 'variant_sold');
  expect(price?.unitPrice).toBe((await fixture.context.store.jobs.get(jobId))?.cost);
});

test('createApiKey accepts an expiry in the future, or none', async () => {
  const now = fixture.clock.now();
  for (const ms of [now, now - 1, 0, -1e15, 8e15, 9e17]) {
    const expiresAt = timestampFromMs(ms);
    await expect(
      user.call(createApiKey, { name: 'x', expiresAt }),
      String(ms),
    ).rejects.toMatchObject({
      code: 'invalid',
      problems: [{ loc: ['body', 'expires_at'], type: 'value_error' }],
    });
  }
  await user.call(createApiKey, { name: 'short', expiresAt: timestampFromMs(now + 1) });
  const { keys } = await user.call(listApiKeys, {});
  expect(keys.map(({ name }) => name).toSorted()).toEqual(['key', 'short']);
});

test('getUsage returns every day, with charges and refunds apart', async () => {
  const today = Math.floor(fixture.clock.now() / dayMs) * dayMs;
  await post(1_000, { createdAt: today - 31 * dayMs });
  await post(70, { createdAt: today - 29 * dayMs });
  await charge(30, today - dayMs - 1);
  await charge(12, today - dayMs);
  await charge(8, today - 1);
  await post(5, { type: 'refund', key: `refund:${newId()}`, createdAt: today });
  const { days } = await user.call(getUsage, {});
  expect(days).toHaveLength(30);
  expect(days.map(({ day }) => day)).toEqual(days.map(({ day }) => day).toSorted());
  const shown = days.map(({ day, charged, refunded, granted, jobs }) => [
    day,
    charged,
    refunded,
    granted,
    jobs,
  ]);
  expect(shown[0]).toEqual(['2029-12-09', 0n, 0n, 70n, 0]);
  expect(shown.slice(-4)).toEqual([
    ['2030-01-04', 0n, 0n, 0n, 0],
    ['2030-01-05', 30n, 0n, 0n, 1],
    ['2030-01-06', 20n, 0n, 0n, 2],
    ['2030-01-07', 0n, 5n, 0n, 0],
  ]);
  expect((await user.call(getUsage, { days: 1 })).days.map(({ day }) => day)).toEqual([
    '2030-01-07',
  ]);
  await expect(user.call(getUsage, { days: 367 })).rejects.toMatchObject({ code: 'invalid' });
});

test('exportLedger returns CSV without formulas', async () => {
  const note = 'for "Ω", with\r\nlove; 1,000';
  const plain = await post(500, { note, createdAt: fixture.clock.now() - 1 });
  const paid = await charge(20, fixture.clock.now());
  const evil = await post(1, {
    note: '=HYPERLINK("http://evil.example")',
    createdAt: fixture.clock.now() + 1,
  });
  const parts = await user.stream(exportLedger, {});
  expect(parts[0]?.contentType).toMatch(/^text\/csv/);
  const text = textOf(parts);
  expect(text.split('\r\n')[0]).toBe('key,amount,type,job_id,note,created_at');
  const rows = parse(text, { columns: true, record_delimiter: '\r\n' });
  expect(rows).toEqual([{ ...row(evil), note: `'${evil.note}` }, row(paid), row(plain)]);
  expect(rows[1]).toMatchObject({ amount: '-20', job_id: paid.jobId });
});

const row = ({ key, amount, type, jobId, note, createdAt }: LedgerEntry) => ({
  key,
  amount: String(amount),
  type,
  job_id: jobId ?? '',
  note,
  created_at: new Date(createdAt).toISOString(),
});

test('exportLedger returns JSON Lines and reads one page at a time', async () => {
  const begin = fixture.clock.now();
  for (let turn = 0; turn < 1_100; turn++)
    await post(turn + 1, { createdAt: begin + turn, note: '=1' });
  const other = await fixture.createUser(5);
  const limits: number[] = [];
  const { store } = fixture.context;
  const list: typeof store.ledger.list = (whose, page) => {
    limits.push(page.limit);
    return store.ledger.list(whose, page);
  };
  const watched = await openCore({
    ...fixture.context,
    store: replaceMethods(store, { ledger: { list } }),
  });
  const parts = await (await watched.createKey(userId)).caller.stream(exportLedger, {
    format: 'jsonl',
  });
  expect(limits).toEqual([500, 500, 500]);
  expect(parts.map(({ contentType }) => contentType)).toEqual(['application/x-ndjson', '', '', '']);
  const lines = textOf(parts)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ amount }) => amount)).toEqual(
    Array.from({ length: 1_100 }, (_, turn) => 1_100 - turn),
  );
  expect(lines[0]).toMatchObject({ type: 'grant', note: '=1', job_id: '' });
  const theirs = textOf(
    await (await core.createKey(other)).caller.stream(exportLedger, { format: 'jsonl' }),
  );
  expect(theirs.split('\n')).toHaveLength(2);
});

test('exportLedger of an empty ledger returns the CSV header, or no JSON line', async () => {
  expect(textOf(await user.stream(exportLedger, { format: 'csv' }))).toBe(
    'key,amount,type,job_id,note,created_at\r\n',
  );
  const [only, ...more] = await user.stream(exportLedger, { format: 'jsonl' });
  expect([only?.data.length, more.length]).toEqual([0, 0]);
  await expect(user.stream(exportLedger, { format: 'xlsx' })).rejects.toMatchObject({
    code: 'invalid',
  });
});

test('listApiKeys returns the last use of each key', async () => {
  const begin = fixture.clock.now();
  const spare = await core.createKey(userId);
  await fixture.clock.advance(61_000);
  await user.call(getAccount, {});
  await fixture.eventually('the use is kept', async () => {
    const { keys } = await user.call(listApiKeys, {});
    const used = keys.filter(({ lastUsedAt }) => lastUsedAt);
    return used.length === 1 && timestampMs(used[0]!.lastUsedAt!) === begin + 61_000;
  });
  const { keys } = await user.call(listApiKeys, {});
  expect(keys.find(({ keyId }) => keyId === spare.keyId)?.lastUsedAt).toBeUndefined();
});

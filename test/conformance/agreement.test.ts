import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Step } from '../../gen/gleaner/options/v1/options_pb.ts';
import { services } from '../../src/contract/services.ts';
import { resolveJobTypes } from '../../src/jobs/job-types.ts';
import { kinds } from '../../src/kinds/list.ts';
import { markets } from '../../src/markets/list.ts';
import { until } from '../support/time/until.ts';
import { type RestResponse, referenceForm, sendRest } from './rest.ts';
import { openStage, type Stage } from './stage.ts';
import type { CallerName, Request } from './table.ts';
import { tables } from './tables/list.ts';

// Consistency between endpoints, checked for every job that the tables prepare.
// biome-ignore lint/suspicious/noExplicitAny: responses of every shape.
type AnyJson = any;

let stage: Stage;
/** Jobs of the caller `user`, newest first. */
let jobs: AnyJson[];
let ledger: AnyJson[];

beforeAll(async () => {
  stage = await openStage(tables);
  await until(
    'every approved job has ended',
    async () => {
      jobs = await listed('/v1/jobs', 'jobs', 7);
      return (
        jobs.every(({ ended, status }) => ended || status === 'awaiting_approval') || undefined
      );
    },
    { withinMs: 30_000 },
  );
  ledger = await listed('/v1/account/ledger', 'entries', 5);
});

afterAll(() => stage?.close());

const send = (verb: string, path: string, request: Request = {}) =>
  sendRest(stage, verb, path, request);

async function get(path: string, caller: CallerName = 'user'): Promise<AnyJson> {
  const response = await send('GET', path, { caller });
  expect(response.status, `${path}: ${response.text}`).toBe(200);
  return response.json();
}

/** Reads all pages of a list. */
async function listed(path: string, name: string, size: number): Promise<AnyJson[]> {
  const items: AnyJson[] = [];
  let token = '';
  do {
    const page = await get(`${path}?page_size=${size}&page_token=${token}`);
    expect(page[name].length).toBeLessThanOrEqual(size);
    items.push(...page[name]);
    token = page.next_page_token;
  } while (token !== '');
  return items;
}

async function linesAt(path: string): Promise<AnyJson[]> {
  const { status, text } = await send('GET', path);
  expect(status, path).toBe(200);
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

describe('the jobs', () => {
  test('are listed once each, newest first, for every kind on every marketplace', () => {
    const jobTypes = [...resolveJobTypes(services, kinds, markets).methods.values()];
    const offered = jobTypes.flatMap(({ step, jobType }) =>
      step === Step.SUBMIT ? [`${jobType!.market.name} ${jobType!.kind.name}`] : [],
    );
    expect(new Set(jobs.map(({ market, kind }) => `${market} ${kind}`))).toEqual(new Set(offered));
    const prepared = tables.flatMap((table) => Object.keys(table.jobs));
    const ids = new Set(jobs.flatMap(({ job_id, task_id }) => [job_id, String(task_id ?? job_id)]));
    for (const name of prepared) expect(ids, name).toContain(stage.fill(`{${name}}`));
    expect(jobs).toHaveLength(prepared.length);
    const times = jobs.map(({ created_at }) => Date.parse(created_at));
    expect(times).toEqual(times.toSorted((one, other) => other - one));
  });

  test('are available at both forms of their retrieve path, and listed as /v1/jobs/{id} returns them', async () => {
    for (const job of jobs) {
      expect(await get(`/v1/jobs/${job.job_id}`)).toEqual(job);
      for (const path of [job.retrieve_path, referenceForm(job.retrieve_path)])
        expect(await get(path)).toMatchObject(
          job.task_id === undefined ? { job_id: job.job_id } : { task_id: job.task_id },
        );
    }
  });

  test('have counts that match their results, failures, and units', async () => {
    for (const job of jobs) {
      const path = `/v1/jobs/${job.job_id}`;
      const [units, results, failures, { faults }] = await Promise.all([
        listed(`${path}/units`, 'units', 20),
        linesAt(`${path}/results`),
        linesAt(`${path}/failures`),
        get(`${path}/faults`),
      ]);
      const label = `${job.kind} ${job.market} ${job.status}`;
      const of = (status: string) => units.filter((unit) => unit.status === status);
      expect(
        units.map(({ index }) => index),
        label,
      ).toEqual(units.map((_, index) => index));
      expect([units.length, of('SUCCESS').length, of('FAILED').length], label).toEqual([
        job.total,
        job.success,
        job.failed,
      ]);
      const known = ({ index, batch_id, key, region, input }: AnyJson) => ({
        index,
        batch_id,
        key,
        region,
        input,
      });
      expect(results.map(known), label).toEqual(of('SUCCESS').map(known));
      expect(failures.map(known), label).toEqual(of('FAILED').map(known));
      expect(
        failures.map(({ code, message }) => [code, message]),
        label,
      ).toEqual(of('FAILED').map(({ code, message }) => [code, message]));
      expect(sum(faults.map((fault: AnyJson) => fault.units)), label).toBe(job.failed);
      const csv = (await send('GET', `${path}/failures?format=csv`)).text;
      expect(parse(csv, { columns: true }), label).toHaveLength(job.failed);
    }
  });

  test('cost what the ledger says, and each failure names its refund entry', async () => {
    const keys = new Set(ledger.map(({ key }) => key));
    for (const job of jobs) {
      const label = `${job.kind} ${job.market} ${job.status}`;
      const entries = ledger.filter(({ job_id }) => job_id === job.job_id);
      const amounts = (type: string) =>
        sum(entries.filter((entry) => entry.type === type).map(({ amount }) => amount));
      const charged = -amounts('charge');
      expect([0, job.cost], label).toContain(charged);
      expect(job.cost, label).toBe(job.total * job.unit_price);
      expect(amounts('refund'), label).toBe(job.refunded);
      const failures = await linesAt(`/v1/jobs/${job.job_id}/failures`);
      expect(sum(failures.map(({ credits }) => credits)), label).toBe(
        charged === 0 ? 0 : job.refunded,
      );
      for (const { refund_entry } of failures)
        if (charged === 0) expect(refund_entry, label).toBeNull();
        else expect(keys, label).toContain(refund_entry);
    }
  });
});

describe('the account', () => {
  test('has a balance and a usage that match the sum of its ledger', async () => {
    const { account } = await get('/v1/account');
    expect(account.balance).toBe(sum(ledger.map(({ amount }) => amount)));
    const { days } = await get('/v1/account/usage?days=2');
    const used = (name: string) => sum(days.map((day: AnyJson) => day[name]));
    const of = (type: string) => ledger.filter((entry) => entry.type === type);
    const amount = (type: string) => sum(of(type).map((entry) => entry.amount));
    expect({
      charged: used('charged'),
      refunded: used('refunded'),
      granted: used('granted'),
    }).toEqual({
      charged: -amount('charge'),
      refunded: amount('refund'),
      granted: amount('grant'),
    });
    expect(used('jobs')).toBe(of('charge').length);
  });

  test('exports the ledger as it is listed', async () => {
    const shown = ledger.map(({ user_id: _, ...entry }) => ({
      ...entry,
      created_at: new Date(entry.created_at).toISOString(),
    }));
    expect(await linesAt('/v1/account/ledger/export?format=jsonl')).toEqual(shown);
    const csv = (await send('GET', '/account/ledger/export')).text;
    expect(parse(csv, { columns: true })).toEqual(
      shown.map((entry) => ({ ...entry, amount: String(entry.amount) })),
    );
  });
});

test('a submission returns the location of its job and the credits remaining after the charge', async () => {
  const submits = tables.flatMap(({ endpoints }) =>
    endpoints.filter(({ path, verb }) => verb === 'POST' && path.endsWith('/submit')),
  );
  expect(submits.length).toBeGreaterThan(10);
  for (const { path, cases } of submits) {
    const { account: before } = await get('/v1/account', 'other');
    const { caller: _, ...request } = cases[0];
    const response = await send('POST', path, { ...request, caller: 'other' });
    expect(response.status, response.text).toBe(202);
    const {
      jobs: [job],
    } = await get('/v1/jobs?page_size=1', 'other');
    expect(response.headers.location).toBe(job.retrieve_path);
    const { entries } = await get('/v1/account/ledger?page_size=10', 'other');
    const charge = entries.find(({ key }: AnyJson) => key === `charge:${job.job_id}`)?.amount ?? 0;
    expect(charge, path).toBe(job.kind === 'variant_sold' ? 0 : -job.cost);
    expect(Number(response.headers['x-credits-remaining']), path).toBe(before.balance + charge);
    // A later refund would change the balance during the next iteration.
    if (job.status === 'awaiting_approval')
      await send('POST', `/v1/jobs/${job.job_id}/cancel`, { caller: 'other' });
    const ended = await get(`/v1/jobs/${job.job_id}?wait=30s`, 'other');
    expect(ended.ended, path).toBe(true);
    const after = await send('GET', '/v1/account', { caller: 'other' });
    expect(Number(after.headers['x-credits-remaining'])).toBe(after.json().account.balance);
    expect(after.json().account.balance, path).toBe(before.balance + charge + ended.refunded);
  }
});

test('retries the failed units of an ended job whose failure is not final, by one retry at a time', async () => {
  const final = [
    'page_not_found',
    'page_private',
    'page_region',
    'page_too_large',
    'robots_disallowed',
    'invalid',
  ];
  for (const job of jobs) {
    const path = `/v1/jobs/${job.job_id}`;
    const label = `${job.kind} ${job.market} ${job.status}`;
    const failures = await linesAt(`${path}/failures`);
    const retried = failures.filter(({ code }) => !final.includes(code));
    const { status, text, json, headers } = await send('POST', `${path}/retry`);
    expect(status, `${label}: ${text}`).toBe(job.ended && retried.length > 0 ? 202 : 409);
    if (status === 409) continue;
    const leftOut = failures.length - retried.length;
    expect(headers['x-gleaner-warning'] ?? '', label).toMatch(
      leftOut > 0 ? `of ${failures.length} failed` : /^$/,
    );
    const again = json();
    expect(again, label).toMatchObject({
      retry_of: job.job_id,
      kind: job.kind,
      market: job.market,
      total: retried.length,
      cost: retried.length * job.unit_price,
    });
    const inputs = (lines: AnyJson[]) =>
      lines.map(({ key, region, input }) => ({ key, region, input }));
    expect(inputs(await listed(`/v1/jobs/${again.job_id}/units`, 'units', 50)), label).toEqual(
      inputs(retried),
    );
    if (again.status === 'awaiting_approval') {
      expect((await send('POST', `${path}/retry`)).status, label).toBe(409);
      expect((await send('POST', `/v1/jobs/${again.job_id}/cancel`)).status, label).toBe(200);
    }
    expect((await get(`/v1/jobs/${again.job_id}?wait=30s`)).ended, label).toBe(true);
  }
});

test('the ETag of a job stays the same until the job changes, at every path that returns the job', async () => {
  const body = { country: 'sg', items: [{ item_id: '41000000001', shop_id: '7100' }] };
  const submitted = await send('POST', '/v1/mkta/variant_sold_v1/submit', { body });
  const { job_id: id } = submitted.json();
  const paths = [`/v1/jobs/${id}`, submitted.headers.location as string, '/v1/jobs?page_size=1'];
  const requestAll = (tag?: string | string[]) =>
    Promise.all(
      paths.map((path) =>
        send('GET', path, tag === undefined ? {} : { headers: { 'if-none-match': String(tag) } }),
      ),
    );
  const tagsOf = (responses: RestResponse[]) =>
    responses.map(({ headers }) => headers.etag as string);
  const tags = tagsOf(await requestAll());
  for (const tag of tags) expect(tag).toMatch(/^W\/"[\w-]+"$/);
  const known = await requestAll(tags.join(', '));
  expect(known.map(({ status, text }) => [status, text])).toEqual(paths.map(() => [304, '']));
  expect(tagsOf(known)).toEqual(tags);
  await send('POST', `/v1/jobs/${id}/cancel`);
  const changed = await requestAll(tags.join(', '));
  expect(changed.map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const [at, tag] of tagsOf(changed).entries()) expect(tag, paths[at]).not.toBe(tags[at]);
});

test('the audit finds no problem after all these calls', async () => {
  expect(await stage.deployment.audit()).toMatchObject({ code: 0, problems: [] });
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import type { TestUser } from '../support/service/api.ts';
import { runTracked, submitTracked, waitForChanges } from '../support/service/tracked-runs.ts';
import { openPlace, type Place } from './place.ts';
import { runCli } from './run.ts';

const [lamp, chair, table] = plainIds(3).map(String) as [string, string, string];

let place: Place;
let ann: TestUser;
/** A job that is not the first of its series: the lamp is cheaper, the chair is gone. */
let jobId: string;
beforeAll(async () => {
  place = await openPlace();
  const { api, origins } = place;
  ann = await api.createUser(10_000);
  await runTracked(api, ann, 'daily', [lamp, chair, table]);
  origins.changeItem('mkta', 'id', lamp, { priceFactor: 0.5 });
  origins.changeItem('mkta', 'id', chair, { isRemoved: true });
  jobId = await submitTracked(api, ann, 'daily', [lamp, chair, table]);
  await waitForChanges(api, ann, jobId);
});
afterAll(() => place?.close());

const user = (...parameters: string[]) =>
  runCli(place, parameters, { env: { GLEANER_API_KEY: ann.key } });

describe('gleaner job changes', () => {
  test('lists the changes of a job, and says how many items did not change', async () => {
    const { code, out, err } = await user('job', 'changes', jobId);
    expect(code).toBe(0);
    const [head, ...lines] = out.trimEnd().split('\n');
    expect(head).toMatch(/^CHANGE +MARKET +REGION +ITEM +TITLE +FIELDS$/);
    expect(lines.toSorted()).toMatchObject([
      expect.stringMatching(
        new RegExp(`^changed +mkta +id +${lamp} .*Price: IDR.[0-9,.]+ → IDR.[0-9,.]+`),
      ),
      expect.stringMatching(new RegExp(`^missing +mkta +id +${chair} `)),
    ]);
    expect(err).toContain('3 items in daily: 0 new, 1 changed, 1 missing, 0 back, 1 unchanged.');
  });

  test('lists the changes of one type as JSON', async () => {
    const { code, json } = await user('job', 'changes', jobId, '--type', 'missing', '--json');
    expect([code, json]).toMatchObject([0, [{ type: 'missing', key: chair }]]);
  });

  test('writes all changes to a file', async () => {
    expect((await user('job', 'changes', jobId, '--format', 'csv', '-o', 'changes.csv')).code).toBe(
      0,
    );
    const [head, ...rows] = (await readFile(join(place.folder, 'changes.csv'), 'utf8'))
      .trimEnd()
      .split(/\r?\n/);
    expect(head).toContain('type');
    expect(rows).toHaveLength(2);
  });

  test('refuses a type together with a file, and an unknown type', async () => {
    const both = await user('job', 'changes', jobId, '--type', 'new', '--format', 'csv');
    expect([both.code, both.err]).toEqual([
      2,
      expect.stringContaining('--type cannot be combined'),
    ]);
    const unknown = await user('job', 'changes', jobId, '--type', 'old');
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('type')]);
  });
});

describe('gleaner item', () => {
  test('follows the changes of all jobs from a cursor on', async () => {
    const all = await user('item', 'changes', '--json');
    expect(all.json.map(({ type }) => type).sort()).toEqual(
      ['changed', 'missing', 'new', 'new', 'new'].sort(),
    );
    const some = await user('item', 'changes', '--limit', '3');
    expect(some.out.trimEnd().split('\n')).toHaveLength(4);
    const cursor = /--after (\S+)/.exec(some.err)![1]!;
    const rest = await user('item', 'changes', '--after', cursor, '--json');
    expect(rest.json).toEqual(all.json.slice(3));
    const missing = await user(
      'item',
      'changes',
      '--type',
      'missing',
      '--series',
      'daily',
      '--json',
    );
    expect(missing.json).toMatchObject([{ key: chair, job_id: jobId }]);
    expect((await user('item', 'changes', '--after', 'x')).code).toBe(2);
  });

  test('lists the tracked items, the latest change first, and searches them', async () => {
    const { json } = await user('item', 'list', '--json');
    expect(json.map(({ key }) => key).slice(0, 1)).toEqual([lamp]);
    expect(json).toHaveLength(3);
    const found = await user('item', 'list', '--search', chair);
    expect(found.out.trimEnd().split('\n')).toHaveLength(2);
    expect((await user('item', 'list', '--series', 'weekly')).err).toContain('No tracked items.');
  });

  test('shows the observations of an item, the latest first, and only the values that are named', async () => {
    const { json } = await user('item', 'history', 'mkta', 'id', lamp, '--json');
    expect(json).toMatchObject([{ job_id: jobId, changed: expect.arrayContaining(['price']) }, {}]);
    expect(json[0].values.price).toBeCloseTo(json[1].values.price / 2);
    const title = await user('item', 'history', 'mkta', 'id', lamp, '--fields', 'title', '--json');
    expect(title.json).toHaveLength(1);
    const table = await user('item', 'history', 'mkta', 'id', lamp);
    expect(table.out).toMatch(/^OBSERVED +PRICE +STOCK +SOLD +TITLE +CHANGED\n/);
  });

  test('returns an error for an item that is not tracked', async () => {
    expect((await user('item', 'history', 'mkta', 'id', '404')).code).toBe(4);
  });
});

describe('gleaner rule', () => {
  test('creates, shows, replaces, lists, and deletes a rule', async () => {
    const options = [
      '--name',
      'Cheaper',
      '--threshold',
      '5',
      '--market',
      'mkta',
      '--series',
      'daily',
    ];
    const created = await user('rule', 'create', 'price_falls_by', ...options, '--json');
    expect(created.json).toMatchObject([
      {
        name: 'Cheaper',
        condition: 'price_falls_by',
        threshold: 5,
        channel: 'webhook',
        enabled: true,
      },
    ]);
    const { rule_id: ruleId } = created.json[0];
    expect((await user('rule', 'show', ruleId)).out).toMatch(/items +Shopee, series daily\n/);
    const changes = ['changes', '--field', 'title', '--email', '--off'];
    const replaced = await user('rule', 'create', ...changes, '--replace', ruleId);
    expect(replaced.out).toMatch(
      /condition +Any change of title\n(.*\n)*channel +email\nstatus +off\n/,
    );
    const listed = await user('rule', 'list');
    expect(listed.out).toMatch(/^RULE +NAME +CONDITION +ITEMS +BY +STATUS\n/);
    expect(listed.out).toMatch(
      new RegExp(`\n${ruleId} .*Any change of title +All tracked items +email +off\n$`),
    );
    expect((await user('rule', 'delete', ruleId)).out).toBe(`${ruleId} deleted\n`);
    expect((await user('rule', 'list')).err).toContain('No rules.');
    expect((await user('rule', 'show', ruleId)).code).toBe(4);
  });

  test('refuses a threshold that is not a number, and an unknown condition', async () => {
    const number = await user('rule', 'create', 'price_below', '--threshold', 'ten');
    expect([number.code, number.err]).toEqual([
      2,
      expect.stringContaining('"ten" is not a number'),
    ]);
    const condition = await user('rule', 'create', 'price_doubles');
    expect([condition.code, condition.err]).toEqual([2, expect.stringContaining('condition')]);
  });
});

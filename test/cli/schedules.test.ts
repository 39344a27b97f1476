import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReceiver, type WebhookReceiver } from '../support/servers/receiver.ts';
import type { TestUser } from '../support/service/api.ts';
import { openPlace, type Place } from './place.ts';
import { runCli } from './run.ts';

let place: Place;
let receiver: WebhookReceiver;
let ann: TestUser;
beforeAll(async () => {
  [receiver, place] = await Promise.all([
    startReceiver(),
    openPlace({ GLEANER_PRIVATE: 'on', GLEANER_APPROVAL: 'on' }),
  ]);
  ann = await place.api.createUser(1_000);
});
afterAll(async () => {
  await place?.close();
  await receiver?.close();
});

const user = (parameters: readonly string[], input?: string) =>
  runCli(place, parameters, {
    env: { GLEANER_API_KEY: ann.key },
    ...(input === undefined ? {} : { input }),
  });
const operator = (...parameters: string[]) =>
  runCli(place, parameters, { env: { GLEANER_OPERATOR_KEY: place.deployment.operatorKey } });

const pages = 'product_key,shop_domain\nbarang-1001,toko-7\n';

test('a destination is tested, created without secrets in the command line, listed, and deleted', async () => {
  const name = ['destination', 'create', 'inbox', receiver.url];
  const [refused, unreadable, created] = await Promise.all([
    user(['destination', 'create', 'away', 'http://127.0.0.1:9/']),
    user([...name, '--headers-file', '-'], 'no header\n'),
    user(
      [...name, '--headers-file', '-', '--format', 'jsonl', '--json'],
      'Authorization: Bearer secret\n',
    ),
  ]);
  expect([refused.code, refused.err]).toEqual([
    2,
    expect.stringContaining('url: Cannot write a test object'),
  ]);
  expect(unreadable).toMatchObject({
    code: 2,
    err: expect.stringContaining('line 1 of - is not `Name: value`'),
  });
  const [destination] = created.json;
  expect(destination).toMatchObject({
    name: 'inbox',
    format: 'jsonl',
    header_names: ['authorization'],
  });
  expect(receiver.received[0]!.headers.authorization).toBe('Bearer secret');

  const { destination_id: id } = destination;
  const [listed, shown, tested] = await Promise.all([
    user(['destination', 'list']),
    user(['destination', 'show', id]),
    user(['destination', 'test', id]),
  ]);
  expect(listed.out).toMatch(new RegExp(`^DESTINATION .*\\n${id} +inbox +${receiver.url}`));
  expect(shown.out).toMatch(/headers +authorization\n/);
  expect(`${created.out}${listed.out}${shown.out}`).not.toContain('secret');
  expect([tested.code, tested.out]).toEqual([0, expect.stringContaining('written and deleted')]);

  receiver.respondWith((_request, response) => response.writeHead(403).end());
  const failed = await user(['destination', 'test', id]);
  receiver.respondWith((_request, response) => response.writeHead(204).end());
  expect([failed.code, failed.out]).toEqual([
    1,
    expect.stringContaining('Cannot write a test object: HTTP 403'),
  ]);
  expect((await user(['destination', 'delete', id])).out).toBe(`${id} deleted\n`);
  expect(await user(['destination', 'show', id])).toMatchObject({ code: 4, out: '' });
});

test('a schedule is created from a file, run, paused, resumed, and deleted', async () => {
  const create = (...flags: string[]) => ['schedule', 'create', 'mktb', 'pdp_bulk', '-', ...flags];
  const yearly = ['--cron', '0 8 1 1 *'];
  const [untimed, unknown, invalid, created] = await Promise.all([
    user(create(), pages),
    user(create(...yearly, '--deliver-to', 'nowhere', '--hold', 'colour:95'), pages),
    user(create(...yearly), 'product_key,shop_domain\nbarang-1001,toko-7\nbarang-1002,\n'),
    user(
      create(
        ...yearly,
        '--time-zone',
        'Asia/Jakarta',
        '--max-total-credits',
        '50',
        '--max-credits',
        '5',
        '--json',
      ),
      pages,
    ),
  ]);
  expect([untimed.code, untimed.err]).toEqual([2, expect.stringContaining('Missing --cron')]);
  expect(unknown.code).toBe(2);
  expect(unknown.err).toContain("options.deliver_to: 'nowhere' is not the id or name");
  expect(unknown.err).toContain("options.hold: 'colour' is not a field");
  expect([invalid.code, invalid.err]).toEqual([2, expect.stringContaining('(line 3)')]);
  const [schedule] = created.json;
  expect(schedule).toMatchObject({
    name: 'mktb pdp_bulk 0 8 1 1 *',
    time_zone: 'Asia/Jakarta',
    state: 'active',
    cost_per_run: 5,
    max_total_credits: 50,
    options: { max_credits: 5 },
  });

  const { schedule_id: id } = schedule;
  const ran = await user(['schedule', 'run', id, '--json']);
  expect(ran.json).toMatchObject([
    { schedule_id: id, trigger: 'manual', state: 'running', cost: 5 },
  ]);
  const [runs, listed, paused] = await Promise.all([
    user(['schedule', 'runs', id]),
    user(['schedule', 'list', '--limit', '1']),
    user(['schedule', 'pause', id]),
  ]);
  expect(runs.out).toMatch(
    new RegExp(`^RUN .*\\n${ran.json[0].run_id} .* manual .* ${ran.json[0].job_id}`),
  );
  expect(listed.out).toMatch(new RegExp(`^SCHEDULE .*\\n${id} +mktb pdp_bulk`));
  expect(paused.out).toMatch(/status +paused\n.*reason +Paused by its owner\./s);
  const resumed = await user(['schedule', 'resume', id]);
  expect(resumed.out).toMatch(/status +active\n.*next run +20\d\d-/s);
  expect(resumed.out).toMatch(/spent +5 of 50\n/);
  const update = ['schedule', 'update', id, '--json'];
  const changed = await user(
    [
      ...update,
      '-',
      '--max-total-credits',
      'none',
      '--end',
      '2040-01-01T00:00:00Z',
      '--max-credits',
      '10',
    ],
    `${pages}barang-1002,toko-7\n`,
  );
  expect(changed.json).toMatchObject([
    {
      units: 2,
      end_at: '2040-01-01T00:00:00.000Z',
      options: { max_credits: 10 },
      cron: '0 8 1 1 *',
    },
  ]);
  expect(changed.json[0]).not.toHaveProperty('max_total_credits');
  expect((await user(['schedule', 'show', id])).out).toMatch(/max credits +10\n/);
  const [renamed, impossible] = await Promise.all([
    user([...update, '--name', 'New Year', '--hold', 'data.variants.basicInfo.id:90']),
    user([...update, '--deliver-to', 'nowhere']),
  ]);
  expect(renamed.json).toMatchObject([
    {
      name: 'New Year',
      units: 2,
      options: { max_credits: 10, hold: 'data.variants.basicInfo.id:90' },
    },
  ]);
  expect([impossible.code, impossible.err]).toEqual([2, expect.stringContaining("'nowhere'")]);
  const unlimited = await user([...update, '--max-credits', 'none']);
  expect(unlimited.json[0].options).toEqual({ hold: 'data.variants.basicInfo.id:90' });
  expect((await user(['schedule', 'delete', id])).code).toBe(0);
  expect((await user(['schedule', 'list'])).err).toContain('No matching schedules.');
});

test('the first run of a kind with approval awaits it, and the approval covers the later runs', async () => {
  const items = 'item_id,shop_id\n20000000001,7001\n';
  const flags = ['--set', 'country=id', '--cron', '@yearly', '--name', 'Stock'];
  const created = await user(['schedule', 'create', 'mkta', 'variant_sold', '-', ...flags], items);
  expect(created.out).toMatch(/status +active\n/);
  const id = /schedule +(\S+)/.exec(created.out)![1]!;
  const run = await user(['schedule', 'run', id, '--json']);
  const jobId: string = run.json[0].job_id;
  const [waiting, shown] = await Promise.all([
    operator('job', 'list', '--status', 'awaiting_approval', '--json'),
    operator('schedule', 'show', id),
  ]);
  expect(waiting.json).toMatchObject([{ job_id: jobId, schedule_id: id }]);
  expect(shown.out).toMatch(new RegExp(`user +${ann.id}\\n`));
  const foreign = await operator('schedule', 'pause', id, '--user', jobId);
  expect([foreign.code, foreign.err]).toEqual([
    2,
    expect.stringContaining('is not a schedule of the user'),
  ]);
  const job = await operator('job', 'show', jobId);
  expect(job.out).toContain('decide by');
  expect(job.out).toMatch(/cost +10 credits on approval \(10 per unit\)\n/);
  expect(job.out).toContain(`schedule   ${id}\n`);
  expect((await operator('job', 'reject', jobId, '--reason', 'Too often.')).code).toBe(0);
  expect((await operator('job', 'show', jobId)).out).toMatch(/cost +nothing charged /);

  const second = await user(
    ['schedule', 'create', 'mkta', 'variant_sold', '-', ...flags, '--json'],
    items,
  );
  const secondId = second.json[0].schedule_id;
  const secondRun = await user(['schedule', 'run', secondId, '--json']);
  const approved = await operator('job', 'approve', secondRun.json[0].job_id);
  expect(approved.out).toMatch(new RegExp(`, with the later runs of schedule ${secondId}\n$`));
  const decided = await operator('job', 'show', secondRun.json[0].job_id);
  expect(decided.out).not.toContain('decide by');
});

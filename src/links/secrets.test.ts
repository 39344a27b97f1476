import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLinkSecrets } from './secrets.ts';

const day = 86_400_000;
let folder: string;
let now: number;
const clock = { now: () => now, sleep: async () => {} };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'links-'));
  now = Date.UTC(2030, 0, 1);
});
afterEach(() => rmSync(folder, { recursive: true }));

test('creates one secret that only the owner can read, and no other file', () => {
  const dataDir = join(folder, 'new', 'data');
  const first = openLinkSecrets(dataDir, clock).newest();
  expect(Buffer.from(first, 'base64url')).toHaveLength(32);
  expect(openLinkSecrets(dataDir, clock).newest()).toBe(first);
  expect(statSync(join(dataDir, 'link-secrets.json')).mode & 0o777).toBe(0o600);
  expect(readdirSync(dataDir)).toEqual(['link-secrets.json']);
});

test('rotates a secret after 30 days and retires it after 40', () => {
  const secrets = openLinkSecrets(folder, clock);
  const first = secrets.newest();
  now += 30 * day;
  expect(secrets.newest()).toBe(first);
  now += day;
  const second = secrets.newest();
  expect(second).not.toBe(first);
  expect(secrets.all()).toEqual([second, first]);
  now += 10 * day;
  expect(secrets.all()).toEqual([second]);
  now += 30 * day;
  const third = secrets.newest();
  expect(openLinkSecrets(folder, clock).all()).toEqual([third, second]);
});

test('sees another process’s rotation within a minute, or at once on refresh()', () => {
  const one = openLinkSecrets(folder, clock);
  const other = openLinkSecrets(folder, clock);
  now += 31 * day;
  const newest = one.newest();
  expect(other.newest()).toBe(newest);
  const late = openLinkSecrets(folder, clock);
  const path = join(folder, 'link-secrets.json');
  const added = { secret: 'x'.repeat(43), created_at: new Date(now + 1).toISOString() };
  writeFileSync(
    path,
    JSON.stringify({ secrets: [added, ...JSON.parse(readFileSync(path, 'utf8')).secrets] }),
  );
  late.refresh();
  expect(late.newest()).toBe(newest);
  now += 1000;
  late.refresh();
  expect(late.newest()).toBe(added.secret);
});

test.each([
  ['', 'Unexpected end of JSON input'],
  ['{', 'JSON'],
  ['null', 'holds no secrets'],
  ['{}', 'holds no secrets'],
  ['{"secrets":[]}', 'holds no secrets'],
  ['{"secrets":[null]}', 'too short or has no date'],
  ['{"secrets":[{"secret":5,"created_at":"2030-01-01"}]}', 'too short or has no date'],
  [`{"secrets":[{"secret":"${'x'.repeat(31)}","created_at":"2030-01-01"}]}`, 'too short or has no date'],
  [`{"secrets":[{"secret":"${'x'.repeat(43)}"}]}`, 'too short or has no date'],
])('the start fails on the file %s with its name and the reason', (text, reason) => {
  const path = join(folder, 'link-secrets.json');
  writeFileSync(path, text);
  let message = '';
  try {
    openLinkSecrets(folder, clock);
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toContain(`${path}: `);
  expect(message).toContain(reason);
});

test('reads secrets of at least 32 characters in any order, newest first', () => {
  const entry = (letter: string, daysAgo: number) => ({
    secret: letter.repeat(32),
    created_at: new Date(now - daysAgo * day).toISOString(),
  });
  const entries = [entry('b', 2), entry('c', 3), entry('a', 1)];
  writeFileSync(join(folder, 'link-secrets.json'), JSON.stringify({ secrets: entries }));
  expect(
    openLinkSecrets(folder, clock)
      .all()
      .map((secret) => secret[0]),
  ).toEqual(['a', 'b', 'c']);
});

test('restricts a file that others can read to its owner', () => {
  const path = join(folder, 'link-secrets.json');
  const mode = () => statSync(path).mode & 0o777;
  openLinkSecrets(folder, clock);
  chmodSync(path, 0o644);
  const secrets = openLinkSecrets(folder, clock);
  expect(mode()).toBe(0o600);
  now += 31 * day;
  secrets.newest();
  expect(mode()).toBe(0o600);
});

test('rotates a secret older than 30 days at the start', () => {
  const first = openLinkSecrets(folder, clock).newest();
  now += 31 * day;
  const secrets = openLinkSecrets(folder, clock);
  expect(secrets.newest()).not.toBe(first);
  expect(secrets.all()).toHaveLength(2);
});

test('removes secrets older than 40 days, but never the newest', () => {
  const secrets = openLinkSecrets(folder, clock);
  const first = secrets.newest();
  now += 41 * day;
  expect(secrets.all()).toEqual([first]);
  const second = secrets.newest();
  const { secrets: kept } = JSON.parse(readFileSync(join(folder, 'link-secrets.json'), 'utf8'));
  expect(kept).toMatchObject([{ secret: second }]);
});

test.each([1, 2, 3, 4, 5])('does not repeat what another process rotates before clock reading %i', (nth) => {
  const other = openLinkSecrets(folder, clock);
  let readings = Number.NEGATIVE_INFINITY;
  const racing = openLinkSecrets(folder, {
    ...clock,
    now: () => {
      readings += 1;
      if (readings === nth) other.newest();
      return now;
    },
  });
  const first = racing.newest();
  now += 31 * day;
  readings = 0;
  const newest = racing.newest();
  expect(newest).not.toBe(first);
  expect(openLinkSecrets(folder, clock).all()).toEqual([newest, first]);
});

test('rotates despite the lock of a dead process', () => {
  const secrets = openLinkSecrets(folder, clock);
  const first = secrets.newest();
  const lock = join(folder, 'link-secrets.json.lock');
  writeFileSync(lock, '');
  now += 31 * day;
  expect(secrets.newest()).toBe(first);
  rmSync(lock);
  now += 60_000;
  expect(secrets.newest()).not.toBe(first);
});

test('removes a lock older than a minute and rotates on the next read', () => {
  const secrets = openLinkSecrets(folder, clock);
  const first = secrets.newest();
  const lock = join(folder, 'link-secrets.json.lock');
  writeFileSync(lock, '');
  const earlier = new Date(Date.now() - 120_000);
  utimesSync(lock, earlier, earlier);
  now += 31 * day;
  expect(secrets.newest()).toBe(first);
  expect(readdirSync(folder)).toEqual(['link-secrets.json']);
  now += 60_000;
  expect(secrets.newest()).not.toBe(first);
});

test('processes that start and rotate concurrently agree on the secrets', async () => {
  const source = `
    import { openLinkSecrets } from ${JSON.stringify(join(import.meta.dirname, 'secrets.ts'))};
    const clock = { now: () => Number(process.argv[1]), sleep: async () => {} };
    console.log(openLinkSecrets(process.argv[2], clock).newest());`;
  const run = promisify(execFile);
  const start = async (at: number) => {
    const outputs = await Promise.all(
      Array.from({ length: 4 }, () =>
        run(process.execPath, ['--input-type=module-typescript', '-e', source, String(at), folder]),
      ),
    );
    return outputs.map(({ stdout }) => stdout.trim());
  };
  expect(new Set(await start(now))).toHaveProperty('size', 1);
  const rotated = await start(now + 31 * day);
  const kept = JSON.parse(readFileSync(join(folder, 'link-secrets.json'), 'utf8')).secrets.map(
    ({ secret }: { secret: string }) => secret,
  );
  expect(kept).toHaveLength(2);
  for (const secret of rotated) expect(kept).toContain(secret);
  expect(readdirSync(folder)).toEqual(['link-secrets.json']);
});

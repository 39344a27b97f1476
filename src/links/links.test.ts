import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkProperty } from '../../test/support/run/properties.ts';
import { createFileLinks, createLinks } from './links.ts';
import { deriveLinkSecrets } from './secrets.ts';

let now = Date.UTC(2030, 0, 1);
const clock = { now: () => now, steady: () => now, sleep: async () => {} };
const links = (...secrets: [string, ...string[]]) =>
  createLinks({
    secrets: deriveLinkSecrets(secrets, clock),
    publicUrl: () => 'https://gleaner.test/base',
    clock,
  });
const invalid = expect.objectContaining({ code: 'link_invalid' });

test('verify() accepts a URL and a path, in both address forms', () => {
  const { link, verify } = links('s1');
  const made = link('job-1/full_job-1.json');
  const file = {
    path: 'job-1/full_job-1.json',
    fileName: 'full_job-1.json',
    bearer: false,
    userId: '',
  };
  expect(made).toMatch(/^https:\/\/gleaner\.test\/base\/files\/job-1\/full_job-1\.json\?/);
  const { pathname, search } = new URL(made);
  for (const form of [made, pathname + search, `/v1/files/job-1/full_job-1.json${search}`])
    expect(verify(form)).toEqual(file);
});

test('verify() reads a hostile link once, not once per slash', () => {
  const { verify } = links('s1');
  // Once per occurrence would take longer than a test may.
  expect(() => verify('/files/'.repeat(1_000_000))).toThrow(invalid);
});

test('a link carries the file name and the owner whose key is required', () => {
  const { link, verify } = links('s1');
  const made = link('job/1.json', { fileName: 'résult & "more".json', bearerOf: 'ann' });
  expect(verify(made)).toEqual({
    path: 'job/1.json',
    fileName: 'résult & "more".json',
    bearer: true,
    userId: 'ann',
  });
});

test('verify() accepts any path and rejects any modified character', () => {
  const { link, verify } = links('s1');
  checkProperty(
    fc.property(
      fc.string({ minLength: 1, unit: 'grapheme' }),
      fc.string({ minLength: 1 }),
      fc.nat(),
      (job, user, place) => {
        const made = link(`job/${job}`, { bearerOf: user });
        expect(verify(made)).toMatchObject({ path: `job/${job}`, userId: user });
        const start = made.indexOf('/files/') + '/files/'.length;
        const at = start + (place % (made.length - start));
        const changed = `${made.slice(0, at)}${made[at] === 'A' ? 'B' : 'A'}${made.slice(at + 1)}`;
        expect(() => verify(changed)).toThrow(invalid);
      },
    ),
  );
});

test('verify() rejects a link with a modified expiry, owner, name or signature', () => {
  const { link, verify } = links('s1');
  const made = new URL(link('job/a.json', { bearerOf: 'ann' }));
  const change = (edit: (query: URLSearchParams) => void) => {
    const copy = new URL(made);
    edit(copy.searchParams);
    return copy.href;
  };
  expect(() => verify(change((query) => query.set('expires', '99999999999')))).toThrow(invalid);
  expect(() => verify(change((query) => query.set('user', 'bob')))).toThrow(invalid);
  expect(() => verify(change((query) => query.delete('user')))).toThrow(invalid);
  expect(() => verify(change((query) => query.set('name', 'b.json')))).toThrow(invalid);
  expect(() => verify(change((query) => query.delete('signature')))).toThrow(invalid);
  expect(() => verify(change((query) => query.set('signature', '')))).toThrow(invalid);
  expect(() => verify(change((query) => query.append('expires', '99999999999')))).toThrow(invalid);
  expect(() => verify(change((query) => query.append('user', 'bob')))).toThrow(invalid);
});

test.each([
  '',
  '/files',
  '/files/',
  '/files/?x',
  '/other/job/a.json?expires=1',
  '/files/%ff?expires=1&signature=x',
  '/files/job/a.json',
])('verify() rejects "%s"', (text) => {
  expect(() => links('s1').verify(text)).toThrow(invalid);
});

test.each([
  '',
  '/files/',
  '/other/job/a.json?expires=1',
  '/files/%ff?expires=1',
  '/files/job/a.json',
])('verify() reports that "%s" is incomplete', (text) => {
  expect(() => links('s1').verify(text)).toThrow(/incomplete/);
});

test('verify() rejects a link within the query of another address', () => {
  const { link, verify } = links('s1');
  expect(() => verify(`/page?next=${link('job/a.json')}`)).toThrow(invalid);
});

test.each(['http://files', 'https://files/base'])(
  'verify() accepts a link that starts with %s',
  (publicUrl) => {
    const { link, verify } = createLinks({
      secrets: deriveLinkSecrets(['s1'], clock),
      publicUrl: () => publicUrl,
      clock,
    });
    expect(verify(link('job/a.json')).path).toBe('job/a.json');
  },
);

test('a link expires after 7 days', () => {
  const { link, verify } = links('s1');
  const made = link('job/a.json');
  now += 7 * 86_400_000 - 1000;
  expect(verify(made).path).toBe('job/a.json');
  now += 1000;
  expect(() => verify(made)).toThrow('expired');
  expect(() => verify(made)).toThrow(invalid);
});

test('links of a previous secret are valid until it is retired', () => {
  const made = links('old').link('job/a.json');
  expect(links('new', 'old').verify(made).path).toBe('job/a.json');
  expect(() => links('new').verify(made)).toThrow(invalid);
});

test('links of one second are equal, and each file, name, owner and secret has its own signature', () => {
  let secret = 's1';
  const secrets = { newest: () => secret, all: () => [secret] };
  const { link, verify } = createLinks({ secrets, publicUrl: () => 'https://gleaner.test', clock });
  const make = () => [
    link('job/1.json'),
    link('job/2.json'),
    link('job/1.json', { fileName: 'a' }),
    link('job/1.json', { bearerOf: 'a' }),
    link('job/1.json', { fileName: 'a', bearerOf: 'b' }),
  ];
  const first = make();
  const signaturesOf = (links: string[]) =>
    new Set(links.map((made) => made.split('signature=')[1]));
  expect(signaturesOf(first).size).toBe(5);
  expect(make()).toEqual(first);
  secret = 's2';
  for (const made of make()) expect(() => verify(made)).not.toThrow();
  expect(signaturesOf([...make(), ...first]).size).toBe(10);
  now += 1000;
  const later = make();
  for (const made of later) expect(() => verify(made)).not.toThrow();
  expect(later[0]).toContain(`expires=${now / 1000 + 7 * 86_400}`);
});

describe('a link to a file that can be converted', () => {
  const record = { bytes: 7, sha256: 'ab'.repeat(32) };
  const { link, verify } = links('s1');
  const make = () => link('job/full v1.jsonl.gz', { record, convertible: true });
  const named = (name: string) => make().replace('/full%20v1?', `/${name}?`);

  test('has the name of the file without its extensions, and its record', () => {
    const made = make();
    expect(new URL(made).pathname).toBe('/base/files/job/full%20v1');
    expect(verify(made)).toEqual({
      path: 'job/full v1.jsonl.gz',
      fileName: 'full v1.jsonl.gz',
      bearer: false,
      userId: '',
      record,
    });
  });

  test.each(['csv', 'parquet', 'jsonl'])('takes the extension of a format: %s', (format) => {
    const { path, format: asked } = verify(named(`full%20v1.${format}`));
    expect([path, asked]).toEqual(['job/full v1.jsonl.gz', format]);
  });

  test.each([
    'full%20v2',
    'full%20v1.csv.gz',
    'full%20v1csv',
    'ful',
    'full%20v1.',
    'full%20v1.CSV',
  ])('rejects another name: %s', (name) => {
    expect(() => verify(named(name))).toThrow(invalid);
  });

  test('rejects another source, size, or digest', () => {
    for (const [from, to] of [
      ['.jsonl.gz', '.json'],
      ['bytes=7', 'bytes=8'],
      ['sha256=ab', 'sha256=ac'],
      ['&bytes=7', ''],
    ] as const)
      expect(() => verify(make().replace(from, to))).toThrow(invalid);
  });
});

describe('createFileLinks()', () => {
  const job = { userId: 'ann', filesDeletedAt: null };
  const file = { path: 'job/full_job.json', bytes: 3, sha256: 'abc' };
  const presign = async (path: string, name: string) => `https://engine.test/${path}?as=${name}`;
  const fileLinks = () => createFileLinks(links('s1'), presign);

  test('returns a link of the engine to a file', async () => {
    expect(await fileLinks().file(job, file, false)).toBe(
      'https://engine.test/job/full_job.json?as=full_job.json',
    );
  });

  test.each([
    ['that requires a key', job, file, true],
    ['that was deleted', { ...job, filesDeletedAt: 1 }, file, false],
    ['of a batch', job, { ...file, path: 'job/batch_1.json' }, false],
  ])('returns a signed link to a file %s', async (_, owner, linked, bearer) => {
    const link = await fileLinks().file(owner, linked, bearer);
    expect(links('s1').verify(link)).toMatchObject({
      path: linked.path,
      userId: bearer ? 'ann' : '',
      record: { bytes: 3, sha256: 'abc' },
    });
  });

  test('returns a signed link if the engine has none', async () => {
    const { file: linkTo } = createFileLinks(links('s1'), async () => null);
    expect(await linkTo(job, file, false)).toContain('/base/files/job/full_job.json?');
  });
});

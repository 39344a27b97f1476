import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { runCommand } from '../support/service/command.ts';

let folder: string;
let origins: RunningOrigins;
let settings: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-check-'));
  origins = await startOrigins({ origins: [mkta] });
  settings = {
    GLEANER_DATA_DIR: join(folder, 'data'),
    GLEANER_ORIGINS: join(folder, 'origins.json'),
    GLEANER_HTTP_PORT: '0',
    GLEANER_GRPC_PORT: '0',
    GLEANER_OPS_PORT: 'off',
  };
  await writeFile(settings.GLEANER_ORIGINS!, JSON.stringify(origins.config));
});
afterAll(async () => {
  await origins.stop();
  await rm(folder, { recursive: true });
});

test('doctor --origins prints a table, and exits with 0 if every site can be read', async () => {
  const { code, stdout, stderr } = await runCommand(['doctor', '--origins'], settings);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(
    /^MARKET +REGION +ORIGIN +PAGE +STATUS +RESULT +FIELDS\nmkta +id +\S+ +search +200 +ok +\d+\/\d+\n$/,
  );
});

test('doctor --origins prints JSON Lines, and exits with 1 if a site cannot be read', async () => {
  const blocked = await runCommand(
    ['doctor', '--origins', 'mkta', '--id', 'mkta=7/20807', '--json'],
    settings,
  );
  expect(blocked).toMatchObject({ code: 1, stderr: '' });
  expect(JSON.parse(blocked.stdout)).toMatchObject({
    market: 'mkta',
    result: 'page_blocked',
    fields_read: 0,
  });
});

test('doctor --origins exits with 2 without an origins file, and for a malformed id', async () => {
  const bare = await runCommand(['doctor', '--origins'], { ...settings, GLEANER_ORIGINS: '' });
  expect([bare.code, bare.stdout]).toEqual([2, '']);
  expect(bare.stderr).toMatch(/^gleaner: No origins are configured\. .*\n$/);
  const malformed = await runCommand(['doctor', '--origins', '--id', 'x'], settings);
  expect(malformed).toMatchObject({
    code: 2,
    stderr: 'gleaner: --id: expected <market>=<id or URL>, not x\n',
  });
});

test.each([
  [
    '{"mktz": "https://x.example"}',
    'wrong.json: line 1, column 10: mktz: not a marketplace. Did you mean mkta?',
  ],
  [
    '{"mkta": {\n  "sx": "https://x.example",\n  "us": "https://y.example"}}',
    'wrong.json: line 2, column 9: mkta.sx: not a region of mkta (id, sg, th, ph, my, vn, tw, br).\nline 3, column 9: mkta.us: not',
  ],
  [
    '{\n  "mkta": {"concurrent": 5}}',
    'line 2, column 26: mkta.concurrent: no setting and no region. Did you mean',
  ],
])('serve refuses the origins %s', async (text, message) => {
  const file = join(folder, 'wrong.json');
  await writeFile(file, text);
  const ports = { GLEANER_HTTP_PORT: '0', GLEANER_GRPC_PORT: '0', GLEANER_OPS_PORT: 'off' };
  const refused = await runCommand(['serve'], { ...settings, ...ports, GLEANER_ORIGINS: file });
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(message);
});

test('doctor prints a line for each check, and exits with 0 if nothing is broken', async () => {
  const { code, stdout, stderr } = await runCommand(['doctor'], settings);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^ok +Node: /m);
  expect(stdout).toMatch(/^ok +mkta: status 200, \d+ of \d+ fields read$/m);
  expect(stdout).toMatch(/^ok +clock: agrees with the sites$/m);
  expect(stdout).toMatch(/^ +Set `GLEANER_BACKUP_TO` .* \(docs\/backups.md#scheduled-backups\)$/m);
  expect(stdout).toMatch(/\n\n0 errors, \d warnings?\n$/);
});

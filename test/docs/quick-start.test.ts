import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../support/service/service.ts';
import { createShellCommand, type ShellCommand } from '../support/service/shell-command.ts';
import { parseExamples, runShell } from './example.ts';
import { type Place, startPlace } from './place.ts';

const page = readFileSync(join(root, 'docs/quick-start.md'), 'utf8');

let place: Place;
let folder: string;
let gleaner: ShellCommand;
beforeAll(async () => {
  place = await startPlace();
  folder = mkdtempSync(join(tmpdir(), 'gleaner-quick-start-'));
  gleaner = await createShellCommand(join(folder, 'bin'));
});
afterAll(async () => {
  await gleaner?.close();
  await place?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

test('the commands of docs/quick-start.md work as they are, pasted one after the other', async () => {
  const { URL, OPERATOR_KEY } = await place.variables();
  const session = parseExamples(page)
    .map(({ command }) => command)
    .join('');
  // Uses the address and the key of the test.
  const addressed = session
    .replace('http://127.0.0.1:8080', URL!)
    .replace('=choose-a-long-one', `=${OPERATOR_KEY}`);
  expect(addressed).not.toMatch(/<[a-z-]+>|…/);
  const environment = {
    PATH: `${gleaner.folder}:${process.env.PATH}`,
    HOME: folder,
    GLEANER_URL: URL!,
  };
  const printed = await runShell(addressed, environment, folder);
  const [file, item] = printed.trimEnd().split('\n').slice(-2);
  expect(file).toContain('"barang-1001"');
  expect(JSON.parse(item!)).toMatchObject({ title: expect.any(String), currency: 'IDR' });
}, 600_000);

test('the commands of docs/grpc.md work, and the exported files compile', async () => {
  const commands = readFileSync(join(root, 'docs/grpc.md'), 'utf8').replaceAll(
    'dist/protos',
    join(folder, 'protos'),
  );
  const variables = await place.variables();
  const printed: string[] = [];
  for (const { command } of parseExamples(commands))
    printed.push(await runShell(command, variables, root));
  expect(printed[0]).toContain('"balance"');
  expect(printed[1]).toMatch(/"jobId": "/);
  await runShell(`node_modules/.bin/buf build ${join(folder, 'protos')} -o /dev/null`, {}, root);
}, 600_000);

test('deploy/launch.mjs, to which the page links, can be run', () => {
  expect(statSync(join(root, 'deploy/launch.mjs')).mode & 0o111).toBe(0o111);
});

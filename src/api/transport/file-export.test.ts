import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FileService } from '../../../gen/gleaner/file/v1/file_pb.ts';
import { createLog } from '../../base/log.ts';
import { createBodyBudget } from '../../contract/body-budget.ts';
import { Fault } from '../../contract/fault.ts';
import { createRpcListener } from './adapter.ts';
import {
  createRemoteExport,
  createRemoteRestore,
  type FileExportOptions,
  routeFileExport,
} from './file-export.ts';
import { type ListeningServer, listen } from './server.ts';

const log = createLog('silent', 'test');
const wanted = { format: 'csv', only: '', columns: '' };
const rows = ['title\r\n', 'lamp\r\n', 'chair\r\n'];
const signal = () => new AbortController().signal;

let core: ListeningServer;
/** Replaced by tests. */
let exportFile: FileExportOptions['exportFile'];
let restoreFile: FileExportOptions['restoreFile'];
/** Fake links: `path?good` is valid, `path?good&bearer` also requires a key. */
const verifyLink = (link: string) => {
  const [path = '', query = ''] = link.split('?');
  if (!query.startsWith('good')) throw new Fault('link_invalid', 'The link is not valid');
  return { path, bearer: query.endsWith('bearer') };
};
const transport = () => createGrpcTransport({ baseUrl: `http://127.0.0.1:${core.port}` });
const remote = (sign = (path: string) => `${path}?good`) =>
  createRemoteExport({ transport: transport() }, sign);

beforeEach(async () => {
  exportFile = async (path, { format, only, columns }) => ({
    contentType: 'text/csv',
    fileName: `${path}.${format}-${only}-${columns}`,
    bytes: chunks(),
  });
  restoreFile = async () => null;
  const routes = routeFileExport({
    exportFile: (...given) => exportFile(...given),
    restoreFile: (path) => restoreFile(path),
    verifyLink,
    log,
  });
  core = await listen(createRpcListener(routes, createBodyBudget()), '127.0.0.1', 0);
});
afterEach(() => core.close());

async function* chunks(): AsyncGenerator<Uint8Array> {
  for (const row of rows) yield Buffer.from(row);
}

const textOf = async (bytes: AsyncIterable<Uint8Array>) =>
  Buffer.concat(await Array.fromAsync(bytes)).toString();

test('a separate gateway gets the records of a file with their type and name', async () => {
  const { contentType, fileName, bytes } = await remote()(
    'job/full',
    { ...wanted, only: 'changed', columns: 'standard' },
    signal(),
  );
  expect([contentType, fileName]).toEqual(['text/csv', 'job/full.csv-changed-standard']);
  expect(await textOf(bytes)).toBe(rows.join(''));
});

test('an export of 0 bytes is a successful response', async () => {
  exportFile = async () => ({
    contentType: 'text/csv',
    fileName: 'empty.csv',
    bytes: (async function* () {})(),
  });
  const { fileName, bytes } = await remote()('job/full', wanted, signal());
  expect([fileName, await textOf(bytes)]).toEqual(['empty.csv', '']);
});

test.each([
  [
    Fault.invalid(['query', 'format'], 'Input should be csv', 'enum'),
    { problems: [{ loc: ['query', 'format'] }] },
  ],
  [new Fault('results_deleted', 'This file was deleted.'), { message: 'This file was deleted.' }],
  [new Fault('conflict', 'Not complete.', { retryAfterMs: 2_000 }), { retryAfterMs: 2_000 }],
])('returns the fault of the core: %s', async (fault, parts) => {
  exportFile = () => Promise.reject(fault);
  await expect(remote()('job/full', wanted, signal())).rejects.toMatchObject({
    code: fault.code,
    ...parts,
  });
});

test('a failure after the first records ends the records', async () => {
  exportFile = async () => ({
    contentType: 'text/csv',
    fileName: 'full.csv',
    bytes: (async function* () {
      yield Buffer.alloc(100_000);
      throw new Error('the storage failed');
    })(),
  });
  const { bytes } = await remote()('job/full', wanted, signal());
  await expect(textOf(bytes)).rejects.toMatchObject({ code: 'internal' });
});

test('the core stops when the gateway ends the export', async () => {
  const stopped = Promise.withResolvers<void>();
  exportFile = async () => ({
    contentType: 'text/csv',
    fileName: 'full.csv',
    bytes: (async function* () {
      try {
        for (;;) yield Buffer.alloc(100_000);
      } finally {
        stopped.resolve();
      }
    })(),
  });
  const leaving = new AbortController();
  const { bytes } = await remote()('job/full', wanted, leaving.signal);
  await bytes[Symbol.asyncIterator]().next();
  leaving.abort();
  await stopped.promise;
});

test.each([
  ['a link that is not valid', 'job/full?bad'],
  ['a link that requires a key', 'job/full?good&bearer'],
])('%s does not authorize an export', async (_name, link) => {
  exportFile = () => Promise.reject(new Error('the call was not refused'));
  await expect(remote(() => link)('job/full', wanted, signal())).rejects.toMatchObject({
    code: 'link_invalid',
  });
});

test('a call without a link is refused', async () => {
  const client = createClient(FileService, transport());
  const parts = client.exportFile(wanted)[Symbol.asyncIterator]();
  await expect(parts.next()).rejects.toMatchObject({ rawMessage: 'The link is not valid' });
});

test('an export is unavailable while the core is down', async () => {
  const exportRemote = remote();
  await core.close();
  await expect(exportRemote('job/full', wanted, signal())).rejects.toMatchObject({
    code: 'unavailable',
    component: 'core',
  });
  core = { ...core, close: async () => {} };
});

test('a separate gateway lets the core restore or find a file, and gets its fault', async () => {
  const restored: string[] = [];
  const place = { head: '[', path: 'job/full', start: 1, end: 5_000_000_000, tail: ']' };
  restoreFile = async (path) => {
    restored.push(path);
    if (path === 'job/lost')
      throw new Fault('storage_damaged', 'The stored file job/lost is missing.');
    return path === 'job/batch' ? place : null;
  };
  const restoreRemote = createRemoteRestore({ transport: transport() }, (path) => `${path}?good`);
  expect(await restoreRemote('job/full')).toBeNull();
  expect(await restoreRemote('job/batch')).toEqual(place);
  await expect(restoreRemote('job/lost')).rejects.toMatchObject({
    code: 'storage_damaged',
    message: 'The stored file job/lost is missing.',
  });
  expect(restored).toEqual(['job/full', 'job/batch', 'job/lost']);
});

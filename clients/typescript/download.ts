import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ResultFile } from '../../gen/gleaner/job/v1/job_pb.ts';
import type { CallOptions } from './call-options.ts';
import { GleanerError } from './error.ts';
import { chunksOf } from './stream.ts';
import { backOffMs, type ClientClock, isTransient } from './transport.ts';

/** Options of downloads. */
export interface DownloadOptions extends CallOptions {
  /** Called with the bytes saved so far: at the start, after every chunk, and at the end. */
  onBytes?: (file: ResultFile, bytes: number) => void;
}

/** A saved file, verified against the service's size and SHA-256. */
export interface Downloaded {
  file: ResultFile;
  path: string;
  /**
   * Bytes received by this call: fewer than the file has after a resumed download, 0 if it was
   * saved before.
   */
  fetched: number;
}

/** Dependencies of downloads. */
export interface DownloadContext {
  /** Opens a link of a response. */
  open: (
    link: string,
    headers?: Record<string, string>,
    options?: CallOptions,
  ) => Promise<Response>;
  clock: ClientClock;
  random: () => number;
}

/** Maximum consecutive attempts without progress. */
const maxIdleAttempts = 5;

/** Contents of the metadata file of a partial download, which allows resuming it. */
interface PartNote {
  sha256: string;
  etag: string;
}

/**
 * Saves a file: as `<path>.part` first, which an interrupted download leaves and the next one
 * resumes, and under its name once size and SHA-256 are right. Rejects with a GleanerError of
 * `status` -1 for other contents.
 */
export async function downloadFile(
  context: DownloadContext,
  file: ResultFile,
  path: string,
  options: DownloadOptions = {},
): Promise<Downloaded> {
  const size = Number(file.bytes);
  const saved = await stat(path).catch(() => null);
  if (saved?.isFile() && saved.size === size && (await computeDigest(path)) === file.sha256) {
    options.onBytes?.(file, size);
    return { file, path, fetched: 0 };
  }
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.part`;
  const fetched = await fetchPart(context, file, part, options);
  const digest = await computeDigest(part);
  if (digest !== file.sha256) {
    await Promise.all([rm(part, { force: true }), rm(noteOf(part), { force: true })]);
    const detail = `${file.name}: its SHA-256 is ${digest}, not ${file.sha256}`;
    throw new GleanerError({ status: -1, detail });
  }
  await rename(part, path);
  await rm(noteOf(part), { force: true });
  return { file, path, fetched };
}

/** Fetches a file as a partial file until it has all bytes. Returns the bytes that were fetched. */
async function fetchPart(
  context: DownloadContext,
  file: ResultFile,
  part: string,
  { signal, onBytes }: DownloadOptions,
): Promise<number> {
  let fetched = 0;
  let idle = 0;
  for (let before = 0; ; before = fetched) {
    try {
      await fetchRest(context, file, part, signal, (bytes, more) => {
        fetched += more;
        onBytes?.(file, bytes);
      });
      if ((await stat(part)).size === Number(file.bytes)) return fetched;
      throw new GleanerError({ status: 0, detail: `${file.name}: the connection broke` });
    } catch (error) {
      if (!(error instanceof GleanerError) || !isTransient(error)) throw error;
      idle = fetched > before ? 0 : idle + 1;
      if (idle === maxIdleAttempts) throw error;
      await context.clock.sleep(backOffMs(idle + 1, context.random), signal);
    }
  }
}

/** Saves files in a folder, one after the other, under names that stay inside it. */
export async function downloadFiles(
  context: DownloadContext,
  files: readonly ResultFile[],
  folder: string,
  options: DownloadOptions = {},
): Promise<Downloaded[]> {
  const names = namesOf(files);
  const done: Downloaded[] = [];
  for (const [index, file] of files.entries())
    done.push(await downloadFile(context, file, join(folder, names[index]!), options));
  return done;
}

/**
 * Returns names to save files under: without folders, and distinct on case-insensitive file
 * systems.
 */
export function namesOf(files: readonly Pick<ResultFile, 'name'>[]): string[] {
  const taken = new Set<string>();
  return files.map(({ name }, index) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are removed.
    const plain = name.replace(/[/\\:*?"<>|\u0000-\u001f]/g, '_').replace(/^\.+/, '_') || 'file';
    const free = taken.has(plain.toLowerCase()) ? `${index}-${plain}` : plain;
    taken.add(free.toLowerCase());
    return free;
  });
}

const noteOf = (part: string) => `${part}.json`;

/** Appends the missing bytes of a partial file, or replaces it. */
async function fetchRest(
  { open: openConnection }: DownloadContext,
  file: ResultFile,
  part: string,
  signal: AbortSignal | undefined,
  onBytes: (bytes: number, more: number) => void,
): Promise<void> {
  const size = Number(file.bytes);
  const have = await usable(part, file);
  if (have === size && size > 0) return;
  const response = await openConnection(
    file.downloadUrl,
    have === 0 ? {} : { range: `bytes=${have}-`, 'if-range': (await readNote(part))!.etag },
    signal === undefined ? {} : { signal },
  );
  const isResumed =
    response.status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${have}-`);
  if (response.status !== 200 && !isResumed) {
    await response.body?.cancel();
    await rm(part, { force: true });
    throw new GleanerError({
      status: 0,
      detail: `${file.name}: the service does not serve the requested range`,
    });
  }
  await writeNote(part, file, response.headers.get('etag'));

  const handle = await open(part, isResumed ? 'a' : 'w');
  let bytes = isResumed ? have : 0;
  try {
    onBytes(bytes, 0);
    for await (const chunk of chunksOf(response)) {
      bytes += chunk.length;
      if (bytes > size)
        throw new GleanerError({
          status: -1,
          detail: `${file.name}: it has more than ${size} bytes`,
        });
      await handle.writeFile(chunk);
      onBytes(bytes, chunk.length);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Writes the note of a partial file. A weak tag does not identify bytes: such a file is downloaded
 * from its start after an interruption.
 */
async function writeNote(part: string, { sha256 }: ResultFile, etag: string | null): Promise<void> {
  if (etag === null || etag.startsWith('W/')) return rm(noteOf(part), { force: true });
  await writeFile(noteOf(part), JSON.stringify({ sha256, etag } satisfies PartNote));
}

/**
 * Returns the bytes of a partial file that can be resumed; 0 for another file's, and for one
 * without a note.
 */
async function usable(part: string, file: ResultFile): Promise<number> {
  const note = await readNote(part);
  const saved = await stat(part).catch(() => null);
  if (saved === null || note?.sha256 !== file.sha256 || saved.size > Number(file.bytes)) return 0;
  return saved.size;
}

async function readNote(part: string): Promise<PartNote | undefined> {
  try {
    const { sha256, etag } = JSON.parse(await readFile(noteOf(part), 'utf8')) as PartNote;
    return typeof sha256 === 'string' && typeof etag === 'string' ? { sha256, etag } : undefined;
  } catch {
    return undefined;
  }
}

async function computeDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ByteStream } from '../../clients/typescript/index.ts';
import type { CommandSession } from './session.ts';

/** Writes a stream to standard output or a file. A file gets its final name when it is complete. */
export async function writeStream(
  { io, signal, write }: CommandSession,
  stream: ByteStream,
  output: string | undefined,
): Promise<void> {
  if (output === undefined || output === '-') {
    for await (const chunk of stream) await write(chunk);
    return;
  }
  const path = io.path(output);
  const part = `${path}.part`;
  await pipeline(Readable.from(stream, { objectMode: false }), createWriteStream(part), { signal });
  await rename(part, path);
}

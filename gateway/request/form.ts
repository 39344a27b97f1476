import type { IncomingHttpHeaders } from 'node:http';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { Fault } from '../../src/contract/fault.ts';

/** A part of a multipart form. */
export type FormPart = { kind: 'text'; text: string } | { kind: 'file'; bytes: Buffer };

const maxParts = 100;
const maxTextBytes = 64 * 1024;

/**
 * Reads a multipart/form-data body into its parts, by name in order of arrival; an empty one has
 * none. Throws `malformed` for a body that is not such a form, `too_large` for more than 100 parts,
 * and whatever `chunks` throws.
 */
export async function readForm(
  headers: IncomingHttpHeaders,
  chunks: AsyncIterable<Buffer>,
): Promise<Map<string, FormPart[]>> {
  const parts = new Map<string, FormPart[]>();
  const add = (name: string | undefined, part: FormPart) => {
    if (name === undefined) return;
    const siblings = parts.get(name);
    if (siblings === undefined) parts.set(name, [part]);
    else siblings.push(part);
  };
  const parser = openParser(headers);
  let fault: Fault | undefined;
  const fail = (cause: Fault) => {
    fault ??= cause;
  };
  parser.on('field', (name, text, _nameTruncated, isTruncated) => {
    if (isTruncated)
      fail(new Fault('too_large', `The form field ${name} is larger than ${maxTextBytes} bytes`));
    add(name, { kind: 'text', text });
  });
  parser.on('file', (name, stream) => {
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    // The parser itself reports a truncated file.
    stream.on('error', () => {});
    stream.on('end', () => add(name, { kind: 'file', bytes: Buffer.concat(pieces) }));
  });
  parser.on('partsLimit', () =>
    fail(new Fault('too_large', `The form has more than ${maxParts} parts.`)),
  );
  const ended = new Promise<void>((resolve) => {
    parser.on('error', (error) => {
      fail(
        new Fault('malformed', `The form cannot be read: ${(error as Error).message}`, {
          cause: error,
        }),
      );
      resolve();
    });
    parser.on('finish', resolve);
  });
  let isEmpty = true;
  for await (const chunk of chunks) {
    isEmpty &&= chunk.length === 0;
    if (fault !== undefined) break;
    if (!parser.write(chunk))
      await Promise.race([ended, new Promise((resolve) => parser.once('drain', resolve))]);
  }
  if (isEmpty) return parts;
  if (fault === undefined) {
    parser.end();
    await ended;
  } else parser.destroy();
  if (fault !== undefined) throw fault;
  return parts;
}

function openParser(headers: IncomingHttpHeaders): BusboyInstance {
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      limits: { parts: maxParts, fieldSize: maxTextBytes },
    });
  } catch (error) {
    throw new Fault('malformed', `The form cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

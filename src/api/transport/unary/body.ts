import { setImmediate } from 'node:timers/promises';
import type { DescMessage } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Compression } from '@connectrpc/connect/protocol';
import { compressionBrotli, compressionGzip } from '@connectrpc/connect-node';
import { bodyTooLarge, checkBinarySize, checkJsonSize } from '../../../contract/body-content.ts';
import { smallBodyBytes } from '../../../contract/body-limit.ts';
import { Fault } from '../../../contract/fault.ts';
import type { RpcRequest } from '../exchange.ts';
import { requireDecimals } from '../json-numerals.ts';
import type { UnaryForm } from './form.ts';

/** Encodings of messages. */
export const compressions = [compressionGzip, compressionBrotli];

export interface UnaryBodyOptions {
  form: UnaryForm;
  /** Encoding that the headers name. Null for none. */
  compression: Compression | null;
  /** Maximum message before and after decompression, in bytes. */
  limit: number;
  input: DescMessage;
  /**
   * Reserves memory for a body that is large or may become so; called before more than 64 KB are
   * held.
   */
  reserve(bytes: number): Promise<void>;
  /** Aborts when the client has left. */
  signal: AbortSignal;
}

/** Largest factor by which gzip shrinks data; a brotli body reserves the method's whole limit. */
const gzipFactor = 1032;

/** Bytes before a message of gRPC and gRPC-Web: flags and length. */
const prefixBytes = 5;

/**
 * Reads the message of a unary call, decompressed and checked, but not parsed. Throws Fault
 * `too_large`, `malformed`, and `invalid`, and the errors of the protocols for an envelope that is
 * not whole, or not the only one.
 */
export async function readMessage(
  request: RpcRequest,
  options: UnaryBodyOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const { form, compression } = options;
  const raw = await readAll(request, options);
  const { isEnveloped } = form.protocol;
  const message = isEnveloped ? messageIn(raw) : raw;
  const isCompressed = isEnveloped ? raw[0] === 1 : compression !== null;
  const decoded = isCompressed ? await decode(message, options) : message;
  await check(decoded, options);
  return decoded;
}

/** Returns the message of an envelope. */
function messageIn(raw: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  if (raw.length === 0) throw new ConnectError('The call has no message.', Code.Unimplemented);
  if (raw.length < prefixBytes || raw.length < prefixBytes + raw.readUInt32BE(1))
    throw new ConnectError('The message is cut short.', Code.InvalidArgument);
  return raw.subarray(prefixBytes);
}

/** Reads the next chunk of a body. Resolves with null at its end. */
type ReadChunk = () => Promise<Buffer<ArrayBuffer> | null>;

/**
 * Creates a reader of a request, which leaves the request open. The iterator of a stream costs as
 * much as the rest of a small call.
 *
 * It rejects with Fault `malformed` (unknown flags of an envelope) and `too_large` (its length),
 * with ConnectError `Unimplemented` (bytes after the first message), and if the client leaves.
 */
function createReader(request: RpcRequest, options: UnaryBodyOptions): ReadChunk {
  const { form, limit, signal } = options;
  const { isEnveloped } = form.protocol;
  const prefix = Buffer.alloc(isEnveloped ? prefixBytes : 0);
  let readBytes = 0;
  const checkEnvelope = (chunk: Buffer) => {
    if (readBytes < prefixBytes) prefix.set(chunk.subarray(0, prefixBytes - readBytes), readBytes);
    readBytes += chunk.length;
    const flags = prefix[0]!;
    if (flags > 1) throw new Fault('malformed', `Envelope flags ${flags} are not supported.`);
    const length = prefix.readUInt32BE(1);
    if (readBytes >= prefixBytes && length > limit) throw bodyTooLarge(limit);
    if (readBytes > prefixBytes + length)
      throw new ConnectError(
        'A unary call has one message; the body has more.',
        Code.Unimplemented,
      );
  };
  return async () => {
    for (;;) {
      signal.throwIfAborted();
      const chunk: Buffer<ArrayBuffer> | null = request.read();
      if (chunk !== null) {
        if (isEnveloped) checkEnvelope(chunk);
        return chunk;
      }
      if (request.readableEnded) return null;
      if (request.destroyed) throw new ConnectError('The body is not complete.', Code.Canceled);
      await untilReadable(request);
    }
  };
}

/** Resolves when a request has another chunk, has ended, or is closed. */
function untilReadable(request: RpcRequest): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      request.off('readable', wake).off('end', wake).off('close', wake);
      resolve();
    };
    request.on('readable', wake).on('end', wake).on('close', wake);
  });
}

/**
 * Reads a body as sent. Reserves the limit, or the declared length, once it turns out not to be
 * small. Throws `too_large`.
 */
async function readAll(
  request: RpcRequest,
  options: UnaryBodyOptions,
): Promise<Buffer<ArrayBuffer>> {
  const { limit, reserve } = options;
  const { headers } = request;
  const read = createReader(request, options);
  const maxBytes = limit + prefixBytes;
  const { 'content-length': length, 'content-encoding': encoding } = headers;
  if (length !== undefined && Number(length) > maxBytes) throw bodyTooLarge(limit);
  const largeBytes = length === undefined || encoding !== undefined ? limit : Number(length);
  const chunks: Buffer<ArrayBuffer>[] = [];
  let heldBytes = 0;
  let isReserved = false;
  for (let chunk = await read(); chunk !== null; chunk = await read()) {
    heldBytes += chunk.length;
    if (heldBytes > maxBytes) throw bodyTooLarge(limit);
    chunks.push(chunk);
    if (isReserved || heldBytes <= smallBodyBytes) continue;
    isReserved = true;
    await reserve(largeBytes);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

async function decode(
  bytes: Uint8Array<ArrayBuffer>,
  { compression, limit, reserve }: UnaryBodyOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  if (compression === null)
    throw new ConnectError('The message is compressed in no known way.', Code.Internal);
  const factor = compression.name === 'gzip' ? gzipFactor : limit;
  const largest = Math.min(limit, bytes.length * factor);
  if (bytes.length <= smallBodyBytes && largest > smallBodyBytes) await reserve(largest);
  try {
    return await compression.decompress(bytes, limit);
  } catch (error) {
    const connectError = ConnectError.from(error);
    throw connectError.code === Code.ResourceExhausted ? bodyTooLarge(limit) : connectError;
  }
}

async function check(bytes: Uint8Array, { form, input }: UnaryBodyOptions): Promise<void> {
  const isJson = !form.isBinary;
  if (bytes.length > smallBodyBytes) {
    // Large bodies are parsed one by one, with other work between them.
    await setImmediate();
    if (isJson) checkJsonSize(bytes);
    else checkBinarySize(bytes, input);
  }
  if (isJson) requireDecimals(bytes, input);
}

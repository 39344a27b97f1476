import { setImmediate } from 'node:timers/promises';
import type { DescMessage } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Compression } from '@connectrpc/connect/protocol';
import { bodyTooLarge, checkBinarySize, checkJsonSize } from '../../contract/body-content.ts';
import { smallBodyBytes } from '../../contract/body-limit.ts';
import { Fault } from '../../contract/fault.ts';
import type { RpcRequest } from './exchange.ts';
import { toConnectError } from './fault-detail.ts';
import { requireDecimals } from './json-numerals.ts';

export interface UnaryBodyOptions {
  /** Maximum body before and after decompression, in bytes. */
  limit: number;
  input: DescMessage;
  compressions: readonly Compression[];
  /**
   * Reserves memory for a body that is large or may become so; called before more than 64 KB are
   * held.
   */
  reserve(bytes: number): Promise<void>;
  /** Aborts when the client has left. */
  signal: AbortSignal;
}

/** Form of a body, from the headers of its request. */
interface BodyForm {
  isEnveloped: boolean;
  isJson: boolean;
  /**
   * Encoding of the message. Undefined if it is not compressed, or Connect reports that it is
   * unknown.
   */
  compression: Compression | undefined;
}

/** Largest factor by which gzip shrinks data; a brotli body reserves the method's whole limit. */
const gzipFactor = 1032;

/** Bytes before a message of gRPC and gRPC-Web: flags and length. */
const prefixBytes = 5;

/**
 * Returns the body of a unary call, which is read when Connect iterates it, after the caller was
 * authenticated. A body that is JSON or may be large is one chunk, decompressed and checked before
 * Connect parses it; `header` then describes the decompressed one.
 */
export function unaryBody(
  request: RpcRequest,
  header: Headers,
  options: UnaryBodyOptions,
): AsyncIterable<Uint8Array<ArrayBuffer>> {
  const contentType = header.get('content-type') ?? '';
  const isEnveloped = contentType.startsWith('application/grpc');
  const isJson = /[/+]json\b/.test(contentType);
  const read = createReader(request, isEnveloped, options.signal);
  if (options.limit <= smallBodyBytes && !isJson) return iterate(read);
  const encoding = header.get(isEnveloped ? 'grpc-encoding' : 'content-encoding');
  const compression = options.compressions.find(({ name }) => name === encoding);
  if (compression && !isEnveloped) header.delete('content-encoding');
  let isRead = false;
  return iterate(async () => {
    if (isRead) return null;
    isRead = true;
    const raw = await readAll(request, read, options);
    return checkBody(raw, { isEnveloped, isJson, compression }, options);
  });
}

/** Reads the next chunk of a body. Resolves with null at its end. */
type ReadChunk = () => Promise<Uint8Array<ArrayBuffer> | null>;

/** Returns an iterable of chunks, with the errors of Connect. */
function iterate(read: ReadChunk): AsyncIterable<Uint8Array<ArrayBuffer>> {
  const next = async (): Promise<IteratorResult<Uint8Array<ArrayBuffer>>> => {
    try {
      const value = await read();
      return value === null ? { done: true, value: undefined } : { done: false, value };
    } catch (error) {
      throw error instanceof Fault ? toConnectError(error) : error;
    }
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/**
 * Creates a reader of a request, which leaves the request open. The iterator of a stream costs as
 * much as the rest of a small call.
 *
 * It rejects with Fault `malformed` (unknown flags of an envelope), ConnectError `Unimplemented`
 * (bytes after the first message, which Connect would decompress and parse before it refuses the
 * call), and if the client leaves.
 */
function createReader(request: RpcRequest, isEnveloped: boolean, signal: AbortSignal): ReadChunk {
  const prefix = Buffer.alloc(isEnveloped ? prefixBytes : 0);
  let readBytes = 0;
  const checkEnvelope = (chunk: Buffer) => {
    if (readBytes < prefixBytes) prefix.set(chunk.subarray(0, prefixBytes - readBytes), readBytes);
    readBytes += chunk.length;
    const flags = prefix[0]!;
    if (flags > 1) throw new Fault('malformed', `Envelope flags ${flags} are not supported.`);
    if (readBytes > prefixBytes + prefix.readUInt32BE(1))
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
  { headers }: RpcRequest,
  read: ReadChunk,
  { limit, reserve }: UnaryBodyOptions,
): Promise<Buffer<ArrayBuffer>> {
  const maxBytes = limit + prefixBytes;
  const { 'content-length': length, 'content-encoding': encoding } = headers;
  if (length !== undefined && Number(length) > maxBytes) throw bodyTooLarge(limit);
  const largeBytes = length === undefined || encoding !== undefined ? limit : Number(length);
  const chunks: Uint8Array[] = [];
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
  return Buffer.concat(chunks);
}

/** Decompresses the message of a body, and checks it. */
async function checkBody(
  raw: Buffer<ArrayBuffer>,
  form: BodyForm,
  options: UnaryBodyOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!form.isEnveloped) {
    const decoded = await decode(raw, form, options);
    await check(decoded, form, options);
    return decoded;
  }
  // Connect reports a message that is cut short, without parsing it.
  if (raw.length < prefixBytes || raw.length < prefixBytes + raw.readUInt32BE(1)) return raw;
  const message = raw.subarray(prefixBytes);
  const isCompressed = raw[0] === 1 && form.compression !== undefined;
  const decoded = isCompressed ? await decode(message, form, options) : message;
  await check(decoded, form, options);
  if (!isCompressed) return raw;
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(decoded.length, 1);
  return Buffer.concat([prefix, decoded]);
}

async function decode(
  bytes: Uint8Array<ArrayBuffer>,
  { compression }: BodyForm,
  { limit, reserve }: UnaryBodyOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  if (compression === undefined) return bytes;
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

async function check(
  bytes: Uint8Array,
  { isJson }: BodyForm,
  { input }: UnaryBodyOptions,
): Promise<void> {
  if (bytes.length > smallBodyBytes) {
    // Large bodies are parsed one by one, with other work between them.
    await setImmediate();
    if (isJson) checkJsonSize(bytes);
    else checkBinarySize(bytes, input);
  }
  if (isJson) requireDecimals(bytes, input);
}

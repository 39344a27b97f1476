import { setImmediate } from 'node:timers/promises';
import type { DescMessage } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { type Compression, readAllBytes, type UniversalServerRequest } from '@connectrpc/connect/protocol';
import { bodyTooLarge, checkBinarySize, checkJsonSize } from '../../contract/body-content.ts';
import { smallBodyBytes } from '../../contract/body-limit.ts';
import { Fault } from '../../contract/fault.ts';
import { toConnectError } from './fault-detail.ts';
import { requireDecimals } from './json-numerals.ts';

export interface ScreenOptions {
  /** Maximum body before and after decompression, in bytes. */
  limit: number;
  input: DescMessage;
  compressions: readonly Compression[];
  /** Reserves memory for a body that is large or may become so; called before more than 64 KB are held. */
  reserve(bytes: number): Promise<void>;
}

/** Largest factor by which gzip shrinks data; a brotli body reserves the method's whole limit. */
const gzipFactor = 1032;

/** Bytes before a message of gRPC and gRPC-Web: flags and length. */
const prefixBytes = 5;

/**
 * Returns a unary request of one message. A body that is JSON or may be large is read, decompressed and
 * checked before Connect parses it. Nothing is read before Connect iterates the body, which is after the
 * caller was authenticated.
 */
export function screenBody(received: UniversalServerRequest, options: ScreenOptions): UniversalServerRequest {
  const contentType = received.header.get('content-type') ?? '';
  const isEnveloped = contentType.startsWith('application/grpc');
  const request = isEnveloped ? { ...received, body: readOneMessage(received) } : received;
  const isJson = /[/+]json\b/.test(contentType);
  return options.limit > smallBodyBytes || isJson
    ? screenContent(request, { ...options, isEnveloped, isJson })
    : request;
}

function screenContent(
  request: UniversalServerRequest,
  options: ScreenOptions & { isEnveloped: boolean; isJson: boolean },
): UniversalServerRequest {
  const { isEnveloped, isJson } = options;
  const check = async (bytes: Uint8Array) => {
    if (bytes.length > smallBodyBytes) {
      // Large bodies are parsed one by one, with other work between them.
      await setImmediate();
      if (isJson) checkJsonSize(bytes);
      else checkBinarySize(bytes, options.input);
    }
    if (isJson) requireDecimals(bytes, options.input);
  };
  const header = new Headers(request.header);
  const encoding = header.get(isEnveloped ? 'grpc-encoding' : 'content-encoding');
  const compression = options.compressions.find(({ name }) => name === encoding);
  if (compression && !isEnveloped) header.delete('content-encoding');
  header.delete('content-length');

  const decode = async (bytes: Uint8Array) => {
    if (compression === undefined) return bytes;
    const factor = compression.name === 'gzip' ? gzipFactor : options.limit;
    const largest = Math.min(options.limit, bytes.length * factor);
    if (bytes.length <= smallBodyBytes && largest > smallBodyBytes) await options.reserve(largest);
    return compression.decompress(bytes as Uint8Array<ArrayBuffer>, options.limit);
  };
  const body = async function* () {
    try {
      const raw = await readRaw(request, options);
      if (!isEnveloped) {
        const decoded = await decode(raw);
        await check(decoded);
        yield decoded;
        return;
      }
      const flags = raw[0] ?? 0;
      const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
      const end = prefixBytes + (raw.length < prefixBytes ? 0 : view.getUint32(1));
      // Connect reports a message that is cut short, without parsing it.
      const isWhole = raw.length === end;
      const message = raw.subarray(prefixBytes);
      const isCompressed = isWhole && flags === 1 && compression !== undefined;
      const decoded = isCompressed ? await decode(message) : message;
      if (isWhole) await check(decoded);
      if (!isCompressed) {
        yield raw;
        return;
      }
      const prefix = Buffer.alloc(prefixBytes);
      prefix.writeUInt32BE(decoded.length, 1);
      yield Buffer.concat([prefix, decoded]);
    } catch (error) {
      throw asError(error, options.limit);
    }
  };
  return { ...request, header, body: body() };
}

/**
 * Yields the body of an enveloped call.
 *
 * Throws: Fault `malformed` (unknown flags), ConnectError `Unimplemented` (bytes after the first message,
 * which Connect would decompress and parse before it refuses the call).
 */
async function* readOneMessage({ body }: UniversalServerRequest): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const prefix = Buffer.alloc(prefixBytes);
  let read = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    if (read < prefixBytes) prefix.set(chunk.subarray(0, prefixBytes - read), read);
    read += chunk.length;
    const [flags] = prefix;
    if (flags! > 1)
      throw toConnectError(new Fault('malformed', `Envelope flags ${flags} are not supported.`));
    if (read > prefixBytes + prefix.readUInt32BE(1))
      throw new ConnectError('A unary call has one message; the body has more.', Code.Unimplemented);
    yield chunk;
  }
}

/** Reads the body as sent. Reserves the limit, or the declared length, once it turns out not to be small. */
async function readRaw(
  { body, header }: UniversalServerRequest,
  { limit, reserve }: ScreenOptions,
): Promise<Uint8Array> {
  const declared = Number(header.get('content-length') ?? Number.NaN);
  if (declared > limit + prefixBytes) throw bodyTooLarge(limit);
  const isEncoded = header.has('content-encoding') || !Number.isInteger(declared);
  const large = isEncoded ? limit : declared;
  const chunks = async function* () {
    let held = 0;
    let isReserved = false;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      held += chunk.length;
      if (!isReserved && held > smallBodyBytes) {
        isReserved = true;
        await reserve(large);
      }
      yield chunk;
    }
  };
  return readAllBytes(chunks() as AsyncIterable<Uint8Array<ArrayBuffer>>, limit + prefixBytes, null);
}

function asError(error: unknown, limit: number): ConnectError {
  if (error instanceof Fault) return toConnectError(error);
  const known = ConnectError.from(error);
  return known.code === Code.ResourceExhausted ? toConnectError(bodyTooLarge(limit)) : known;
}

import type { OutgoingHttpHeaders } from 'node:http';
import type { JsonWriteOptions } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import {
  type Compression,
  type EnvelopedMessage,
  encodeEnvelopes,
  envelopeCompress,
} from '@connectrpc/connect/protocol';
import { codeToHttpStatus, errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import { grpcStatusOk, setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import { trailerFlag, trailerSerialize } from '@connectrpc/connect/protocol-grpc-web';
import type { UnaryContext } from './context.ts';
import type { UnaryForm, UnaryProtocol } from './form.ts';

/** Outcome of a unary call: a serialized message, or an error. */
export type UnaryOutcome = { message: Uint8Array<ArrayBuffer> } | { error: ConnectError };

/** HTTP response of a unary call. */
export interface WrittenResponse {
  status: number;
  headers: OutgoingHttpHeaders;
  body: Uint8Array;
  /** Trailers of HTTP, which only gRPC has. */
  trailers?: Readonly<Record<string, string>>;
}

export interface WriteOptions {
  context: UnaryContext;
  form: UnaryForm;
  /** Encoding that the client accepts. Null for none. */
  compression: Compression | null;
  json: Partial<JsonWriteOptions> | undefined;
}

type Write = (outcome: UnaryOutcome, options: WriteOptions) => Promise<WrittenResponse>;

/** Size from which messages are compressed, in bytes, as Connect does. */
const minCompressedBytes = 1024;

/** Headers of the protocols, which the metadata of an error does not set. */
const protocolHeaders: ReadonlySet<string> = new Set([
  'accept-encoding',
  'content-type',
  'content-length',
  'content-encoding',
  'date',
  'host',
  'trailer',
  'trailer-',
  'user-agent',
]);
const isOfProtocol = (name: string) => protocolHeaders.has(name) || /^(?:connect|grpc)-/.test(name);

const succeeded = { 'grpc-status': grpcStatusOk };
const succeededBytes = trailerSerialize(new Headers(succeeded));

const writers: Readonly<Record<UnaryProtocol['name'], Write>> = {
  async connect(outcome, { context, form, compression, json }) {
    const { header, trailer } = context.used;
    const error = 'error' in outcome ? outcome.error : null;
    const headers: OutgoingHttpHeaders = {
      'content-type': typeOf(error === null ? form : { ...form, isBinary: false }),
      ...entriesOf(header),
    };
    for (const [name, value] of trailer ?? []) headers[`trailer-${name}`] = value;
    for (const [name, value] of error?.metadata ?? []) {
      if (!isOfProtocol(name)) headers[name] = value;
    }
    let body = 'error' in outcome ? errorToJsonBytes(outcome.error, json) : outcome.message;
    if (compression !== null && body.length >= minCompressedBytes) {
      body = await compression.compress(body);
      headers['content-encoding'] = compression.name;
    }
    headers['content-length'] = body.length;
    return { status: error === null ? 200 : codeToHttpStatus(error.code), headers, body };
  },
  async grpc(outcome, options) {
    const body = await writeEnvelopes(messagesOf(outcome), options.compression);
    const trailers = trailersOf(outcome, options.context);
    return { status: 200, headers: envelopeHeaders(options), body, trailers };
  },
  async 'grpc-web'(outcome, options) {
    const trailers = trailersOf(outcome, options.context);
    const data = trailers === succeeded ? succeededBytes : trailerSerialize(new Headers(trailers));
    const envelopes = [...messagesOf(outcome), { flags: trailerFlag, data }];
    const body = await writeEnvelopes(envelopes, options.compression);
    return { status: 200, headers: envelopeHeaders(options), body };
  },
};

/** Returns the HTTP response in the form of the call. */
export const writeResponse: Write = (outcome, options) =>
  writers[options.form.protocol.name](outcome, options);

const typeOf = ({ protocol, isBinary }: UnaryForm) =>
  isBinary ? protocol.binaryType : protocol.jsonType;

const entriesOf = (headers: Headers | undefined) => headers && Object.fromEntries(headers);

/** Returns the headers of a response whose messages are in envelopes. */
const envelopeHeaders = ({ context, form, compression }: WriteOptions) => ({
  'content-type': typeOf(form),
  ...(compression && { [form.protocol.encodingHeader]: compression.name }),
  ...entriesOf(context.used.header),
});

function messagesOf(outcome: UnaryOutcome): EnvelopedMessage[] {
  if ('error' in outcome) return [];
  return [{ flags: 0, data: outcome.message }];
}

async function writeEnvelopes(
  envelopes: EnvelopedMessage[],
  compression: Compression | null,
): Promise<Uint8Array> {
  if (compression === null) return encodeEnvelopes(...envelopes);
  const compressed = envelopes.map((envelope) =>
    envelopeCompress(envelope, compression, minCompressedBytes),
  );
  return encodeEnvelopes(...(await Promise.all(compressed)));
}

/** Returns the trailers of gRPC: the status, and those that the handler has set. */
function trailersOf(outcome: UnaryOutcome, context: UnaryContext): Record<string, string> {
  const error = 'error' in outcome ? outcome.error : undefined;
  if (error === undefined && context.used.trailer === undefined) return succeeded;
  const trailer = context.responseTrailer;
  setTrailerStatus(trailer, error);
  encodeMessage(trailer);
  return Object.fromEntries(trailer);
}

/**
 * Encodes the message of a status as URIs are, which leaves colons and commas. The client of gRPC
 * for Node decodes no more than that; Connect encodes every sign.
 */
export function encodeMessage(trailer: Headers): void {
  const message = trailer.get('grpc-message');
  if (message !== null) trailer.set('grpc-message', encodeURI(decodeURIComponent(message)));
}

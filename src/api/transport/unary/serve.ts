import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  type Compression,
  compressionNegotiate,
  createDeadlineSignal,
  createLinkedAbortController,
  type Serialization,
} from '@connectrpc/connect/protocol';
import type { BodyBudget } from '../../../contract/body-budget.ts';
import { Fault } from '../../../contract/fault.ts';
import { recordCallError } from '../call-spans.ts';
import { headerOf } from '../exchange.ts';
import { toConnectError } from '../fault-detail.ts';
import type { ReceivedCall } from '../receive-call.ts';
import { compressions, readMessage } from './body.ts';
import { UnaryContext } from './context.ts';
import type { UnaryForm } from './form.ts';
import type { UnaryMethod } from './methods.ts';
import { type UnaryOutcome, type WrittenResponse, writeResponse } from './response.ts';

/** A received unary call. */
export interface UnaryCall extends ReceivedCall {
  form: UnaryForm;
  /** Memory for large bodies. */
  budget: BodyBudget;
}

/** What the headers of a call say about it. */
interface CallHeaders {
  timeoutMs: number | undefined;
  /** Encoding of the request's message, and of the response's. Null for none. */
  compression: { request: Compression | null; response: Compression | null };
  /** Error of the encoding or of the timeout. */
  error: ConnectError | undefined;
}

function readHeaders({ exchange, form }: UnaryCall): CallHeaders {
  const { encodingHeader, acceptEncodingHeader, timeoutHeader, parseTimeout } = form.protocol;
  const header = (name: string) => headerOf(exchange.request, name) ?? null;
  const timeout = parseTimeout(header(timeoutHeader), Number.MAX_SAFE_INTEGER);
  const encoding = header(encodingHeader);
  const accepted = header(acceptEncodingHeader);
  const compression = compressionNegotiate(compressions, encoding, accepted, acceptEncodingHeader);
  return {
    timeoutMs: timeout.timeoutMs,
    compression,
    error: compression.error ?? timeout.error,
  };
}

/**
 * Performs a unary call of Connect, gRPC, or gRPC-Web, and returns its response. Connect's own
 * handlers take longer for the iterators and headers of a call than for everything else
 * (docs/performance.md).
 */
export async function performUnary(unary: UnaryMethod, call: UnaryCall): Promise<WrittenResponse> {
  const { form } = call;
  const headers = readHeaders(call);
  const { signal, clear } = withDeadline(call.signal, headers.timeoutMs);
  const { timeoutMs } = headers;
  const context = new UnaryContext({ ...call, method: unary.method, signal, timeoutMs });
  let outcome: UnaryOutcome;
  try {
    outcome = { message: await callHandler(unary, call, headers, context) };
  } catch (thrown) {
    outcome = { error: recordCallError(context, errorOf(thrown)) };
  } finally {
    clear();
  }
  const compression = headers.compression.response;
  return writeResponse(outcome, { context, form, compression, json: unary.json });
}

/** Admits the caller, reads the message, calls the handler, and returns its serialized response. */
async function callHandler(
  { gate, method, limit, serialization, handle }: UnaryMethod,
  call: UnaryCall,
  { compression, error }: CallHeaders,
  context: UnaryContext,
): Promise<Uint8Array<ArrayBuffer>> {
  await gate?.(context);
  if (error !== undefined) throw error;
  const { exchange, form, budget } = call;
  const { signal } = context;
  using memory = new DisposableStack();
  const body = await readMessage(exchange.request, {
    form,
    compression: compression.request,
    limit,
    input: method.input,
    reserve: async (bytes) => {
      memory.defer(await budget.reserve(exchange.userId, bytes, signal));
    },
    signal,
  });
  const input = parse(serialization.getI(form.isBinary), body);
  const output = create(method.output, await handle(input, context));
  return serialization.getO(form.isBinary).serialize(output);
}

/**
 * Parses a message. Throws Fault `malformed`, where Connect takes bytes that are no message for an
 * error of the service.
 */
function parse<T>(format: Serialization<T>, body: Uint8Array): T {
  try {
    return format.parse(body);
  } catch (error) {
    throw new Fault('malformed', ConnectError.from(error).rawMessage);
  }
}

/** Returns the error of a call for its client, who learns nothing of other errors. */
function errorOf(thrown: unknown): ConnectError {
  if (thrown instanceof ConnectError) return thrown;
  if (thrown instanceof Fault) return toConnectError(thrown);
  return new ConnectError('internal error', Code.Internal, undefined, undefined, thrown);
}

/** Returns a signal that aborts with another one, and after a timeout in milliseconds. */
function withDeadline(
  signal: AbortSignal,
  timeoutMs: number | undefined,
): { signal: AbortSignal; clear(): void } {
  if (timeoutMs === undefined) return { signal, clear: () => {} };
  const deadline = createDeadlineSignal(timeoutMs);
  return {
    signal: createLinkedAbortController(deadline.signal, signal).signal,
    clear: deadline.cleanup,
  };
}

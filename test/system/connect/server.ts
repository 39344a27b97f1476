// The server that the Connect conformance runner tests: its service on the listeners of this
// product. Parameter: a file with the descriptors of the runner's protos. Input: a
// ServerCompatRequest. Output: its response.
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import {
  create,
  createFileRegistry,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type Message,
  toBinary,
} from '@bufbuild/protobuf';
import { anyPack, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import {
  type Code,
  ConnectError,
  type ConnectRouter,
  type HandlerContext,
} from '@connectrpc/connect';
import { startServer } from '../../../src/api/rest/server.ts';
import { createRpcListener } from '../../../src/api/transport/adapter.ts';
import { exchangeOf } from '../../../src/api/transport/exchange.ts';
import { createRequestGate } from '../../../src/api/transport/request-gate.ts';
import { listen } from '../../../src/api/transport/server.ts';
import { createBodyBudget } from '../../../src/contract/body-budget.ts';

const descriptors = fromBinary(FileDescriptorSetSchema, readFileSync(process.argv[2]!));
const registry = createFileRegistry(descriptors);
const named = (name: string) => `connectrpc.conformance.v1.${name}`;
const messageOf = (name: string): DescMessage => registry.getMessage(named(name))!;
const service = registry.getService(named('ConformanceService'))!;
const requestInfo = messageOf('ConformancePayload.RequestInfo');

interface Header {
  name: string;
  value: string[];
}

/** Definition of a response, for unary calls and for streams. */
interface Definition {
  responseHeaders: Header[];
  responseTrailers: Header[];
  responseDelayMs: number;
  /** The response of a unary call. */
  response?: { case?: 'responseData' | 'error'; value?: Uint8Array | DefinedError };
  /** The responses of a stream, and the error after them. */
  responseData?: Uint8Array[];
  error?: DefinedError;
}

interface DefinedError {
  code: Code;
  message?: string;
  details: { typeUrl: string; value: Uint8Array }[];
}

type Request = Message & { responseDefinition?: Definition; fullDuplex?: boolean };

function headersOf(headers: Iterable<[string, string]>): Header[] {
  return [...headers].map(([name, value]) => ({ name, value: [value] }));
}

/** Describes the requests of a call, which responses echo. */
function infoOf(context: HandlerContext, method: DescMethod, requests: readonly Request[]) {
  const timeoutMs = context.timeoutMs();
  const isGet = context.requestMethod === 'GET';
  const queryParams = headersOf(new URL(context.url).searchParams);
  return create(requestInfo, {
    requestHeaders: headersOf(
      Object.entries(exchangeOf(context).request.headers) as [string, string][],
    ),
    ...(timeoutMs === undefined ? {} : { timeoutMs: BigInt(Math.round(timeoutMs)) }),
    requests: requests.map((request) => anyPack(method.input, request)),
    ...(isGet ? { connectGetInfo: { queryParams } } : {}),
  });
}

/** Sets the headers and trailers of a response. */
function sendHeaders(context: HandlerContext, definition: Definition | undefined): void {
  for (const [target, headers] of [
    [context.responseHeader, definition?.responseHeaders],
    [context.responseTrailer, definition?.responseTrailers],
  ] as const)
    for (const { name, value } of headers ?? []) for (const one of value) target.append(name, one);
}

/**
 * Creates a defined error. Errors without an earlier response echo the requests in their details.
 */
function errorOf(
  { code, message, details }: DefinedError,
  info: ReturnType<typeof infoOf> | null,
): ConnectError {
  const error = new ConnectError(message ?? '', code);
  error.details = [
    ...details.map(({ typeUrl, value }) => ({ type: typeUrl.split('/').at(-1)!, value })),
    ...(info === null ? [] : [{ type: requestInfo.typeName, value: toBinary(requestInfo, info) }]),
  ];
  return error;
}

const unary = (method: DescMethod) => async (request: Request, context: HandlerContext) =>
  respond(method, [request], context);

/** Responds once to the requests of a unary call, or of a client's stream. */
async function respond(method: DescMethod, requests: readonly Request[], context: HandlerContext) {
  const definition = requests[0]?.responseDefinition;
  const info = infoOf(context, method, requests);
  sendHeaders(context, definition);
  await setTimeout(definition?.responseDelayMs ?? 0);
  const { case: kind, value } = definition?.response ?? {};
  if (kind === 'error') throw errorOf(value as DefinedError, info);
  return { payload: { requestInfo: info, ...(kind === 'responseData' ? { data: value } : {}) } };
}

/**
 * Sends the responses of a definition from `first` on. The first response of all echoes the
 * requests.
 */
async function* stream(
  definition: Definition | undefined,
  info: ReturnType<typeof infoOf>,
  first = 0,
): AsyncGenerator<object> {
  for (const [index, data] of (definition?.responseData ?? []).entries()) {
    if (index < first) continue;
    await setTimeout(definition?.responseDelayMs ?? 0);
    yield { payload: { data, ...(index === 0 ? { requestInfo: info } : {}) } };
  }
  if (definition?.error)
    throw errorOf(definition.error, definition.responseData?.length ? null : info);
}

async function* serverStream(request: Request, context: HandlerContext) {
  sendHeaders(context, request.responseDefinition);
  yield* stream(
    request.responseDefinition,
    infoOf(context, service.method.serverStream!, [request]),
  );
}

async function clientStream(requests: AsyncIterable<Request>, context: HandlerContext) {
  return respond(service.method.clientStream!, await Array.fromAsync(requests), context);
}

async function* bidiStream(requests: AsyncIterable<Request>, context: HandlerContext) {
  const method = service.method.bidiStream!;
  const read: Request[] = [];
  let sent = 0;
  for await (const request of requests) {
    read.push(request);
    const [first] = read;
    const definition = first!.responseDefinition;
    if (read.length === 1) sendHeaders(context, definition);
    if (!first!.fullDuplex) continue;
    const data = definition?.responseData?.[sent];
    if (data === undefined) break;
    await setTimeout(definition?.responseDelayMs ?? 0);
    yield { payload: { data, requestInfo: infoOf(context, method, [request]) } };
    sent++;
  }
  yield* stream(read[0]?.responseDefinition, infoOf(context, method, read), sent);
}

/** Reads a message after its length, four bytes in big-endian order. */
async function readSized(schema: DescMessage): Promise<Message & Record<string, unknown>> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of process.stdin) {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32BE()) break;
  }
  return fromBinary(schema, bytes.subarray(4, 4 + bytes.readUInt32BE())) as never;
}

const requestGate = createRequestGate(
  async () => 'anybody',
  (_context, error) => ConnectError.from(error),
);
const { httpVersion, messageReceiveLimit } = await readSized(messageOf('ServerCompatRequest'));
const routes = (router: ConnectRouter) =>
  router.service(
    service,
    {
      unary: unary(service.method.unary!),
      idempotentUnary: unary(service.method.idempotentUnary!),
      serverStream,
      clientStream,
      bidiStream,
    } as never,
    {
      jsonOptions: { registry },
      readMaxBytes: Number(messageReceiveLimit) || 0xffffffff,
      requestGate,
    },
  );
const listener = createRpcListener(routes, createBodyBudget());
const isHttp2 = httpVersion === 2;
const { port } = isHttp2
  ? await listen(listener, '127.0.0.1', 0)
  : await startServer(listener, 0, '127.0.0.1');
const responseSchema = messageOf('ServerCompatResponse');
const response = toBinary(
  responseSchema,
  create(responseSchema, { host: '127.0.0.1', port } as never),
);
const size = Buffer.alloc(4);
size.writeUInt32BE(response.length);
process.stdout.write(Buffer.concat([size, response]));

import {
  type DescMethod,
  fromJson,
  getOption,
  type JsonObject,
  type JsonValue,
  type Message,
  toJson,
} from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { type Fault, FaultSchema } from '../../gen/gleaner/fault/v1/fault_pb.ts';
import { json as jsonOption } from '../../gen/gleaner/options/v1/options_pb.ts';
import type { CallerName, FilePart, Request } from './table.ts';

/** A gRPC response: a message as JSON with proto names, or an error with its detail. */
export type RpcResponse =
  | { code: 'ok'; message: JsonObject }
  | { code: string; words: string; fault: RpcFault | null };

/** The Fault detail of an error in plain values. */
export interface RpcFault {
  code: string;
  /** Locations and types. */
  problems: [(string | number)[], string][];
  quota: { required: number; current: number; shortfall: number } | null;
}

/** Calls a method of the core. */
export type RpcCaller = (
  method: DescMethod,
  caller: CallerName,
  request: Message,
  options?: Request['options'],
) => Promise<RpcResponse>;

/** Returns the metadata of an option of a submission. */
export const metadataOf = (option: string) => `gleaner-${option.replaceAll('_', '-')}`;

const deadlineMs = 10_000;

/** Creates a gRPC caller. */
export function createRpcCaller(
  baseUrl: string,
  keys: Readonly<Record<CallerName, string | null>>,
): RpcCaller {
  const transport = createGrpcTransport({ baseUrl });
  return async (method, caller, request, options = {}) => {
    const key = keys[caller];
    const headers = new Headers(key === null ? {} : { authorization: `Bearer ${key}` });
    for (const [name, value] of Object.entries(options)) headers.set(metadataOf(name), value);
    try {
      if (method.methodKind !== 'unary') return await streamed(transport, method, headers, request);
      const { message } = await transport.unary(
        method as never,
        undefined,
        deadlineMs,
        headers,
        request as never,
      );
      return { code: 'ok', message: shown(method, message) };
    } catch (error) {
      const failure = ConnectError.from(error);
      const [fault] = failure.findDetails(FaultSchema);
      return {
        code: Code[failure.code]!,
        words: failure.rawMessage,
        fault: fault === undefined ? null : plain(fault),
      };
    }
  };
}

function plain({ code, problems, quota }: Fault): RpcFault {
  return {
    code,
    problems: problems.map(({ location, type }) => [location.map(({ step }) => step.value!), type]),
    quota: quota
      ? {
          required: Number(quota.required),
          current: Number(quota.current),
          shortfall: Number(quota.shortfall),
        }
      : null,
  };
}

async function streamed(
  transport: ReturnType<typeof createGrpcTransport>,
  method: DescMethod,
  headers: Headers,
  request: Message,
): Promise<RpcResponse> {
  const messages = (async function* () {
    yield request;
  })();
  const response = await transport.stream(
    method as never,
    undefined,
    deadlineMs,
    headers,
    messages as never,
  );
  const chunks: Uint8Array[] = [];
  for await (const part of response.message as AsyncIterable<Message & { data: Uint8Array }>)
    chunks.push(part.data);
  return { code: 'ok', message: JSON.parse(Buffer.concat(chunks).toString('utf8')) as JsonObject };
}

function shown(method: DescMethod, message: unknown): JsonObject {
  const options = { useProtoFieldName: true, alwaysEmitImplicit: true };
  return toJson(method.output, message as Message, options) as JsonObject;
}

/** Converts a request to the method's message. Returns null if a message cannot express it. */
export function messageOf(
  method: DescMethod,
  { params = {}, body, raw, form }: Request,
  fill: (text: string) => string,
): Message | null {
  if (raw !== undefined) return null;
  const json: JsonObject = { ...(body as JsonObject), ...formJson(form), ...params };
  // Messages have JSON as its text.
  for (const { name } of method.input.fields.filter((field) => getOption(field, jsonOption)))
    if (typeof json[name] === 'object') json[name] = JSON.stringify(json[name]);
  try {
    return fromJson(method.input, JSON.parse(fill(JSON.stringify(json))), {
      ignoreUnknownFields: true,
    });
  } catch {
    return null;
  }
}

function formJson(form: Request['form'] = {}): JsonObject {
  const entries = Object.entries(form).map(([name, part]): [string, JsonValue] => [
    name,
    partJson(part),
  ]);
  return Object.fromEntries(entries);
}

function partJson(part: string | FilePart): JsonValue {
  if (typeof part !== 'string') return Buffer.from(part.file as string).toString('base64');
  return part === 'true' || part === 'false' ? part === 'true' : part;
}

import { create, type JsonObject, type Registry, toJson } from '@bufbuild/protobuf';
import { base64Encode } from '@bufbuild/protobuf/wire';
import { type Any, AnySchema, anyPack } from '@bufbuild/protobuf/wkt';
import { BadRequestSchema } from '../../gen/google/rpc/error_details_pb.ts';
import { Fault, type FaultCode, fieldPath } from '../../src/contract/fault.ts';
import { faultStatuses } from '../../src/contract/fault-status.ts';
import type { ErrorResponse } from '../response/errors.ts';

/** Names of google.rpc.Code, their HTTP statuses, and the faults that stand for them, by number. */
const codes: Readonly<Record<number, readonly [name: string, status: number, fault: FaultCode]>> = {
  1: ['CANCELLED', 499, 'conflict'],
  2: ['UNKNOWN', 500, 'internal'],
  3: ['INVALID_ARGUMENT', 400, 'invalid'],
  4: ['DEADLINE_EXCEEDED', 504, 'unavailable'],
  5: ['NOT_FOUND', 404, 'not_found'],
  6: ['ALREADY_EXISTS', 409, 'conflict'],
  7: ['PERMISSION_DENIED', 403, 'forbidden'],
  8: ['RESOURCE_EXHAUSTED', 429, 'rate_limited'],
  9: ['FAILED_PRECONDITION', 400, 'conflict'],
  10: ['ABORTED', 409, 'conflict'],
  11: ['OUT_OF_RANGE', 400, 'invalid'],
  12: ['UNIMPLEMENTED', 501, 'not_found'],
  13: ['INTERNAL', 500, 'internal'],
  14: ['UNAVAILABLE', 503, 'unavailable'],
  15: ['DATA_LOSS', 500, 'internal'],
  16: ['UNAUTHENTICATED', 401, 'unauthenticated'],
};

/** Codes of faults by HTTP status. */
const codeOfStatus: Readonly<Record<number, number>> = {
  ...{ 400: 3, 401: 16, 402: 9, 403: 7, 404: 5, 409: 10, 410: 5 },
  ...{ 413: 3, 415: 3, 422: 3, 429: 8, 500: 13, 502: 14, 503: 14 },
};

/** Error of a call: a google.rpc.Status. `code` of the status is `grpcCode`. */
export class StatusError extends Fault {
  readonly grpcCode: number;
  readonly statusDetails: readonly Any[];

  /** `grpcCode` is a number of google.rpc.Code; an unknown one becomes UNKNOWN. */
  constructor(grpcCode: number, message: string, details: readonly Any[] = [], cause?: unknown) {
    const code = codes[grpcCode] === undefined ? 2 : grpcCode;
    super(codes[code]![2], message, { cause });
    this.grpcCode = code;
    this.statusDetails = details;
  }
}

/** Shape of ConnectError. Several copies of the class may be installed. */
interface ConnectErrorLike extends Error {
  code: number;
  rawMessage: string;
  details: { type?: string; value?: Uint8Array }[];
}

/** Returns the fault of a thrown value; a ConnectError becomes a StatusError. */
export function faultOf(thrown: unknown): Fault {
  if (!(thrown instanceof Error) || thrown instanceof Fault) return Fault.from(thrown);
  const { code, rawMessage, details } = thrown as Partial<ConnectErrorLike>;
  if (typeof code !== 'number' || rawMessage === undefined) return Fault.from(thrown);
  const packed = (details ?? []).flatMap(({ type, value }) =>
    type !== undefined && value instanceof Uint8Array
      ? [create(AnySchema, { typeUrl: `type.googleapis.com/${type}`, value })]
      : [],
  );
  return new StatusError(code, rawMessage, packed, thrown);
}

/** Returns the HTTP response of a fault, with the JSON form of google.rpc.Status. */
export function statusResponse(fault: Fault, registry: Registry | undefined): ErrorResponse {
  const isStatus = fault instanceof StatusError;
  const known = isStatus ? undefined : faultStatuses[fault.code];
  const code = isStatus ? fault.grpcCode : (codeOfStatus[known!] ?? 2);
  const [name, mapped] = codes[code]!;
  // The size and media type of a body have statuses of HTTP.
  const status = known === 413 || known === 415 ? known : mapped;
  const headers: Record<string, string> = { ...fault.headers };
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (fault.retryAfterMs !== undefined)
    headers['retry-after'] = String(Math.max(1, Math.ceil(fault.retryAfterMs / 1000)));
  const message = !isStatus && fault.code === 'internal' ? 'Internal error' : fault.clientMessage;
  const details = detailsOf(fault).map((detail) => detailJson(detail, registry));
  return { status, headers, body: statusBody(status, message, name, details) };
}

/** Returns the JSON text of an error. */
export function statusBody(
  code: number,
  message: string,
  status: string,
  details: JsonObject[] = [],
): string {
  return JSON.stringify({ error: { code, message, status, ...(details.length > 0 ? { details } : {}) } });
}

function detailsOf(fault: Fault): readonly Any[] {
  if (fault instanceof StatusError) return fault.statusDetails;
  if (fault.problems.length === 0) return [];
  const fieldViolations = fault.problems.map(({ loc, msg }) => ({ field: fieldPath(loc), description: msg }));
  return [anyPack(BadRequestSchema, create(BadRequestSchema, { fieldViolations }))];
}

function detailJson(detail: Any, registry: Registry | undefined): JsonObject {
  try {
    return toJson(AnySchema, detail, { registry }) as JsonObject;
  } catch {
    // A type that the registry lacks.
    return { '@type': detail.typeUrl, value: base64Encode(detail.value) };
  }
}

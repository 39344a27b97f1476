import { fromBinary } from '@bufbuild/protobuf';
import { base64Decode } from '@bufbuild/protobuf/wire';
import { ConnectError } from '@connectrpc/connect';
import { codeToHttpStatus } from '@connectrpc/connect/protocol-connect';
import {
  type FaultCode,
  type Problem,
  type Quota,
  summarizeProblems,
} from '../../src/contract/fault.ts';
import { detailParts, FaultSchema } from '../../src/contract/fault-detail.ts';
import { faultStatuses } from '../../src/contract/fault-status.ts';

/** One problem of an invalid request, in FastAPI's terms. */
export type FieldProblem = Problem;

/** Properties from which a GleanerError is constructed. */
export interface ErrorParts {
  status: number;
  detail: string;
  code?: string;
  problems?: readonly FieldProblem[];
  quota?: Quota;
  retryAfterMs?: number;
  requestId?: string | undefined;
  cause?: unknown;
}

/** Failure of a call: an error response of the service, or none (`status` 0). */
export class GleanerError extends Error {
  /**
   * HTTP status; 0 without a response; -1 for a response or a file that is not as the contract
   * says.
   */
  readonly status: number;
  /** Code of the error: see docs/faults.md. Undefined if the response has none. */
  readonly code: string | undefined;
  /** Message of the service. */
  readonly detail: string;
  /** Every problem of an invalid request (422), up to 100. */
  readonly problems: readonly FieldProblem[];
  /** Cost of the work in credits, with 402. */
  readonly required: number | undefined;
  /** Balance of the account in credits, with 402. */
  readonly current: number | undefined;
  /** Credits short of the cost. Set for status 402. */
  readonly shortfall: number | undefined;
  /** Retry delay requested by the service, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Id of the request in the service's log. */
  readonly requestId: string | undefined;

  constructor({
    status,
    code,
    detail,
    problems = [],
    quota,
    retryAfterMs,
    requestId,
    cause,
  }: ErrorParts) {
    super(detail, cause === undefined ? {} : { cause });
    this.name = 'GleanerError';
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.problems = problems;
    this.required = quota?.required;
    this.current = quota?.current;
    this.shortfall = quota && quota.required - quota.current;
    this.retryAfterMs = retryAfterMs;
    this.requestId = requestId;
  }

  /** Messages by field: `items.3.item_id`; a problem of the whole request by `body`. */
  get fields(): ReadonlyMap<string, readonly string[]> {
    const fields = new Map<string, string[]>();
    for (const { loc, msg } of this.problems) {
      const field = (loc.length > 1 ? loc.slice(1) : loc).join('.');
      fields.set(field, [...(fields.get(field) ?? []), msg]);
    }
    return fields;
  }
}

/** Reads the body of an error response, of REST or of Connect. Never throws for its contents. */
export async function errorOf(response: Response): Promise<GleanerError> {
  const { status, headers } = response;
  const text = await response.text().catch(() => '');
  let body: Record<string, unknown>;
  try {
    body = { ...(JSON.parse(text) as object) };
  } catch {
    // The page of a proxy: its first line describes the error.
    body = { detail: text.trim().split('\n', 1)[0]!.slice(0, 200) };
  }
  const after = headers.get('retry-after');
  const requestId = headers.get('x-request-id');
  return new GleanerError({
    ...(typeof body.message === 'string' ? ofConnect(status, body) : ofRest(status, body)),
    ...(after !== null && /^\d+$/.test(after) ? { retryAfterMs: Number(after) * 1000 } : {}),
    ...(requestId === null ? {} : { requestId }),
  });
}

/**
 * Returns the error of a failed unary RPC; `status` -1 for a response that is not as the contract
 * says.
 */
export function errorOfUnary(thrown: unknown, method: string): GleanerError {
  const gleanerError = reportedError(thrown);
  if (gleanerError !== undefined) return gleanerError;
  const detail = `${method}: the response is not as the contract says: ${ConnectError.from(thrown).rawMessage}`;
  return new GleanerError({ status: -1, detail, cause: thrown });
}

/**
 * Returns the error of a failed streaming RPC: the one that ended the stream, otherwise a broken
 * connection.
 */
export function errorOfStream(thrown: unknown): GleanerError {
  return reportedError(thrown) ?? brokenConnection(thrown);
}

/** Returns the error of a connection that broke while a response was read. */
export function brokenConnection(thrown: unknown): GleanerError {
  const detail = `the connection broke: ${reasonOf(thrown)}`;
  return new GleanerError({ status: 0, detail, cause: thrown });
}

/** Returns the reason of a failed fetch, which keeps it as the cause of "fetch failed". */
export function reasonOf(error: unknown): string {
  const cause = (error as { cause?: unknown }).cause ?? error;
  const { message, code } = cause as { message?: string; code?: string };
  return message || code || String(cause);
}

/** Returns the error that the service, or the connection, reported. */
function reportedError(thrown: unknown): GleanerError | undefined {
  const error = ConnectError.from(thrown);
  for (const gleanerError of [thrown, error.cause])
    if (gleanerError instanceof GleanerError) return gleanerError;
  if (!error.isWireError) return undefined;
  const [fault] = error.findDetails(FaultSchema);
  const status = codeToHttpStatus(error.code);
  const requestId = error.metadata.get('x-request-id');
  return new GleanerError({
    ...(fault ? partsOf(status, error.rawMessage, fault) : { status, detail: error.rawMessage }),
    ...(requestId === null ? {} : { requestId }),
    cause: thrown,
  });
}

function ofRest(status: number, body: Record<string, unknown>): ErrorParts {
  const { detail, code, required, current } = body;
  if (Array.isArray(detail)) {
    const problems = detail as FieldProblem[];
    return { status, code: 'invalid', detail: summarizeProblems(problems), problems };
  }
  return {
    status,
    ...(typeof code === 'string' ? { code } : {}),
    detail: typeof detail === 'string' && detail !== '' ? detail : `HTTP status ${status}`,
    ...(typeof required === 'number' && typeof current === 'number'
      ? { quota: { required, current } }
      : {}),
  };
}

function ofConnect(
  status: number,
  { message, code, details }: Record<string, unknown>,
): ErrorParts {
  const found = Array.isArray(details)
    ? (details as { type?: unknown; value?: unknown }[]).find(
        ({ type }) => type === FaultSchema.typeName,
      )
    : undefined;
  if (typeof found?.value !== 'string')
    return { status, code: String(code), detail: String(message) };
  return partsOf(status, String(message), fromBinary(FaultSchema, base64Decode(found.value)));
}

function partsOf(
  status: number,
  detail: string,
  fault: Parameters<typeof detailParts>[0],
): ErrorParts {
  const { code } = fault;
  // Connect has fewer statuses than REST.
  return {
    status: faultStatuses[code as FaultCode] ?? status,
    code,
    detail,
    ...detailParts(fault),
  };
}

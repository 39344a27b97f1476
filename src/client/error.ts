import { fromBinary } from '@bufbuild/protobuf';
import { base64Decode } from '@bufbuild/protobuf/wire';
import { FaultSchema } from '../../gen/gleaner/fault/v1/fault_pb.ts';
import { isObject } from '../base/json.ts';

/** One problem of a refused request, as FastAPI writes it. */
export interface FieldProblem {
  /** First `body`, `path`, `query` or `header`, then names and indexes. */
  loc: readonly (string | number)[];
  /** What is wrong, naming the value. */
  msg: string;
  /** `missing`, `string_type`, `too_long`, … */
  type: string;
}

/** What a GleanerError is made of. */
export interface ErrorParts {
  status: number;
  detail: string;
  problems?: readonly FieldProblem[];
  quota?: { required: number; current: number; shortfall: number };
  retryAfterMs?: number;
  requestId?: string;
  cause?: unknown;
}

/** What a call failed of: an answer of the service, or none (`status` 0). */
export class GleanerError extends Error {
  /** HTTP status; 0 when no answer came; -1 when an answer or a file was not what it should be. */
  readonly status: number;
  /** What is wrong, in words. */
  readonly detail: string;
  /** Every problem of a refused request (422), up to 100. */
  readonly problems: readonly FieldProblem[];
  /** Credits that the work costs, with 402. */
  readonly required: number | undefined;
  /** Credits on the account, with 402. */
  readonly current: number | undefined;
  /** Credits that are missing, with 402. */
  readonly shortfall: number | undefined;
  /** Milliseconds after which a try makes sense, where the service said so. */
  readonly retryAfterMs: number | undefined;
  /** Id under which the service's log has the request. */
  readonly requestId: string | undefined;

  constructor({ status, detail, problems = [], quota, retryAfterMs, requestId, cause }: ErrorParts) {
    super(detail, cause === undefined ? {} : { cause });
    this.name = 'GleanerError';
    this.status = status;
    this.detail = detail;
    this.problems = problems;
    this.required = quota?.required;
    this.current = quota?.current;
    this.shortfall = quota?.shortfall;
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

/** The error of an answer that is not 2xx. Reads the body; never throws for what is in it. */
export async function errorOf(response: Response): Promise<GleanerError> {
  const text = await response.text().catch(() => '');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy's own page: its first line has to do.
    body = { detail: text.trim().split('\n', 1)[0]!.slice(0, 200) };
  }
  const after = response.headers.get('retry-after');
  const requestId = response.headers.get('x-request-id');
  const given = isObject(body) ? body : {};
  return new GleanerError({
    ...(typeof given.code === 'string' ? ofConnect(response.status, given) : ofRest(response.status, given)),
    ...(after !== null && /^\d+$/.test(after) ? { retryAfterMs: Number(after) * 1000 } : {}),
    ...(requestId === null ? {} : { requestId }),
  });
}

function ofRest(status: number, body: Record<string, unknown>): ErrorParts {
  const { detail, required, current, shortfall } = body;
  if (Array.isArray(detail)) {
    const problems = detail.filter(isObject) as unknown as FieldProblem[];
    return { status, detail: summary(problems), problems };
  }
  return {
    status,
    detail: typeof detail === 'string' && detail !== '' ? detail : `HTTP status ${status}`,
    ...(typeof shortfall === 'number'
      ? { quota: { required: Number(required), current: Number(current), shortfall } }
      : {}),
  };
}

/** REST statuses of codes that Connect's own statuses do not tell apart. */
const statuses: Readonly<Record<string, number>> = {
  insufficient_credits: 402,
  forbidden: 403,
  conflict: 409,
  too_large: 413,
  invalid: 422,
};

function ofConnect(status: number, body: Record<string, unknown>): ErrorParts {
  const detail = typeof body.message === 'string' ? body.message : String(body.code);
  const details = Array.isArray(body.details) ? body.details.filter(isObject) : [];
  const found = details.find(({ type }) => type === FaultSchema.typeName);
  if (typeof found?.value !== 'string') return { status, detail };
  const { code, problems, quota, retryAfterSeconds } = fromBinary(FaultSchema, base64Decode(found.value));
  const listed = problems.map(({ location, message, type }) => ({
    loc: location.map(({ step }) => step.value ?? ''),
    msg: message,
    type,
  }));
  return {
    status: statuses[code] ?? status,
    detail: listed.length > 0 ? summary(listed) : detail,
    problems: listed,
    ...(retryAfterSeconds > 0 ? { retryAfterMs: retryAfterSeconds * 1000 } : {}),
    ...(quota === undefined
      ? {}
      : {
          quota: {
            required: Number(quota.required),
            current: Number(quota.current),
            shortfall: Number(quota.shortfall),
          },
        }),
  };
}

function summary(problems: readonly FieldProblem[]): string {
  const [first] = problems;
  if (first === undefined) return 'The request is not valid';
  const more = problems.length === 1 ? '' : `, and ${problems.length - 1} more`;
  return `${first.loc.slice(1).join('.') || first.loc[0]}: ${first.msg}${more}`;
}

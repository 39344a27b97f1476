import {
  create,
  type DescMessage,
  type DescMethod,
  type MessageInitShape,
} from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  QuotaFailureSchema,
  RetryInfoSchema,
} from '../../../gen/google/rpc/error_details_pb.ts';
import type { Log } from '../../base/log.ts';
import {
  Fault,
  type FaultCode,
  faultCodes,
  faultLogLevels,
  fieldPath,
  type Problem,
  summarizeProblems,
} from '../../contract/fault.ts';
import { detailParts, FaultSchema, faultDetail } from '../../contract/fault-detail.ts';
import { copyResponseHeaders, requestIdHeader } from '../../contract/response-headers.ts';
import {
  submitOptionFields,
  submitOptionMetadata,
  takesSubmitOptions,
} from '../../contract/submit-options.ts';
import { recordCallError } from './call-spans.ts';
import { exchangeOf, headerOf } from './exchange.ts';

/**
 * Problems in a BadRequest. The detail of the contract has all of them; both go into one header.
 */
const maxViolations = 20;

/** Domain of the reasons in ErrorInfo. */
const domain = 'gleaner';

/**
 * Adds the standard details of google.rpc to an RPC error, for clients that do not know the
 * contract's own detail.
 */
function addGoogleDetails(error: ConnectError, fault: Fault): void {
  const { code, problems, quota, retryAfterMs } = fault;
  const add = <T extends DescMessage>(desc: T, value: MessageInitShape<T>) =>
    error.details.push({ desc, value: create(desc, value) });
  add(ErrorInfoSchema, { reason: code.toUpperCase(), domain });
  if (problems.length > 0) {
    const fieldViolations = problems.slice(0, maxViolations).map(({ loc, msg, type }) => ({
      field: fieldPath(loc),
      description: msg,
      reason: type.toUpperCase(),
    }));
    add(BadRequestSchema, { fieldViolations });
  }
  if (quota !== undefined) {
    const { required, current } = quota;
    const description =
      code === 'max_credits_exceeded'
        ? fault.clientMessage
        : `${required} credits needed, ${current} available`;
    add(QuotaFailureSchema, { violations: [{ subject: 'credits', description }] });
  }
  if (code === 'rate_limited')
    add(QuotaFailureSchema, {
      violations: [{ subject: 'requests', description: fault.clientMessage }],
    });
  if (retryAfterMs !== undefined) {
    const ms = Math.ceil(retryAfterMs);
    const retryDelay = { seconds: BigInt(Math.floor(ms / 1000)), nanos: (ms % 1000) * 1_000_000 };
    add(RetryInfoSchema, { retryDelay });
  }
}

/** RPC codes of faults; INTERNAL for all others. */
const codes: Partial<Record<FaultCode, Code>> = {
  unauthenticated: Code.Unauthenticated,
  forbidden: Code.PermissionDenied,
  link_invalid: Code.PermissionDenied,
  insufficient_credits: Code.FailedPrecondition,
  max_credits_exceeded: Code.FailedPrecondition,
  not_found: Code.NotFound,
  results_deleted: Code.NotFound,
  conflict: Code.FailedPrecondition,
  invalid: Code.InvalidArgument,
  malformed: Code.InvalidArgument,
  too_large: Code.ResourceExhausted,
  rate_limited: Code.ResourceExhausted,
  starting: Code.Unavailable,
  unavailable: Code.Unavailable,
  disk_full: Code.Unavailable,
  storage_damaged: Code.DataLoss,
};

/** Converts an error to an RPC error whose detail is the fault. */
export function toConnectError(thrown: unknown): ConnectError {
  if (thrown instanceof ConnectError) return thrown;
  const fault = Fault.from(thrown);
  const code = codeOf(fault);
  const message =
    code === Code.Internal ? 'The service failed; the log says why.' : messageOf(fault);
  const error = new ConnectError(message, code, headersOf(fault), undefined, thrown);
  error.details.push({ desc: FaultSchema, value: faultDetail(fault) });
  addGoogleDetails(error, fault);
  return error;
}

/**
 * Returns the RPC code. Clients retry after ABORTED, so only conflicts that resolve by themselves
 * have it.
 */
function codeOf({ code, retryAfterMs }: Fault): Code {
  if (code === 'conflict' && retryAfterMs !== undefined) return Code.Aborted;
  return codes[code] ?? Code.Internal;
}

/** Returns the message for clients, with the first problems of an invalid request. */
function messageOf(fault: Fault): string {
  if (fault.problems.length > 0) return summarizeProblems(fault.problems);
  return fault.clientMessage;
}

/** Returns the headers of a fault, with `Retry-After` in seconds. */
function headersOf({ headers, retryAfterMs }: Fault): Record<string, string> {
  if (retryAfterMs === undefined) return { ...headers };
  return { ...headers, 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
}

/**
 * Converts a remote core's error to its fault; `unavailable` for an unreachable core. Returns a
 * fault unchanged. `place` corrects the locations of the error's problems.
 */
export function fromConnectError(
  thrown: unknown,
  source: (problems: Problem[]) => Problem[] = (problems) => problems,
): Fault {
  if (thrown instanceof Fault) return thrown;
  const error = ConnectError.from(thrown);
  const [detail] = error.findDetails(FaultSchema);
  if (detail === undefined || !(detail.code in faultCodes)) {
    return new Fault('unavailable', `The core did not respond: ${error.rawMessage}`, {
      component: 'core',
      cause: thrown,
    });
  }
  const parts = detailParts(detail);
  return new Fault(detail.code as FaultCode, error.rawMessage, {
    ...parts,
    problems: source(parts.problems),
    cause: thrown,
    headers: copyResponseHeaders(error.metadata, {}),
  });
}

/**
 * Returns the RPC error of a call that failed in the core, and logs internal errors and outages. A
 * call that was cancelled, or whose deadline passed, failed for that reason.
 */
export function failCall(
  log: Log,
  method: DescMethod,
  context: Pick<HandlerContext, 'values' | 'signal'>,
  thrown: unknown,
): ConnectError {
  const { aborted, reason } = context.signal;
  if (aborted) return recordCallError(context, ConnectError.from(reason, Code.Canceled));
  const level = faultLogLevels[Fault.from(thrown).code];
  if (level !== undefined) {
    const requestId = headerOf(exchangeOf(context).request, requestIdHeader);
    log[level]({ requestId, method: method.name, err: thrown }, 'call failed');
  }
  return recordCallError(context, toConnectError(thrown));
}

/** Names of the options as query parameters, and as metadata. */
const names = submitOptionFields.map((field) => ({
  parameter: field.name,
  metadata: submitOptionMetadata(field),
}));

/**
 * Moves the problems of a submission's options from the query, where handlers locate them as in
 * REST, to the metadata. Returns any other error unchanged.
 */
export function placeInMetadata(method: DescMethod, thrown: unknown): unknown {
  if (!(thrown instanceof Fault) || thrown.problems.length === 0 || !takesSubmitOptions(method))
    return thrown;
  const problems = thrown.problems.map((problem) => {
    const option = names.find(({ parameter }) => isAt(problem, 'query', parameter));
    if (option === undefined) return problem;
    return move(problem, 'header', option.metadata);
  });
  return new Fault(thrown.code, thrown.message, { problems, cause: thrown });
}

/**
 * Returns the problems of a submission over RPC with the locations of REST: problems of options are
 * in the query.
 */
export function placeInQuery(method: DescMethod, problems: Problem[]): Problem[] {
  if (!takesSubmitOptions(method)) return problems;
  return problems.map((problem) => {
    const option = names.find(({ metadata }) => isAt(problem, 'header', metadata));
    if (option === undefined) return problem;
    return move(problem, 'query', option.parameter);
  });
}

const isAt = ({ loc }: Problem, source: string, name: string) =>
  loc[0] === source && loc[1] === name;

const move = ({ loc, ...problem }: Problem, source: string, name: string): Problem => ({
  ...problem,
  loc: [source, name, ...loc.slice(2)],
});

import { Code, ConnectError } from '@connectrpc/connect';
import { Fault, type FaultCode, faultCodes, type Problem, summarizeProblems } from '../contract/fault.ts';
import { detailParts, FaultSchema, faultDetail } from '../contract/fault-detail.ts';
import { copyResponseHeaders } from '../contract/response-headers.ts';
import { addGoogleDetails } from './google-details.ts';

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
};

/** Converts an error to an RPC error whose detail is the fault. */
export function toConnectError(thrown: unknown): ConnectError {
  if (thrown instanceof ConnectError) return thrown;
  const fault = Fault.from(thrown);
  const code = codeOf(fault);
  const message = code === Code.Internal ? 'The service failed; the log says why.' : messageOf(fault);
  const error = new ConnectError(message, code, headersOf(fault), undefined, thrown);
  error.details.push({ desc: FaultSchema, value: faultDetail(fault) });
  addGoogleDetails(error, fault);
  return error;
}

/** Returns the RPC code. Clients retry after ABORTED: only conflicts that end by themselves have it. */
function codeOf({ code, retryAfterMs }: Fault): Code {
  if (code === 'conflict' && retryAfterMs !== undefined) return Code.Aborted;
  return codes[code] ?? Code.Internal;
}

/** Returns the message for clients, with the first problems of an invalid request. */
function messageOf(fault: Fault): string {
  return fault.problems.length > 0 ? summarizeProblems(fault.problems) : fault.clientMessage;
}

/** Returns the headers of a fault, with `Retry-After` in seconds. */
function headersOf({ headers, retryAfterMs }: Fault): Record<string, string> {
  if (retryAfterMs === undefined) return { ...headers };
  return { ...headers, 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
}

/**
 * Converts a remote core's error to its fault; `unavailable` for an unreachable core. `place` corrects the locations of its
 * problems.
 */
export function fromConnectError(
  thrown: unknown,
  place: (problems: Problem[]) => Problem[] = (problems) => problems,
): Fault {
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
    problems: place(parts.problems),
    cause: thrown,
    headers: copyResponseHeaders(error.metadata, {}),
  });
}

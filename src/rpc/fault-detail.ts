import { Code, ConnectError } from '@connectrpc/connect';
import { Fault, type FaultCode, faultCodes, summarizeProblems } from '../contract/fault.ts';
import { detailParts, FaultSchema, faultDetail } from '../contract/fault-detail.ts';
import { copyResponseHeaders } from '../contract/response-headers.ts';

/** RPC code of each fault that reaches a caller; every other one is INTERNAL. */
const codes: Partial<Record<FaultCode, Code>> = {
  unauthenticated: Code.Unauthenticated,
  forbidden: Code.PermissionDenied,
  insufficient_credits: Code.FailedPrecondition,
  not_found: Code.NotFound,
  conflict: Code.Aborted,
  invalid: Code.InvalidArgument,
  malformed: Code.InvalidArgument,
  too_large: Code.ResourceExhausted,
  rate_limited: Code.ResourceExhausted,
  starting: Code.Unavailable,
  unavailable: Code.Unavailable,
  disk_full: Code.Unavailable,
};

/** The RPC error of a fault, with everything that a REST body needs as its detail. */
export function toConnectError(thrown: unknown): ConnectError {
  if (thrown instanceof ConnectError) return thrown;
  const fault = Fault.from(thrown);
  const code = codes[fault.code] ?? Code.Internal;
  const message = code === Code.Internal ? 'The service failed; the log says why.' : messageOf(fault);
  const error = new ConnectError(message, code, headersOf(fault), undefined, thrown);
  error.details.push({ desc: FaultSchema, value: faultDetail(fault) });
  return error;
}

/** The message for clients: names the first problems of an invalid request, so that no client has to decode them. */
function messageOf(fault: Fault): string {
  return fault.problems.length > 0 ? summarizeProblems(fault.problems) : fault.clientMessage;
}

/** Headers of an error: those of its own, and `Retry-After` as REST has it. */
function headersOf({ headers, retryAfterMs }: Fault): Record<string, string> {
  if (retryAfterMs === undefined) return { ...headers };
  return { ...headers, 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
}

/** The fault that a remote core's error stands for; an unreachable core is `unavailable`. */
export function fromConnectError(thrown: unknown): Fault {
  const error = ConnectError.from(thrown);
  const [detail] = error.findDetails(FaultSchema);
  if (detail === undefined || !(detail.code in faultCodes)) {
    return new Fault('unavailable', `The core did not answer: ${error.rawMessage}`, {
      component: 'core',
      cause: thrown,
    });
  }
  return new Fault(detail.code as FaultCode, error.rawMessage, {
    ...detailParts(detail),
    cause: thrown,
    headers: copyResponseHeaders(error.metadata, {}),
  });
}

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { FaultSchema } from '../../gen/gleaner/fault/v1/fault_pb.ts';
import { Fault, type FaultCode, faultCodes } from '../base/fault.ts';
import { takeAnswerHeaders } from '../contract/answer-headers.ts';

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
  const message = code === Code.Internal ? 'The service failed; the log says why.' : fault.clientMessage;
  const error = new ConnectError(message, code, headersOf(fault), undefined, thrown);
  const quota = fault.quota && {
    required: BigInt(fault.quota.required),
    current: BigInt(fault.quota.current),
    shortfall: BigInt(fault.quota.required - fault.quota.current),
  };
  error.details.push({
    desc: FaultSchema,
    value: {
      code: fault.code,
      problems: fault.problems.map(({ loc, msg, type }) => ({
        message: msg,
        type,
        location: loc.map((step) => ({
          step:
            typeof step === 'number'
              ? { case: 'index' as const, value: step }
              : { case: 'name' as const, value: step },
        })),
      })),
      ...(quota ? { quota } : {}),
      retryAfterSeconds: Math.ceil((fault.retryAfterMs ?? 0) / 1000),
    },
  });
  return error;
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
  const { quota, problems, retryAfterSeconds } = create(FaultSchema, detail);
  return new Fault(detail.code as FaultCode, error.rawMessage, {
    cause: thrown,
    problems: problems.map(({ location, message, type }) => ({
      loc: location.map(({ step }) => step.value ?? ''),
      msg: message,
      type,
    })),
    ...(quota ? { quota: { required: Number(quota.required), current: Number(quota.current) } } : {}),
    headers: takeAnswerHeaders(error.metadata, {}),
    ...(retryAfterSeconds > 0 ? { retryAfterMs: retryAfterSeconds * 1000 } : {}),
  });
}

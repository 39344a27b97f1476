import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Fault as FaultMessage, FaultSchema } from '../../gen/gleaner/fault/v1/fault_pb.ts';
import type { Fault, Problem, Quota } from './fault.ts';

/** Detail of RPC errors; its type name is `gleaner.fault.v1.Fault`. */
export { FaultSchema };

/** Parts of a fault that its detail contains in addition to the code. */
export interface DetailParts {
  problems: Problem[];
  quota?: Quota;
  retryAfterMs?: number;
}

/** Returns the detail of an RPC error with everything that a REST error has. */
export function faultDetail(fault: Fault): MessageInitShape<typeof FaultSchema> {
  const { code, problems, quota, retryAfterMs } = fault;
  return {
    code,
    problems: problems.map(({ loc, msg, type }) => ({
      message: msg,
      type,
      location: loc.map((step) => ({
        step:
          typeof step === 'number'
            ? { case: 'index' as const, value: step }
            : { case: 'name' as const, value: step },
      })),
    })),
    ...(quota && {
      quota: {
        required: BigInt(quota.required),
        current: BigInt(quota.current),
        shortfall: BigInt(quota.required - quota.current),
      },
    }),
    retryAfterSeconds: Math.ceil((retryAfterMs ?? 0) / 1000),
  };
}

/** Reads the detail of an RPC error. */
export function detailParts({ problems, quota, retryAfterSeconds }: FaultMessage): DetailParts {
  return {
    problems: problems.map(({ location, message, type }) => ({
      loc: location.map(({ step }) => step.value ?? ''),
      msg: message,
      type,
    })),
    ...(quota && { quota: { required: Number(quota.required), current: Number(quota.current) } }),
    ...(retryAfterSeconds > 0 ? { retryAfterMs: retryAfterSeconds * 1000 } : {}),
  };
}

import { create, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  QuotaFailureSchema,
  RetryInfoSchema,
} from '../../gen/google/rpc/error_details_pb.ts';
import { type Fault, fieldPath } from '../contract/fault.ts';

/** Problems in a BadRequest. The detail of the contract has all of them; both go into one header. */
const maxViolations = 20;

/** Domain of the reasons in ErrorInfo. */
const domain = 'gleaner';

/** Adds the standard details of google.rpc to an RPC error, for clients that do not know the contract's own detail. */
export function addGoogleDetails(error: ConnectError, fault: Fault): void {
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
    const word = code === 'max_credits_exceeded' ? 'allowed' : 'available';
    const description = `${required} credits needed, ${current} ${word}`;
    add(QuotaFailureSchema, { violations: [{ subject: 'credits', description }] });
  }
  if (code === 'rate_limited')
    add(QuotaFailureSchema, { violations: [{ subject: 'requests', description: fault.clientMessage }] });
  if (retryAfterMs !== undefined) {
    const ms = Math.ceil(retryAfterMs);
    const retryDelay = { seconds: BigInt(Math.floor(ms / 1000)), nanos: (ms % 1000) * 1_000_000 };
    add(RetryInfoSchema, { retryDelay });
  }
}

import { type DescMethod, getOption } from '@bufbuild/protobuf';
import { job, rest, Step } from '../../gen/gleaner/options/v1/options_pb.ts';
import { Fault, type Problem } from './fault.ts';
import { quote } from './problem-texts.ts';

/** Maximum wait of a call for a job, in seconds. */
const maxWaitSeconds = 60;

/** Metadata of an RPC with its wait in seconds; the counterpart of `?wait=` in REST. */
export const waitMetadata = 'gleaner-wait';

/**
 * Returns true if a method can wait for the job that it shows: read steps do, and methods that
 * declare `waits`.
 */
export function canWait(method: DescMethod): boolean {
  return getOption(method, job).step === Step.READ || getOption(method, rest).waits;
}

/** Returns true if a method can wait for the end of the job that it submits. */
export function canAwaitOutcome(method: DescMethod): boolean {
  return getOption(method, job).step === Step.SUBMIT;
}

/**
 * Parses a wait in whole seconds, "30" or "30s", at most 60. Returns milliseconds, 0 without a
 * text, or the problem of an invalid value, located at `loc`.
 */
export function readWait(text: string | undefined | null, loc: Problem['loc']): number | Problem {
  if (text == null) return 0;
  const seconds = /^(0|[1-9][0-9]{0,8})s?$/.exec(text)?.[1];
  if (seconds === undefined) {
    const msg = `Input should be a number of seconds such as 30 or 30s, not ${quote(text)}`;
    return { loc: [...loc], type: 'string_pattern_mismatch', msg };
  }
  if (Number(seconds) > maxWaitSeconds) {
    const msg = `Input should be less than or equal to ${maxWaitSeconds}, not ${Number(seconds)}`;
    return { loc: [...loc], type: 'less_than_equal', msg };
  }
  return Number(seconds) * 1000;
}

/** Parses like readWait(). Throws the fault `invalid` for an invalid value. */
export function requireWait(text: string | undefined | null, loc: Problem['loc']): number {
  const wait = readWait(text, loc);
  if (typeof wait === 'number') return wait;
  throw Fault.invalid(wait.loc, wait.msg, wait.type);
}

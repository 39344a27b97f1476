import { type DescMethod, getOption } from '@bufbuild/protobuf';
import { job, rest, Step } from '../../gen/gleaner/options/v1/options_pb.ts';
import { Fault, type Problem } from './fault.ts';
import { quote } from './problem-texts.ts';

/** The longest that a call may wait for a job, in seconds. */
export const mostWaitSeconds = 60;

/** Metadata of an RPC that says how long it may wait: what `?wait=` is to REST. */
export const waitMetadata = 'gleaner-wait';

/** Whether a method can wait for the job that it shows: every read step does, and what declares it. */
export function canWait(method: DescMethod): boolean {
  return getOption(method, job).step === Step.READ || getOption(method, rest).waits;
}

/**
 * Reads how long to wait: whole seconds, "30" or "30s", 60 at most; gives milliseconds, 0 for no text.
 * A bad value is a problem at `loc`.
 */
export function readWait(text: string | undefined | null, loc: Problem['loc']): number | Problem {
  if (text == null) return 0;
  const seconds = /^(0|[1-9][0-9]{0,8})s?$/.exec(text)?.[1];
  if (seconds === undefined) {
    const msg = `Input should be a number of seconds such as 30 or 30s, not ${quote(text)}`;
    return { loc: [...loc], type: 'string_pattern_mismatch', msg };
  }
  if (Number(seconds) > mostWaitSeconds) {
    const msg = `Input should be less than or equal to ${mostWaitSeconds}, not ${Number(seconds)}`;
    return { loc: [...loc], type: 'less_than_equal', msg };
  }
  return Number(seconds) * 1000;
}

/** As readWait; a bad value is the fault `invalid`. */
export function requireWait(text: string | undefined | null, loc: Problem['loc']): number {
  const wait = readWait(text, loc);
  if (typeof wait === 'number') return wait;
  throw Fault.invalid(wait.loc, wait.msg, wait.type);
}

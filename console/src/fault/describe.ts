import { Code, ConnectError } from '@connectrpc/connect';
import { detailParts, FaultSchema } from '../../../src/contract/fault-detail.ts';
import { RestFault } from './rest-fault.ts';

/** A fault for people. */
export interface Description {
  title: string;
  /** What the service says is wrong. */
  detail: string;
  /** Every problem of an invalid request: where, and what. */
  problems: { where: string; message: string }[];
}

const titles: Partial<Record<Code, string>> = {
  [Code.Unauthenticated]: 'The key is not valid',
  [Code.PermissionDenied]: 'Not allowed',
  [Code.NotFound]: 'Not there',
  [Code.InvalidArgument]: 'The request has problems',
  [Code.FailedPrecondition]: 'Not possible now',
  [Code.Aborted]: 'Not possible now',
  [Code.AlreadyExists]: 'Not possible now',
  [Code.ResourceExhausted]: 'Too much',
  [Code.Unavailable]: 'The service cannot answer now',
  [Code.Internal]: 'Something went wrong in the service',
};

/** How browsers say that nobody answered. */
const unreached = /^(?:Failed to fetch|NetworkError when attempting to fetch resource\.?|Load failed)/;

/** Says what went wrong, whatever was thrown: by a call, by REST or by the browser. */
export function describeFault(thrown: unknown): Description {
  if (thrown instanceof RestFault) {
    return { title: thrown.title, detail: thrown.message, problems: thrown.problems.map(problemOf) };
  }
  const error = ConnectError.from(thrown);
  if (unreached.test(error.rawMessage)) {
    return {
      title: 'No answer',
      detail: 'The service cannot be reached. Is it running, and is there a network?',
      problems: [],
    };
  }
  const fault = error.findDetails(FaultSchema)[0];
  const { problems = [], quota } = fault ? detailParts(fault) : {};
  const shortfall = quota && quota.required - quota.current;
  const short = quota ? ` ${quota.required} needed, ${quota.current} there: ${shortfall} short.` : '';
  return {
    title: titles[error.code] ?? 'That did not work',
    // The message of an invalid request repeats its first problems.
    detail:
      problems.length > 0
        ? 'The request is not valid.'
        : error.rawMessage + (error.rawMessage.includes(String(shortfall)) ? '' : short),
    problems: problems.map(problemOf),
  };
}

const problemOf = ({ loc, msg }: { loc: readonly (string | number)[]; msg: string }) => ({
  where: loc.slice(1).join('.'),
  message: msg,
});

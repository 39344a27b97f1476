import { Code, ConnectError } from '@connectrpc/connect';
import { FaultSchema } from '../../../gen/gleaner/fault/v1/fault_pb.ts';
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
  const problems = (fault?.problems ?? []).map(({ location, message }) =>
    problemOf({ loc: location.map(({ step }) => step.value ?? ''), msg: message }),
  );
  const quota = fault?.quota;
  const short = quota ? ` ${quota.required} needed, ${quota.current} there: ${quota.shortfall} short.` : '';
  return {
    title: titles[error.code] ?? 'That did not work',
    detail: error.rawMessage + (error.rawMessage.includes(String(quota?.shortfall)) ? '' : short),
    problems,
  };
}

const problemOf = ({ loc, msg }: { loc: readonly (string | number)[]; msg: string }) => ({
  where: loc.slice(1).join('.'),
  message: msg,
});

import { Code, ConnectError } from '@connectrpc/connect';
import { detailParts, FaultSchema } from '../../../../src/contract/fault-detail.ts';
import {
  explainRestError,
  isNetworkError,
  keyMessage,
  RestError,
  unreachable,
} from './rest-error.ts';
import { showToast } from './toast.ts';

/** Error in plain words. */
export interface ErrorDescription {
  title: string;
  /** Explanation from the service. */
  detail: string;
  /** Problems of an invalid request; `where` is the path of the field. */
  problems: { where: string; message: string }[];
}

const titles: Partial<Record<Code, string>> = {
  [Code.PermissionDenied]: 'Not allowed',
  [Code.NotFound]: 'Not found',
  [Code.InvalidArgument]: 'Invalid request',
  [Code.FailedPrecondition]: 'Not possible in the current state',
  [Code.Aborted]: 'Not possible in the current state',
  [Code.AlreadyExists]: 'Not possible in the current state',
  [Code.ResourceExhausted]: 'Limit exceeded',
  [Code.Unavailable]: 'Service unavailable',
  [Code.Internal]: 'Internal error',
};

/** Describes any thrown value: an RPC error, a REST error or a network error. */
export function describeError(thrown: unknown): ErrorDescription {
  if (thrown instanceof RestError) {
    return {
      title: thrown.title,
      detail: explainRestError(thrown),
      problems: thrown.problems.map(toProblem),
    };
  }
  const error = ConnectError.from(thrown);
  if (isNetworkError(error.rawMessage))
    return { title: 'Connection failed', detail: unreachable, problems: [] };
  if (error.code === Code.Unauthenticated) {
    return { title: 'Invalid API key', detail: keyMessage(error.rawMessage), problems: [] };
  }
  const fault = error.findDetails(FaultSchema)[0];
  const { problems = [], quota } = fault ? detailParts(fault) : {};
  const missing = quota ? quota.required - quota.current : 0;
  // A job above its own maximum may be within the balance.
  const shortfall =
    missing > 0
      ? ` ${quota!.required} credits needed, ${quota!.current} available: ${missing} short.`
      : '';
  const isStated = error.rawMessage.includes(String(missing));
  const message = isStated ? error.rawMessage : error.rawMessage + shortfall;
  return {
    title: titles[error.code] ?? 'Something went wrong',
    // The message of an invalid request repeats its first problems.
    detail: problems.length > 0 ? 'The request is not valid.' : message,
    problems: problems.map(toProblem),
  };
}

/**
 * Returns the errors of a form by field after a refused call. What belongs to none of the fields is
 * shown at `other`.
 */
export function fieldErrors(
  thrown: unknown,
  fields: readonly string[],
  other: string,
): Record<string, string> {
  const { detail, problems } = describeError(thrown);
  const errors = problems
    .filter(({ where }) => fields.includes(where))
    .map(({ where, message }) => [where, message]);
  if (errors.length > 0) return Object.fromEntries(errors);
  return { [other]: problems[0]?.message ?? detail };
}

/**
 * Returns whether a repeated call may succeed: not for what does not exist, is not allowed, or is
 * invalid.
 */
export function canRepeat(thrown: unknown): boolean {
  if (thrown instanceof RestError) return thrown.status >= 500 || thrown.status === 429;
  const final = [Code.NotFound, Code.PermissionDenied, Code.InvalidArgument];
  return !final.includes(ConnectError.from(thrown).code);
}

const toProblem = ({ loc, msg }: { loc: readonly (string | number)[]; msg: string }) => ({
  where: loc.slice(1).join('.'),
  message: msg,
});

/** Shows an error notification with the cause. */
export function showError(error: unknown): void {
  const { title, detail, problems } = describeError(error);
  const message = [detail, ...problems.slice(0, 3).map((problem) => problem.message)]
    .filter((text, index, all) => all.indexOf(text) === index)
    .join(' ');
  showToast({
    color: 'red',
    title,
    message,
    autoClose: 10_000,
  });
}

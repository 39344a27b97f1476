import { Step } from '../../gen/gleaner/options/v1/options_pb.ts';
import type { JobContext } from '../jobs/context.ts';
import type { JobMethod } from '../jobs/offers.ts';
import { read } from '../jobs/read.ts';
import { submit } from '../jobs/submit.ts';
import type { Handler, Handlers } from './core.ts';

/** Handlers of every method that declares a kind of work: which step it is decides, never which kind. */
export function jobHandlers(context: JobContext): Handlers {
  const unary = new Map<string, Handler>();
  for (const [name, method] of context.offers.methods) unary.set(name, handlerOf(context, method));
  return { unary, stream: new Map() };
}

function handlerOf(context: JobContext, method: JobMethod): Handler {
  switch (method.step) {
    case Step.SUBMIT:
      return (request, { principal, idempotencyKey }) =>
        submit(context, method, request, { userId: principal.userId, idempotencyKey });
    case Step.READ:
      return (request, { principal }) => read(context, method, request, principal.userId);
    default:
      throw new Error(`${method.method.name}: nothing serves its step`);
  }
}

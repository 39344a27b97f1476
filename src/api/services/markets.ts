import type { DescMethod } from '@bufbuild/protobuf';
import { Step } from '../../../gen/gleaner/options/v1/options_pb.ts';
import { dispositionHeader, warningHeader } from '../../contract/response-headers.ts';
import type { JobContext } from '../../jobs/context.ts';
import type { JobMethod } from '../../jobs/job-types.ts';
import { createReadView, data, list, type ReadView } from '../../jobs/queries/read.ts';
import { terminate } from '../../jobs/steps/decide.ts';
import { submitterOf } from '../../jobs/steps/idempotency.ts';
import { submit } from '../../jobs/steps/submit.ts';
import { streamText } from './body-stream.ts';
import type { Handler, Handlers, StreamHandler } from './handlers.ts';

/**
 * Returns the handlers of all methods on jobs, which depend only on the step of the method, not on
 * the kind.
 */
export function jobHandlers(context: JobContext): Handlers {
  const unary = new Map<DescMethod, Handler>();
  const stream = new Map<DescMethod, StreamHandler>();
  const read = createReadView(context);
  for (const method of context.jobTypes.methods.values()) {
    if (method.step === Step.DATA) {
      stream.set(method.method, async function* (request, { principal, responseHeaders }) {
        const { contentType, fileName, bytes } = await data(context, method, request, principal);
        if (fileName !== null)
          responseHeaders[dispositionHeader] = `attachment; filename="${fileName}"`;
        yield* streamText(contentType, bytes);
      });
    } else {
      unary.set(method.method, handlerOf(context, method, read));
    }
  }
  return { unary, stream };
}

function handlerOf(context: JobContext, method: JobMethod, read: ReadView): Handler {
  switch (method.step) {
    case Step.SUBMIT:
      return (request, call) =>
        submit(context, method, request, submitterOf(call.principal, call), (warning) => {
          call.responseHeaders[warningHeader] = warning;
        });
    case Step.READ:
      return (request, { principal, ...call }) => {
        const { userId, role } = principal;
        return read(method, request, { ...call, userId, role });
      };
    case Step.LIST:
      return (_request, { principal }) => list(context, method, principal);
    case Step.TERMINATE:
      return (request, { principal }) => terminate(context, method, request, principal);
    default:
      throw new Error(`${method.method.name}: its step has no handler`);
  }
}

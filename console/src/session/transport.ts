import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { describeError } from '../errors/describe.ts';
import { showWarning } from '../errors/toast.ts';
import { currentSession, endSession } from './session.ts';
import { readWarnings } from './warnings.ts';

const authenticate: Interceptor = (next) => async (request) => {
  const session = currentSession();
  if (session && !request.header.has('authorization'))
    request.header.set('authorization', `Bearer ${session.key}`);
  try {
    const response = await next(request);
    readWarnings(response.header).forEach(showWarning);
    return response;
  } catch (error) {
    const failure = ConnectError.from(error);
    if (failure.code === Code.Unauthenticated && session) {
      // A new session may have started in the meantime.
      if (currentSession()?.key === session.key) endSession(describeError(failure).detail);
    }
    throw failure;
  }
};

/** Transport to the service that serves the console. Sends the session's key and shows warnings of responses; a rejected key ends the session. */
export const transport = createConnectTransport({
  baseUrl: globalThis.location?.origin ?? '',
  interceptors: [authenticate],
});

import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { describeError } from '../errors/describe.ts';
import { readWarnings } from '../errors/rest-error.ts';
import { showWarning } from '../errors/toast.ts';
import { basePath } from './base-path.ts';
import { createSendOnce } from './send-once.ts';
import { currentSession } from './session.ts';
import { csrfHeader, sessionRejected } from './sign-in.ts';

const authenticate: Interceptor = (next) => async (request) => {
  const session = currentSession();
  if (session) request.header.set(csrfHeader, session.csrfToken);
  try {
    const response = await next(request);
    readWarnings(response.header).forEach(showWarning);
    return response;
  } catch (error) {
    const failure = ConnectError.from(error);
    if (failure.code === Code.Unauthenticated && session)
      await sessionRejected(session, describeError(failure).detail);
    throw failure;
  }
};

/**
 * Transport to the service that serves the console. Sends the session's CSRF token, and
 * idempotency keys, and shows warnings of responses; a rejected session ends.
 */
export const transport = createConnectTransport({
  baseUrl: (globalThis.location?.origin ?? '') + basePath,
  interceptors: [createSendOnce(), authenticate],
});

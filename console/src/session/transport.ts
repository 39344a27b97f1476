import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { currentSession, endSession } from './session.ts';

const withKey: Interceptor = (next) => async (request) => {
  const session = currentSession();
  if (session && !request.header.has('authorization'))
    request.header.set('authorization', `Bearer ${session.key}`);
  try {
    return await next(request);
  } catch (error) {
    const fault = ConnectError.from(error);
    if (fault.code === Code.Unauthenticated && session) {
      // Unless another session has begun meanwhile.
      if (currentSession()?.key === session.key) endSession(fault.rawMessage);
    }
    throw fault;
  }
};

/** Calls the service that the console came from, with the session's key; a refused key ends the session. */
export const transport = createConnectTransport({
  baseUrl: globalThis.location?.origin ?? '',
  interceptors: [withKey],
});

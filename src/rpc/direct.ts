import { creditsHeader } from '../contract/response-headers.ts';
import type { Core } from './core.ts';
import type { CoreClient } from './core-client.ts';

/** Service of the role that REST callers need: REST serves the services of users. */
const restService = 'gleaner.account.v1.AccountService';

/** Creates the client of a core in the same process. */
export function createDirectCaller(core: Core): CoreClient {
  const service = core.services.find(({ typeName }) => typeName === restService)!;
  return {
    started: () => core.started(),
    ready: () => core.ready(),
    async call(method, message, authorization) {
      const principal = await core.admit(method.parent, authorization);
      const { signal } = new AbortController();
      const context = { idempotencyKey: undefined, signal, waitMs: 0, ifNoneMatch: undefined };
      return (await core.unary(method, message, { ...context, responseHeaders: {}, principal })) as never;
    },
    async authenticate(headers) {
      const principal = await core.admit(service, headers.authorization);
      return {
        userId: principal.userId,
        headers: { [creditsHeader]: String(principal.balance), ...principal.headers },
        call: (method, message, context) =>
          core.unary(method, message, { ...context, principal }) as Promise<never>,
        stream: (method, message, context) =>
          core.stream(method, message, { ...context, principal }) as AsyncIterable<never>,
      };
    },
  };
}

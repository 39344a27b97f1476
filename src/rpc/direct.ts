import { clientAddress, forwardedForHeader } from '../base/client-address.ts';
import { creditsHeader } from '../contract/response-headers.ts';
import { inSpan } from '../telemetry/trace.ts';
import { methodPath } from './call-spans.ts';
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
    async call(method, message, headers) {
      const principal = await core.admit(method.parent, headers.authorization);
      const source = clientAddress(headers[forwardedForHeader]);
      const { signal } = new AbortController();
      const context = { idempotencyKey: undefined, signal, waitMs: 0, ifNoneMatch: undefined, source };
      return (await core.unary(method, message, { ...context, responseHeaders: {}, principal })) as never;
    },
    async authenticate(headers) {
      const principal = await core.admit(service, headers.authorization);
      const source = clientAddress(headers[forwardedForHeader]);
      return {
        userId: principal.userId,
        headers: { [creditsHeader]: String(principal.balance), ...principal.headers },
        call: (method, message, context) =>
          inSpan(
            methodPath(method),
            {},
            () => core.unary(method, message, { ...context, principal, source }) as Promise<never>,
          ),
        stream: (method, message, context) =>
          core.stream(method, message, { ...context, principal, source }) as AsyncIterable<never>,
      };
    },
  };
}

import { clientAddress, forwardedForHeader } from '../../base/client-address.ts';
import { refusalOf } from '../../contract/permission.ts';
import { creditsHeader } from '../../contract/response-headers.ts';
import { inSpan } from '../../telemetry/trace.ts';
import { methodPath } from './call-spans.ts';
import type { Core } from './core.ts';
import { anyUserMethod, type CoreClient } from './core-client.ts';

/** Creates the client of a core in the same process. */
export function createInProcessCaller(core: Core): CoreClient {
  return {
    started: () => core.started(),
    ready: () => core.ready(),
    async call(method, message, headers) {
      const source = clientAddress(headers[forwardedForHeader]);
      const principal = await core.admit(method, headers.authorization, { source });
      const { signal } = new AbortController();
      const context = { idempotencyKey: undefined, signal, waitMs: 0, ifNoneMatch: undefined, source };
      return (await core.unary(method, message, { ...context, responseHeaders: {}, principal })) as never;
    },
    async authenticate(headers, method = anyUserMethod) {
      const source = clientAddress(headers[forwardedForHeader]);
      const principal = await core.admit(method, headers.authorization, { source });
      return {
        userId: principal.userId,
        headers: {
          ...(principal.role === 'user' ? { [creditsHeader]: String(principal.balance) } : {}),
          ...principal.headers,
        },
        allows: async (target) => refusalOf(target, principal) === null,
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

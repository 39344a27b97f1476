import type { DescMethod, Message } from '@bufbuild/protobuf';
import { creditsHeader, type ResponseHeaders } from '../contract/response-headers.ts';
import type { Core } from './core.ts';
import type { Call } from './handlers.ts';

/** Service whose role REST callers need: the REST paths are the users'. */
const restRole = 'gleaner.account.v1.AccountService';

/**
 * The gateway's caller for a core in the same process: the core's own calls, without a wire in
 * between, and with the same authentication, validation and faults as every other edge.
 */
export function createDirectCaller(core: Core) {
  const service = core.services.find(({ typeName }) => typeName === restRole)!;
  return {
    started: () => core.started(),
    ready: () => core.ready(),
    async call(method: DescMethod, message: Message, authorization: string | undefined): Promise<Message> {
      const principal = await core.admit(method.parent, authorization);
      const { signal } = new AbortController();
      const context = { idempotencyKey: undefined, signal, waitMs: 0, ifNoneMatch: undefined };
      return core.unary(method, message, { ...context, responseHeaders: {}, principal });
    },
    async authenticate(headers: Record<string, string | undefined>) {
      const principal = await core.admit(service, headers.authorization);
      return {
        userId: principal.userId,
        headers: { [creditsHeader]: String(principal.balance), ...principal.headers } as ResponseHeaders,
        call: (method: DescMethod, message: Message, context: CallContext) =>
          core.unary(method, message, { ...context, principal }),
        stream: (method: DescMethod, message: Message, context: CallContext) =>
          core.stream(method, message, { ...context, principal }),
      };
    },
  };
}

type CallContext = Omit<Call, 'principal'>;

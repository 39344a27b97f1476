import {
  create,
  type DescMethod,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { DestinationService } from '../../../gen/gleaner/destination/v1/destination_pb.ts';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { MktaService } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import type { HttpBody } from '../../../gen/google/api/httpbody_pb.ts';
import { createKey, type KeyRequest } from '../../../src/access/keys.ts';
import { createOperatorKey } from '../../../src/access/operator.ts';
import { createAuthenticator } from '../../../src/access/principal.ts';
import { type Core, createCore } from '../../../src/api/services/core.ts';
import type { Call } from '../../../src/api/services/handlers.ts';
import type { JobContext } from '../../../src/jobs/context.ts';
import type { Role } from '../../../src/store/documents.ts';

/** A client of the core with an API key. */
export interface CoreCaller {
  call<M extends DescMethod>(
    method: M,
    request: MessageInitShape<M['input']>,
    options?: Partial<Pick<Call, 'idempotencyKey' | 'responseHeaders' | 'submitOptions'>>,
  ): Promise<MessageShape<M['output']>>;
  /** Returns the parts of a streamed response. */
  stream<M extends DescMethod>(
    method: M,
    request: MessageInitShape<M['input']>,
  ): Promise<HttpBody[]>;
}

/**
 * The account, job, and operator services, and the services of marketplace A, without a transport.
 */
export interface TestCore {
  operator: CoreCaller;
  /** Creates an API key for a user, and a client that uses it. */
  createKey(
    userId: string,
    role?: Role,
    fields?: Partial<KeyRequest>,
  ): Promise<{ keyId: string; apiKey: string; caller: CoreCaller }>;
  admit: Core['admit'];
}

/** Opens the core over a context and creates an operator key. */
export async function openCore(context: JobContext): Promise<TestCore> {
  const core = createCore(context, [
    AccountService,
    DestinationService,
    JobService,
    OperatorService,
    MktaService,
  ]);
  const authenticate = createAuthenticator(context);
  const callerWith = (apiKey: string): CoreCaller => {
    const callOf = async (options = {}) =>
      ({
        principal: await authenticate(`Bearer ${apiKey}`),
        signal: new AbortController().signal,
        waitMs: 0,
        responseHeaders: {},
        ...options,
      }) as unknown as Call;
    return {
      call: async (method, request, options) =>
        (await core.unary(method, create(method.input, request), await callOf(options))) as never,
      stream: async (method, request) =>
        (await Array.fromAsync(
          core.stream(method, create(method.input, request), await callOf()),
        )) as never,
    };
  };
  return {
    operator: callerWith(await createOperatorKey(context.store, 'test', context.clock.now())),
    admit: core.admit,
    async createKey(userId, role = 'user', fields = {}) {
      const createdAt = context.clock.now();
      const request = { userId, role, name: 'key', createdAt, expiresAt: null, ...fields };
      const created = await createKey(context.store, request);
      return { ...created, caller: callerWith(created.apiKey) };
    },
  };
}

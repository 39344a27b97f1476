import { type DescMethod, type DescService, getOption, hasOption, type Message } from '@bufbuild/protobuf';
import { Access, access as accessOption } from '../../gen/gleaner/options/v1/options_pb.ts';
import { http } from '../../gen/google/api/annotations_pb.ts';
import { createAuthenticator, type Principal, requireRole, requireStillValid } from '../access/principal.ts';
import type { RateLimit } from '../access/rate-limit.ts';
import { type Component, Fault, unavailableMessage } from '../contract/fault.ts';
import { problemsOfIdempotencyMetadata } from '../contract/idempotency-key.ts';
import { placeProblems, problemsOf } from '../contract/problems.ts';
import { creditsHeader } from '../contract/response-headers.ts';
import { canWait } from '../contract/wait.ts';
import type { JobContext } from '../jobs/context.ts';
import { fullName } from '../jobs/offers.ts';
import type { User } from '../store/documents.ts';
import { accountHandlers } from './account.ts';
import type { Call, Handlers } from './handlers.ts';
import { jobServiceHandlers } from './job-service.ts';
import { jobHandlers } from './jobs.ts';
import { operatorHandlers } from './operator.ts';
import { sessionHandlers } from './session-service.ts';
import { webhookHandlers } from './webhooks.ts';

/** The core: every call, whichever edge it comes in by, is authenticated, validated and handled here. */
export interface Core {
  /** Services that the core serves, in the order of the documentation. */
  readonly services: readonly DescService[];
  /**
   * Admits a caller to a service by the Authorization header, before any body is read: the one place where every
   * edge authenticates. Counts the request against the rate of its key; `counted` false only checks the rate. Faults
   * `starting`, `unauthenticated`, `forbidden`, `rate_limited`.
   */
  admit(
    service: DescService,
    authorization: string | undefined | null,
    counted?: boolean,
  ): Promise<Principal>;
  /** Authenticates and counts a request like admit(), for callers that name no service. */
  authenticate(authorization: string | undefined | null, counted?: boolean): Promise<Principal>;
  /** True once callers are admitted: the first operator exists. */
  started(): boolean;
  /** Refuses a principal that may not call the service: fault `forbidden`. */
  authorize(principal: Principal, service: DescService): void;
  unary(method: DescMethod, request: Message, call: Call): Promise<Message>;
  stream(method: DescMethod, request: Message, call: Call): AsyncIterable<Message>;
  /** Resolves when the engines answer; fault `unavailable` that says which does not. */
  ready(): Promise<void>;
}

/** Options for createCore(). */
export interface CoreOptions {
  /** True once callers are admitted. Default: at once. */
  started?: () => boolean;
  /** Limit on the requests of each key. Default: none. */
  rateLimit?: RateLimit | null;
}

/** How often a long answer asks whether its caller's key still holds, in milliseconds. */
const stillValidMs = 1_000;

/** Time after which a caller that came before the first operator existed may try again, in milliseconds. */
const startingMs = 2_000;

/** Whether a call may change its caller's credits: users' calls that change anything have such REST forms. */
function changesBalance(method: DescMethod): boolean {
  return hasOption(method, http) && getOption(method, http).pattern.case !== 'get';
}

/**
 * Makes the core. Throws at start when a method has no handler, so that no declared endpoint is
 * without work behind it. Without a rate limit keys are not limited.
 */
export function createCore(
  context: JobContext,
  services: readonly DescService[],
  { started = () => true, rateLimit = null }: CoreOptions = {},
): Core {
  const { store, clock } = context;
  const sources = [
    jobHandlers(context),
    jobServiceHandlers(context),
    accountHandlers(context),
    operatorHandlers(context),
    webhookHandlers(context),
    sessionHandlers(context),
  ];
  const handlers: Handlers = {
    unary: new Map(sources.flatMap(({ unary }) => [...unary])),
    stream: new Map(sources.flatMap(({ stream }) => [...stream])),
  };
  for (const method of services.flatMap((service) => service.methods)) {
    const known = method.methodKind === 'server_streaming' ? handlers.stream : handlers.unary;
    if (!known.has(fullName(method))) throw new Error(`${fullName(method)} has no handler`);
  }

  const accesses = new Map(services.map((service) => [service, getOption(service, accessOption)]));
  const check = (method: DescMethod, request: Message, { principal, idempotencyKey }: Call) => {
    core.authorize(principal, method.parent);
    const problems = [...problemsOfIdempotencyMetadata(idempotencyKey), ...problemsOf(method, request)];
    if (problems.length > 0) throw new Fault('invalid', 'The request is not valid.', { problems });
  };
  const spends = new Set(services.flatMap(({ methods }) => methods.filter(changesBalance)));
  const authenticate = createAuthenticator(context);
  const sayCredits = ({ principal, responseHeaders }: Call, credits: number | undefined) => {
    if (principal.role === 'user' && credits !== undefined) responseHeaders[creditsHeader] = String(credits);
  };
  const demandStarted = () => {
    if (!started()) throw new Fault('starting', 'The service is starting.', { retryAfterMs: startingMs });
  };
  const core: Core = {
    services,
    async authenticate(authorization, counted = true) {
      const principal = await authenticate(authorization);
      if (rateLimit === null) return principal;
      return { ...principal, headers: counted ? rateLimit.take(principal) : rateLimit.check(principal) };
    },
    started,
    async admit(service, authorization, counted) {
      demandStarted();
      const principal = await core.authenticate(authorization, counted);
      core.authorize(principal, service);
      return principal;
    },
    authorize(principal, service) {
      const access = accesses.get(service);
      if (access === Access.PUBLIC || access === Access.ANY_KEY) return;
      requireRole(principal, access === Access.OPERATOR ? 'operator' : 'user');
    },
    async unary(method, request, call) {
      Object.assign(call.responseHeaders, call.principal.headers);
      sayCredits(call, call.principal.balance);
      check(method, request, call);
      const waits = call.waitMs > 0 && canWait(method);
      let user: User | null = null;
      try {
        const answer = await handlers.unary.get(fullName(method))!(request, call);
        if (waits) user = await requireStillValid(store, clock, call.principal);
        return answer;
      } catch (error) {
        throw placeProblems(method, error);
      } finally {
        if (spends.has(method) || waits) {
          // Asked anew: the call, or what happened while it waited, changed the balance.
          user ??= await store.getUser(call.principal.userId).catch(() => null);
          sayCredits(call, user?.balance);
        }
      }
    },
    async *stream(method, request, call) {
      Object.assign(call.responseHeaders, call.principal.headers);
      sayCredits(call, call.principal.balance);
      check(method, request, call);
      let asked = clock.now();
      try {
        for await (const message of handlers.stream.get(fullName(method))!(request, call)) {
          if (clock.now() - asked >= stillValidMs) {
            await requireStillValid(store, clock, call.principal);
            asked = clock.now();
          }
          yield message;
        }
      } catch (error) {
        throw placeProblems(method, error);
      }
    },
    async ready() {
      // Anybody may ask: one check at a time reaches the engines.
      checking ??= checkEngines(context).finally(() => {
        checking = undefined;
      });
      await checking;
      demandStarted();
    },
  };
  let checking: Promise<void> | undefined;
  return core;
}

/** Rejects with the fault `unavailable`, which names the engines that do not answer and has the reasons as its cause. */
async function checkEngines({ store, queue, blobs, disk }: JobContext): Promise<void> {
  const room = {
    ping: async () => {
      if (await disk.isLow()) throw new Fault('unavailable', 'the disk is almost full');
    },
  };
  const engines = { store, queue, 'file store': blobs, disk: room };
  const checks = await Promise.allSettled(Object.values(engines).map((engine) => engine.ping()));
  const missing = Object.keys(engines).filter((_name, index) => checks[index]!.status === 'rejected');
  if (missing.length === 0) return;
  const message = missing.map((name) => unavailableMessage(name as Component)).join(' ');
  const reasons = checks.flatMap((check) => (check.status === 'rejected' ? [check.reason as Error] : []));
  const cause = new AggregateError(reasons, reasons.map((reason) => reason.message).join('; '));
  throw new Fault('unavailable', message, { cause });
}

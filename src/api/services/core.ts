import type { DescMethod, DescService, Message } from '@bufbuild/protobuf';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { Step } from '../../../gen/gleaner/options/v1/options_pb.ts';
import { PriceService } from '../../../gen/gleaner/price/v1/price_pb.ts';
import { createAuthenticator, type Principal, requireStillValid } from '../../access/principal.ts';
import type { RateLimit } from '../../access/rate-limit.ts';
import { withTimeout } from '../../base/abort.ts';
import { formatWorkingHours } from '../../base/working-hours.ts';
import { endpointOf } from '../../contract/endpoint.ts';
import { type Component, Fault, type Problem, unavailableMessage } from '../../contract/fault.ts';
import { problemsOfIdempotencyMetadata } from '../../contract/idempotency-key.ts';
import { type Permissions, refusalOf } from '../../contract/permission.ts';
import { maxProblems } from '../../contract/problem-texts.ts';
import { mergeProblems, placeProblems, problemsOf } from '../../contract/problems.ts';
import { creditsHeader, type ResponseHeaders } from '../../contract/response-headers.ts';
import { canAwaitOutcome, canWait } from '../../contract/wait.ts';
import { approvalWaitMs, type JobContext } from '../../jobs/context.ts';
import { listKindPrices } from '../../jobs/credits.ts';
import { fullName } from '../../jobs/job-types.ts';
import type { User } from '../../store/documents.ts';
import { accountHandlers } from './account.ts';
import {
  createReadMemory,
  createRefusalLimit,
  isAudited,
  recordRefusal,
  runAudited,
} from './audit-log.ts';
import { destinationHandlers } from './destinations.ts';
import { type Call, changesBalance, type Handlers, handle } from './handlers.ts';
import { historyHandlers } from './history.ts';
import { jobServiceHandlers } from './jobs.ts';
import { jobHandlers } from './markets.ts';
import { operatorHandlers } from './operator.ts';
import { scheduleHandlers } from './schedules.ts';
import { schemaHandlers } from './schemas.ts';
import { sessionHandlers } from './sessions.ts';
import { addOutcome } from './submit-outcome.ts';
import { webhookHandlers } from './webhooks.ts';

/** Authenticated caller of a core, with the permissions of its key and its credits. */
export interface AdmittedCaller
  extends Permissions,
    Pick<Principal, 'userId' | 'balance' | 'headers'> {}

/**
 * Authenticates, validates, and handles the calls of all interfaces, in this process (createCore)
 * or in another one (createRemoteCore). `C` is the type of an authenticated caller. Errors are
 * faults.
 */
export interface Core<C extends AdmittedCaller = Principal> {
  /** Served services, in the order of the documentation. */
  readonly services: readonly DescService[];
  /** True for the core of another process, whose calls have spans of a client. */
  readonly isRemote: boolean;
  /**
   * Admits a caller to a method by the Authorization header, before the body is read. Records a
   * refusal in the audit log. Throws `starting`, `unauthenticated`, `forbidden`, `rate_limited`.
   */
  admit(
    method: DescMethod,
    authorization: string | undefined | null,
    options?: AdmitOptions,
  ): Promise<C>;
  /**
   * Counts a request of an admitted caller that calls no method against the rate limit of its key,
   * and returns the headers of its response. Absent if admit() counts requests. Throws
   * `rate_limited`.
   */
  count?(caller: C): Promise<ResponseHeaders>;
  /** True once callers are admitted: the first operator exists. */
  started(): boolean;
  unary(method: DescMethod, request: Message, call: Call<C>): Promise<Message>;
  stream(method: DescMethod, request: Message, call: Call<C>): AsyncIterable<Message>;
  /**
   * Resolves if the engines respond. Throws `unavailable`, which names the engines that do not
   * respond.
   */
  ready(): Promise<void>;
}

/** Use of the rate limit of a key by a request. */
export type RateUse = 'count' | 'check' | 'ignore';

export interface AdmitOptions {
  /** Use of the rate limit of the request's key. Default: `count`. */
  rate?: RateUse;
  /** Addresses that the call came from, for the audit log. */
  source?: string;
}

export interface CoreOptions {
  /** Returns true once callers are admitted; by default always. */
  started?: () => boolean;
  /** Limit on the requests of each key. Default: no limit. */
  rateLimit?: RateLimit | null;
}

/** Interval at which a stream checks that its caller's key is still valid, in milliseconds. */
const stillValidMs = 1_000;

/** `Retry-After` of calls before the first operator exists, in milliseconds. */
const startingMs = 2_000;

/** Creates the core. Throws if a declared method has no handler. */
export function createCore(
  context: JobContext,
  services: readonly DescService[],
  { started = () => true, rateLimit = null }: CoreOptions = {},
): Core {
  const { store, clock } = context;
  const sources = [
    jobHandlers(context),
    jobServiceHandlers(context),
    schemaHandlers(context),
    historyHandlers(context),
    accountHandlers(context),
    destinationHandlers(context),
    operatorHandlers(context),
    priceHandlers(context),
    webhookHandlers(context),
    sessionHandlers(context),
    scheduleHandlers(context),
  ];
  const handlers: Handlers = {
    unary: new Map(sources.flatMap(({ unary }) => [...unary])),
    stream: new Map(sources.flatMap(({ stream }) => [...stream])),
  };
  for (const method of services.flatMap((service) => service.methods)) {
    const handlersOfKind =
      method.methodKind === 'server_streaming' ? handlers.stream : handlers.unary;
    if (!handlersOfKind.has(method)) throw new Error(`${fullName(method)} has no handler`);
  }

  const check = async (method: DescMethod, request: Message, call: Call) => {
    authorize(method, call.principal);
    if (call.waitMs > 0 && canAwaitOutcome(method))
      authorize(JobService.method.getJob, call.principal);
    const problems = problemsOfCall(method, request, call);
    if (problems.length > 0)
      throw invalid(mergeProblems(problems, await problemsOfPlan(context, method, request)));
  };
  const spends = new Set(services.flatMap(({ methods }) => methods.filter(changesBalance)));
  const authenticate = createAuthenticator(context);
  const isRecorded = createRefusalLimit(clock);
  const setCredits = ({ principal, responseHeaders }: Call, credits: number | undefined) => {
    if (principal.role === 'user' && credits !== undefined)
      responseHeaders[creditsHeader] = String(credits);
  };
  const requireStarted = () => {
    if (!started())
      throw new Fault('starting', 'The service is starting.', { retryAfterMs: startingMs });
  };
  const isRepeatedRead = createReadMemory(clock);
  const isCallAudited = (
    method: DescMethod,
    request: Message,
    { principal, submitOptions }: Call,
  ) =>
    // A quote has no effect.
    isAudited(method, principal) &&
    !submitOptions?.validateOnly &&
    !isRepeatedRead(method, request, principal);
  const run: Core['unary'] = async (method, request, call) => {
    Object.assign(call.responseHeaders, call.principal.headers);
    setCredits(call, call.principal.balance);
    await check(method, request, call);
    const waits = call.waitMs > 0 && canWait(method);
    let user: User | null = null;
    try {
      const response = await handlers.unary.get(method)!(request, call);
      if (waits) user = await requireStillValid(store, clock, call.principal);
      if (call.waitMs > 0 && canAwaitOutcome(method)) await addOutcome(method, response, call, run);
      return response;
    } catch (error) {
      throw placeProblems(method, error);
    } finally {
      if (spends.has(method) || waits) {
        // Read again: the call, or the job during the wait, may have changed the balance.
        user ??= await store.users.get(call.principal.userId).catch(() => null);
        setCredits(call, user?.balance);
      }
    }
  };
  let checking: Promise<void> | undefined;
  return {
    services,
    isRemote: false,
    started,
    async admit(method, authorization, { rate = 'count', source = '' } = {}) {
      requireStarted();
      const caller = await authenticate(authorization);
      const use = rate === 'count' ? rateLimit?.take : rateLimit?.check;
      const limit = rate === 'ignore' ? undefined : use;
      const principal = limit === undefined ? caller : { ...caller, headers: limit(caller) };
      try {
        authorize(method, principal);
      } catch (error) {
        if (isAudited(method, principal) && isRecorded(principal.keyId))
          await recordRefusal(context, method, { principal, source }, error);
        throw error;
      }
      return principal;
    },
    unary: (method, request, call) =>
      isCallAudited(method, request, call)
        ? runAudited(context, method, request, call, () => run(method, request, call))
        : run(method, request, call),
    async *stream(method, request, call) {
      Object.assign(call.responseHeaders, call.principal.headers);
      setCredits(call, call.principal.balance);
      await check(method, request, call);
      let checkedAt = clock.steady();
      const messages = handlers.stream.get(method)!(request, call)[Symbol.asyncIterator]();
      const begin = () => messages.next();
      try {
        let next = isCallAudited(method, request, call)
          ? await runAudited(context, method, request, call, begin)
          : await begin();
        for (; !next.done; next = await messages.next()) {
          if (clock.steady() - checkedAt >= stillValidMs) {
            await requireStillValid(store, clock, call.principal);
            checkedAt = clock.steady();
          }
          yield next.value;
        }
      } catch (error) {
        throw placeProblems(method, error);
      } finally {
        await messages.return?.();
      }
    },
    async ready() {
      // The probe needs no key, so concurrent calls share one check.
      checking ??= checkEngines(context).finally(() => {
        checking = undefined;
      });
      await checking;
      requireStarted();
    },
  };
}

/**
 * Returns the problems of a call by the rules of the contract: of its metadata, then of its
 * request.
 */
function problemsOfCall(
  method: DescMethod,
  request: Message,
  { idempotencyKey, problems = [] }: Pick<Call, 'idempotencyKey' | 'problems'>,
): Problem[] {
  const ofMetadata =
    idempotencyKey === undefined ? [] : problemsOfIdempotencyMetadata(idempotencyKey);
  return [...ofMetadata, ...problems, ...problemsOf(method, request)];
}

/**
 * Returns the problems that the kind of a submission finds in a request, which may break rules of
 * the contract. None for other methods.
 */
async function problemsOfPlan(
  { jobTypes }: Pick<JobContext, 'jobTypes'>,
  method: DescMethod,
  request: Message,
): Promise<readonly Problem[]> {
  const { step, jobType } = jobTypes.methods.get(fullName(method)) ?? {};
  if (step !== Step.SUBMIT) return [];
  try {
    await jobType!.kind.plan(request, method.input, jobType!.market);
    return [];
  } catch (error) {
    return Fault.from(placeProblems(method, error)).problems;
  }
}

function invalid(problems: readonly Problem[]): Fault {
  return new Fault('invalid', 'The request is not valid.', {
    problems: problems.slice(0, maxProblems),
  });
}

/**
 * Throws `invalid`, which lists the problems of a call: first its metadata's, then its
 * request.
 */
export function requireValid(
  method: DescMethod,
  request: Message,
  call: Parameters<typeof problemsOfCall>[2],
) {
  const problems = problemsOfCall(method, request, call);
  if (problems.length > 0) throw invalid(problems);
}

/** Throws `forbidden` if the caller's key does not allow the method. */
function authorize(method: DescMethod, principal: Principal): void {
  const refusal = refusalOf(method, principal);
  if (refusal !== null) throw new Fault('forbidden', refusal);
}

/**
 * Time that an engine has to respond to a check, in milliseconds: less than the usual timeouts of
 * probes.
 */
const pingMs = 2_000;

/**
 * Checks the engines. Throws `unavailable`, which names the engines that do not respond and has the
 * reasons as its cause.
 */
export async function checkEngines({ store, queue, blobs, disk }: JobContext): Promise<void> {
  const room = {
    ping: async () => {
      if (await disk.isLow()) throw new Fault('unavailable', 'the disk is almost full');
    },
  };
  const engines = {
    store,
    queue,
    'file store': blobs,
    disk: room,
  };
  const checks = await Promise.allSettled(
    Object.entries(engines).map(([name, engine]) =>
      withTimeout<unknown>(pingMs, `The check of the ${name}`, engine.ping()),
    ),
  );
  const missing = Object.keys(engines).filter(
    (_name, index) => checks[index]!.status === 'rejected',
  );
  if (missing.length === 0) return;
  const message = missing.map((name) => unavailableMessage(name as Component)).join(' ');
  const reasons = checks.flatMap((check) =>
    check.status === 'rejected' ? [check.reason as Error] : [],
  );
  const cause = new AggregateError(reasons, reasons.map((reason) => reason.message).join('; '));
  throw new Fault('unavailable', message, { cause });
}

/** Returns the handlers of gleaner.price.v1.PriceService. */
function priceHandlers(context: JobContext): Handlers {
  const getPriceList = handle(PriceService.method.getPriceList, async () => {
    const { workingHours } = context.settings;
    return {
      prices: listKindPrices(context).map(({ method, regions, maxBodyBytes, ...price }) => ({
        ...price,
        submitPath: endpointOf(method)?.path ?? '',
        regions: [...regions],
        maxBodyBytes: BigInt(maxBodyBytes),
      })),
      workingHours: workingHours === null ? '' : formatWorkingHours(workingHours),
      approvalHours: approvalWaitMs / 3_600_000,
    };
  });
  return { unary: new Map([getPriceList]), stream: new Map() };
}

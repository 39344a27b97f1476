import { timestampMs } from '@bufbuild/protobuf/wkt';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { createKey } from '../access/keys.ts';
import { Fault } from '../base/fault.ts';
import { acceptDrift, listFieldDrift } from '../drift/alarms.ts';
import type { JobContext } from '../jobs/context.ts';
import { approve, reject } from '../jobs/decide.ts';
import { waitingFor } from '../jobs/waiting.ts';
import type { Job, JobState } from '../store/documents.ts';
import { handle, pageSize } from './account.ts';
import type { Handlers } from './core.ts';
import { driftShape } from './drift-shape.ts';
import { accountShape, jobShape, keyShape, originShape } from './shapes.ts';

/** States behind a status that clients know. */
const statesOf: Record<string, readonly JobState[]> = {
  awaiting_approval: ['submitted', 'awaiting_approval', 'approving'],
  initializing: ['approved'],
  processing: ['approved', 'processing', 'settling', 'terminating'],
  completed: ['completed'],
  partial_complete: ['partial_complete'],
  failed: ['failed'],
  rejected: ['rejecting', 'rejected'],
  terminated: ['terminated'],
};

/** Handlers of gleaner.operator.v1.OperatorService. */
export function operatorHandlers(context: JobContext): Handlers {
  const { store, clock } = context;
  const { method } = OperatorService;

  const userOf = async (userId: string) => {
    const user = await store.getUser(userId);
    if (user === null)
      throw Fault.invalid(['body', 'user_id'], `There is no user '${userId}'`, 'value_error');
    return user;
  };
  const shape = async (job: Job) => {
    const counts = await store.countJob(job.id);
    const { judgedBy } = context.offers.of(job).kind;
    return jobShape(job, counts, judgedBy, (await waitingFor(context, job, counts)) ?? '');
  };

  const unary = new Map([
    handle(method.createUser, async ({ name, email }) => {
      const user = {
        id: context.newId(),
        name,
        email,
        role: 'user' as const,
        balance: 0,
        createdAt: clock.now(),
      };
      await store.createUser(user);
      return { user: accountShape(user) };
    }),
    handle(method.listUsers, async (request) => {
      const page = { limit: request.pageSize || pageSize, after: request.pageToken || null };
      const { items, next } = await store.listUsers('user', page);
      return { users: items.map(accountShape), nextPageToken: next ?? '' };
    }),
    handle(method.createApiKey, async ({ userId, name, expiresAt }) => {
      const { role } = await userOf(userId);
      return createKey(store, {
        userId,
        role,
        name,
        createdAt: clock.now(),
        expiresAt: expiresAt ? timestampMs(expiresAt) : null,
      });
    }),
    handle(method.revokeApiKey, async ({ keyId }) => {
      const key = await store.revokeApiKey(keyId, clock.now());
      if (key === null) throw new Fault('not_found', `There is no key '${keyId}'.`);
      return { key: keyShape(key) };
    }),
    handle(method.grantCredits, async ({ userId, amount, note }, { idempotencyKey }) => {
      await userOf(userId);
      const key = `grant:${idempotencyKey === undefined ? context.newId() : `${userId}:${idempotencyKey}`}`;
      const posting = await store.postLedgerEntry({
        key,
        userId,
        amount: Number(amount),
        type: 'grant',
        jobId: null,
        note,
        createdAt: clock.now(),
      });
      if (!posting.posted)
        throw new Fault('conflict', `The account has ${posting.balance} credits, fewer than ${-amount}.`);
      return { balance: BigInt(posting.balance) };
    }),
    handle(method.listJobs, async (request) => {
      const states = request.status === '' ? undefined : statesOf[request.status];
      if (request.status !== '' && states === undefined) {
        const words = Object.keys(statesOf).join(', ');
        throw Fault.invalid(['body', 'status'], `'${request.status}' is not one of ${words}`, 'enum');
      }
      const filter = {
        ...(states ? { states } : {}),
        ...(request.userId === '' ? {} : { userId: request.userId }),
        ...(request.kind === '' ? {} : { kind: request.kind }),
      };
      const { items, next } = await store.listJobs(filter, {
        limit: request.pageSize || pageSize,
        after: request.pageToken || null,
      });
      return { jobs: await Promise.all(items.map(shape)), nextPageToken: next ?? '' };
    }),
    handle(method.getJob, async ({ jobId }) => {
      const job = await store.getJob(jobId);
      if (job === null) throw new Fault('not_found', `There is no job '${jobId}'.`);
      return { job: await shape(job) };
    }),
    handle(method.approveJob, async ({ jobId }, { principal }) => ({
      job: await shape(await approve(context, jobId, principal.userId)),
    })),
    handle(method.rejectJob, async ({ jobId, reason }, { principal }) => ({
      job: await shape(await reject(context, jobId, principal.userId, reason)),
    })),
    handle(method.listOrigins, async () => ({ origins: (await store.listPauses()).map(originShape) })),
    handle(method.listDriftAlarms, async ({ market, all }) => {
      const drift = await listFieldDrift(store, all);
      return { alarms: drift.filter((each) => market === '' || each.market === market).map(driftShape) };
    }),
    handle(method.acceptDrift, async ({ market, page, field }) => ({
      fields: await acceptDrift(store, market, page, field),
    })),
  ]);
  return { unary, stream: new Map() };
}

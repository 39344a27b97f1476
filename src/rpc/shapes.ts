import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type {
  AccountSchema,
  ApiKeySchema,
  LedgerEntrySchema,
} from '../../gen/gleaner/account/v1/account_pb.ts';
import type { JobSchema } from '../../gen/gleaner/job/v1/job_pb.ts';
import type { OriginSchema } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { aggregate } from '../kinds/states.ts';
import type { ApiKey, Counts, Job, LedgerEntry, User } from '../store/documents.ts';
import type { OriginPause } from '../store/politeness.ts';

/** A user as the account and operator services show it. */
export function accountShape(user: User): MessageInitShape<typeof AccountSchema> {
  const { id, name, email } = user;
  return { id, name, email, balance: BigInt(user.balance), createdAt: timestampFromMs(user.createdAt) };
}

/** A key without the key itself. */
export function keyShape(key: ApiKey): MessageInitShape<typeof ApiKeySchema> {
  return {
    keyId: key.id,
    name: key.name,
    prefix: key.prefix,
    createdAt: timestampFromMs(key.createdAt),
    ...(key.expiresAt === null ? {} : { expiresAt: timestampFromMs(key.expiresAt) }),
    ...(key.revokedAt === null ? {} : { revokedAt: timestampFromMs(key.revokedAt) }),
  };
}

/** One entry of the ledger. */
export function entryShape(entry: LedgerEntry): MessageInitShape<typeof LedgerEntrySchema> {
  const { key, type, note } = entry;
  const createdAt = timestampFromMs(entry.createdAt);
  return { key, type, note, amount: BigInt(entry.amount), jobId: entry.jobId ?? '', createdAt };
}

/** A job as operators see it. `judgedBy`: what its kind is judged by at its end. */
export function jobShape(
  job: Job,
  counts: Counts,
  judgedBy: keyof Counts,
  waitingFor: string,
): MessageInitShape<typeof JobSchema> {
  const { units } = counts;
  const { userId, kind, market, region, cost, refunded, reason } = job;
  return {
    jobId: job.id,
    userId,
    kind,
    market,
    region,
    cost,
    refunded,
    reason,
    waitingFor,
    status: jobStatus(job, counts[judgedBy]),
    total: job.totalUnits,
    success: units.success,
    failed: job.state === 'rejected' ? job.totalUnits : units.failed,
    createdAt: timestampFromMs(job.createdAt),
    ...(job.decideBy === null ? {} : { decideBy: timestampFromMs(job.decideBy) }),
    ...(job.finishedAt === null ? {} : { finishedAt: timestampFromMs(job.finishedAt) }),
  };
}

function jobStatus(job: Job, parts: Counts['units' | 'batches']): string {
  switch (job.state) {
    case 'submitted':
    case 'approving':
      return 'awaiting_approval';
    case 'approved':
      return job.decidedBy === null ? 'initializing' : 'processing';
    case 'rejecting':
      return 'rejected';
    case 'settling':
      return aggregate(parts.success, parts.failed);
    case 'terminating':
      return 'processing';
    default:
      return job.state;
  }
}

/** An origin that is left alone. */
export function originShape(pause: OriginPause & { origin: string }): MessageInitShape<typeof OriginSchema> {
  const { origin, until, reason, strikes, since, probing } = pause;
  return {
    origin,
    reason,
    strikes,
    probing,
    pausedUntil: timestampFromMs(until),
    since: timestampFromMs(since),
  };
}

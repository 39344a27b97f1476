import { isWithin, nextWithin } from '../../base/working-hours.ts';
import { describePauseReason } from '../../fetch/request-outcome.ts';
import type { Job } from '../../store/documents.ts';
import type { OriginPause } from '../../store/origin-state.ts';
import { approvalWaitMs, type JobContext } from '../context.ts';
import type { ResolvedJobType } from '../job-types.ts';
import type { PlannedOrigin } from './origins.ts';

/** Delay of a job's start. */
export interface Delay {
  reason: 'approval' | 'working_hours' | 'origin_paused';
  region: string;
  /** End in milliseconds since the epoch. Null if it is not known. */
  until: number | null;
  message: string;
}

/** Delays of a job, and the earliest time at which it can begin. */
export interface Start {
  delays: Delay[];
  beginsAt: number;
}

/** Maximum paused origins listed in a quote. */
const maxPaused = 20;

/** Returns what delays the start of a planned job, and when work can begin if it were approved now. */
export function findStart(
  { clock, settings }: Pick<JobContext, 'clock' | 'settings'>,
  { kind, market }: Pick<ResolvedJobType, 'kind' | 'market'>,
  origins: readonly PlannedOrigin[],
  pauses: readonly (OriginPause & { origin: string })[],
  needsApproval: boolean,
): Start {
  const now = clock.now();
  const delays: Delay[] = [];
  if (needsApproval) {
    const message = `An operator must approve the job. It is rejected if undecided after ${approvalWaitMs / 3_600_000} hours.`;
    delays.push({ reason: 'approval', region: '', until: null, message });
  }
  const { workingHours } = settings;
  const opensAt = workingHours !== null && kind.workingHours ? nextWithin(workingHours, now) : now;
  if (opensAt > now) {
    const message = 'Jobs of this kind start batches during working hours only.';
    delays.push({ reason: 'working_hours', region: '', until: opensAt, message });
  }
  const paused = new Map(pauses.filter(({ until }) => until > now).map((pause) => [pause.origin, pause]));
  for (const { origin, region } of origins) {
    const pause = paused.get(origin);
    if (pause === undefined) continue;
    const name = region === '' ? origin : `${market.name}/${region}`;
    const message = `${name}: ${describePauseReason(pause.reason)}`;
    delays.push({ reason: 'origin_paused', region, until: pause.until, message });
  }
  // Units of other origins begin during a pause.
  const resumesAt = Math.min(...origins.map(({ origin }) => paused.get(origin)?.until ?? now));
  const beginsAt = Math.max(opensAt, origins.length === 0 ? now : resumesAt);
  return { delays: delays.slice(0, maxPaused), beginsAt };
}

/** Returns false while a live job of a kind with working hours is outside of them. */
export function isOpen(context: JobContext, job: Pick<Job, 'kind' | 'market' | 'mode'>): boolean {
  const { workingHours } = context.settings;
  return (
    workingHours === null ||
    job.mode === 'test' ||
    !context.jobTypes.of(job).kind.workingHours ||
    isWithin(workingHours, context.clock.now())
  );
}

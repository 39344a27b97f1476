import type { JobContext } from '../jobs/context.ts';
import { driftPageOf } from '../jobs/job-types.ts';
import { qualityOf } from '../jobs/queries/units.ts';
import { type FieldDrift, fieldDriftOf, listFieldDrift } from '../quality/alarms.ts';
import type { Job } from '../store/documents.ts';
import type { NotifyContext } from './context.ts';
import { driftEmail, missingFieldsEmail } from './email.ts';
import { driftNotice, missingFieldsNotice } from './message.ts';
import { queueForOperators } from './queue.ts';

const hourMs = 3_600_000;

/**
 * Stores the messages to operators about drift alarms that started in the last hour: one per page
 * of a marketplace and hour, however many fields a change of the site affects. A repeated call
 * stores none.
 */
export async function announceDrift(context: JobContext): Promise<void> {
  const { settings, store, clock } = context;
  if (settings.notices.operatorWebhook === null && settings.notices.email === null) return;
  const pages = new Map<string, FieldDrift[]>();
  for (const drift of await listFieldDrift(store, false)) {
    if (drift.since === null || drift.since < clock.now() - hourMs) continue;
    const about = `${drift.market}/${drift.page}:${Math.floor(drift.since / hourMs)}`;
    pages.set(about, [...(pages.get(about) ?? []), drift]);
  }
  for (const [about, fields] of pages) {
    const message = { notice: driftNotice(fields), email: driftEmail(fields) };
    await queueForOperators(context, about, null, message);
  }
}

/** Minimum records of a job without a value before the field counts as missing from it. */
const minRecords = 20;
/** Maximum share of the baseline's pages that lack a field which pages have as a rule. */
const maxBaseline = 0.5;

/**
 * Counts an ended job none of whose records has a field that earlier pages had, and stores the
 * message to operators about it: one per page of a marketplace and hour. Alarms of drift compare
 * all pages; one job may have few of them.
 */
export async function announceMissingFields(context: NotifyContext, job: Job): Promise<void> {
  const { store, metrics } = context;
  if (job.mode === 'test' || job.rereadOf !== null) return;
  const page = driftPageOf(context.jobTypes.of(job), job.region);
  const usual = new Map<string, FieldDrift>();
  for (const drift of await fieldDriftOf(store, job.market, page))
    if (drift.baseline !== null && drift.baseline <= maxBaseline) usual.set(drift.field, drift);
  if (usual.size === 0) return;

  const { fields } = await qualityOf(context, job);
  const missing = fields.flatMap(({ name, records, filled }) => {
    const drift = usual.get(name);
    return drift !== undefined && records >= minRecords && filled === 0 ? [drift] : [];
  });
  if (missing.length === 0) return;
  metrics.add('gleaner_jobs_fields_missing_total', { kind: job.kind, market: job.market });
  const at = job.finishedAt ?? job.createdAt;
  const about = `${job.market}/${page}:${Math.floor(at / hourMs)}`;
  const link = `${context.publicUrl()}/console/jobs/${job.id}`;
  const message = {
    notice: missingFieldsNotice(job, missing, link),
    email: missingFieldsEmail(missing, link),
  };
  await queueForOperators(context, about, job.id, message);
}

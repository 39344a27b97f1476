import { repeat } from '../base/due-work.ts';
import { computeDigest } from '../blobs/blobs.ts';
import { Fault } from '../contract/fault.ts';
import { openDestination } from '../destinations/address.ts';
import type { DestinationWriter, WriteResult } from '../destinations/writer.ts';
import { postponeDelivery } from '../store/deliveries.ts';
import type { DestinationFormat } from '../store/destinations.ts';
import type { Delivery, Job } from '../store/documents.ts';
import type { NotifyContext } from './context.ts';
import type { FileNotice } from './message.ts';
import { isLastAttempt, slowDelayMs } from './schedule.ts';

/**
 * Duration of a claim on a delivery, in milliseconds: longer than any attempt to send a message
 * takes.
 */
export const leaseMs = 120_000;

/** Reason of the abort of an attempt whose delivery another process has claimed. */
export class ClaimLost extends Error {
  constructor() {
    super('another process has claimed the delivery');
    this.name = 'ClaimLost';
  }
}

/**
 * Attempts to write the results of a job to a destination, under the name that was chosen when the
 * delivery was created. `attempts` counts this one. Rejects with the signal's reason if aborted,
 * with a ClaimLost if another process has claimed the delivery, and with fault `unavailable` if the
 * store or the result storage does not respond.
 */
export async function sendFile(
  context: NotifyContext,
  delivery: Delivery,
  attempts: number,
  signal: AbortSignal,
): Promise<WriteResult> {
  const { store, destinations } = context;
  const failed = (error: string, final: boolean): WriteResult => ({ status: null, error, final });
  const destination = await store.destinations.get(delivery.destinationId ?? '');
  if (destination === null) return failed('The destination was deleted', true);
  const job = await store.jobs.get(delivery.jobId ?? '');
  if (job === null || job.filesDeletedAt !== null) return failed('The results were deleted', true);
  const opened = openDestination(destinations.box, destination);
  if (opened === null)
    return failed('The service has lost the key of the secrets. Enter them again', false);
  const writer = await destinations.open(opened);
  const sending: Sending = {
    delivery,
    job,
    notice: JSON.parse(delivery.body),
    writer,
  };
  try {
    const result = await attempt(context, sending, signal);
    if (result.timedOut) result.retryAfterMs = slowDelayMs;
    if (isLastAttempt(attempts, result.timedOut)) result.final = true;
    return result;
  } finally {
    writer.close();
  }
}

/** A file that is being sent. */
interface Sending {
  delivery: Delivery;
  job: Job;
  notice: FileNotice;
  writer: DestinationWriter;
}

/**
 * Sends a file while it keeps the claim on the delivery. An error of the results is the result of
 * the attempt.
 */
async function attempt(
  context: NotifyContext,
  sending: Sending,
  signal: AbortSignal,
): Promise<WriteResult> {
  const { delivery, job } = sending;
  try {
    return await keepClaim(context, delivery, signal, (until) => write(context, sending, until));
  } catch (error) {
    const fault = Fault.from(error);
    if (signal.aborted || error instanceof ClaimLost || fault.isOutage) throw error;
    context.log.error(
      { deliveryId: delivery.id, jobId: job.id, err: error },
      'results not readable',
    );
    const details = fault.code === 'internal' ? '' : `: ${fault.message}`;
    return { status: null, error: `The results cannot be read${details}` };
  }
}

/**
 * Runs an attempt that may take longer than a claim. Extends the claim until the attempt ends, and
 * aborts the attempt with a ClaimLost if the claim is lost.
 */
async function keepClaim<T>(
  { store, clock }: NotifyContext,
  delivery: Pick<Delivery, 'id' | 'revision'>,
  signal: AbortSignal,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const losing = new AbortController();
  const ending = new AbortController();
  const extend = async () => {
    if (!(await postponeDelivery(store, delivery, clock.steady() + leaseMs)))
      losing.abort(new ClaimLost());
  };
  // While the store is unavailable, the claim expires, and a later write finds that it was lost.
  const onError = () => {};
  const options = {
    clock,
    intervalMs: leaseMs / 3,
    startsLate: true,
    onError,
  };
  const extending = repeat(extend, options, ending.signal);
  try {
    return await attempt(AbortSignal.any([signal, losing.signal]));
  } finally {
    ending.abort(new Error('the attempt has ended'));
    await extending;
  }
}

async function write(
  { store, clock, openResults, uploads }: NotifyContext,
  sending: Sending,
  signal: AbortSignal,
): Promise<WriteResult> {
  const { delivery, job, notice, writer } = sending;
  const { path, format } = notice.data;
  const file = openResults(job, format as DestinationFormat);
  const release = await uploads.acquire(signal, { owner: { userId: job.userId, jobId: job.id } });
  try {
    const { contentType } = file;
    const read = async function* () {
      yield* file.read();
      // The object appears after the last chunk, and only the owner of the claim may replace it.
      const isKept = await postponeDelivery(store, delivery, clock.steady() + leaseMs);
      if (!isKept) throw new ClaimLost();
    };
    const source = {
      path,
      contentType,
      read,
      measure: () => computeDigest(file.read()),
    };
    return await writer.write(source, signal);
  } finally {
    release();
  }
}

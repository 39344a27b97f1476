import { retrievePaths } from '../api/services/job-messages.ts';
import { onDemand } from '../base/on-demand.ts';
import { createConcurrencyLimit } from '../fetch/concurrency-limit.ts';
import { openJobFile } from '../jobs/queries/files.ts';
import { createNotifier } from '../notify/notifier.ts';
import type { Poster } from '../outbound/post.ts';
import type { Program } from './compose.ts';

/** Timeout for the response of a webhook receiver, in milliseconds. */
const responseMs = 10_000;
/** Files sent at a time by this process. Each needs a part of a multipart upload in memory. */
const maxUploads = 4;
/** Of these, files of one user, so that slow receivers of a user leave slots to others. */
const maxUploadsPerUser = maxUploads / 2;
/** Timeouts for each reply of a mail server and for a whole message, in milliseconds. */
const mailTimes = { stepMs: 10_000, totalMs: 30_000 };

/**
 * Delivers notifications of jobs until the signal aborts. Resolves when every connection has
 * closed.
 */
export async function notify(
  { context, config }: Program,
  publicUrl: () => string,
  signal: AbortSignal,
): Promise<void> {
  const { email } = config.notices;
  const poster = createPosterOnDemand();
  const mailer =
    email === null
      ? null
      : (await import('../notify/mailer.ts')).createMailer(email.smtp, mailTimes);
  const notifier = createNotifier({
    ...context,
    publicUrl,
    retrievePath: retrievePaths(context.jobTypes),
    poster,
    mailer,
    openResults: (job, format) => openJobFile(context, job, format),
    uploads: createConcurrencyLimit(maxUploads, undefined, maxUploadsPerUser),
  });
  try {
    await notifier.run(signal);
  } finally {
    mailer?.close();
    await poster.close();
  }
}

/**
 * Creates a poster that loads the HTTP client with the first message: most installations never send
 * one.
 */
function createPosterOnDemand(): Omit<Poster, 'send'> {
  const poster = onDemand(async () =>
    (await import('../outbound/post.ts')).createPoster({ totalMs: responseMs }),
  );
  return {
    post: async (message, signal) => (await poster()).post(message, signal),
    close: poster.close,
  };
}

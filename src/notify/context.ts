import type { ConcurrencyLimit } from '../fetch/concurrency-limit.ts';
import type { JobContext } from '../jobs/context.ts';
import type { JobFile } from '../jobs/queries/files.ts';
import type { Poster } from '../outbound/post.ts';
import type { DestinationFormat } from '../store/destinations.ts';
import type { Job } from '../store/documents.ts';
import type { Mailer } from './mailer.ts';

/**
 * Dependencies of the notifier: the dependencies of jobs, and the senders of messages and files.
 */
export interface NotifyContext extends JobContext {
  /** Returns the base URL of links to this service, without a trailing slash. */
  publicUrl(): string;
  /** Returns the REST path of the job's retrieve endpoint. */
  retrievePath(job: Job): string;
  poster: Pick<Poster, 'post'>;
  /** Null if no mail server is configured. */
  mailer: Mailer | null;
  /** Returns the results of an ended job in a format. Nothing is read until the file is. */
  openResults(job: Job, format: DestinationFormat): JobFile;
  /** Limits the files that this process sends at a time. */
  uploads: Pick<ConcurrencyLimit, 'acquire'>;
}

import type { Clock } from '../../base/clock.ts';
import type { NewId } from '../../base/id.ts';
import type { Log } from '../../base/log.ts';
import type { NoticeSettings } from '../../base/notification-settings.ts';
import type { ConcurrencyLimit } from '../../fetch/concurrency-limit.ts';
import type { Poster } from '../../fetch/post.ts';
import type { Job } from '../../store/documents.ts';
import type { Store } from '../../store/store.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Destinations } from '../destination/destinations.ts';
import type { OpenResults } from '../destination/job-file.ts';
import type { Mailer } from './mailer.ts';

/** Dependencies for creating messages. */
export interface NoticeContext {
  store: Pick<Store, 'deliveries' | 'webhooks'>;
  clock: Clock;
  newId: NewId;
  settings: NoticeSettings;
}

/** Dependencies of the notifier. */
export interface NotifyContext extends NoticeContext {
  store: Store;
  log: Log;
  metrics: Metrics;
  /** Returns a number in [0, 1) that jitters retries. */
  random(): number;
  /** Returns the base URL of links to this service, without a trailing slash. */
  publicUrl(): string;
  /** Returns the REST path of the job's retrieve endpoint. */
  retrievePath(job: Job): string;
  poster: Pick<Poster, 'post'>;
  /** Null if no mail server is configured. */
  mailer: Mailer | null;
  destinations: Destinations;
  openResults: OpenResults;
  /** Limits the files that this process sends at a time. */
  uploads: Pick<ConcurrencyLimit, 'acquire'>;
}

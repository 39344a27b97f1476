import type { Clock } from '../base/clock.ts';
import type { NewId } from '../base/id.ts';
import type { Log } from '../base/log.ts';
import type { NoticeSettings } from '../base/notice-settings.ts';
import type { Poster } from '../fetch/post.ts';
import type { Job } from '../store/documents.ts';
import type { Store } from '../store/store.ts';
import type { Mailer } from './mailer.ts';

/** What making a message takes. */
export interface NoticeContext {
  store: Store;
  clock: Clock;
  newId: NewId;
  settings: NoticeSettings;
}

/** What telling people takes. */
export interface NotifyContext extends NoticeContext {
  log: Log;
  /** At least 0, below 1: tries are spread by it. */
  random(): number;
  /** What links to this service start with. */
  publicUrl(): string;
  /** REST path that shows a job to its owner. */
  retrievePath(job: Job): string;
  poster: Poster;
  /** Null where no mail server is configured. */
  mailer: Mailer | null;
}

import type { NoticeSettings } from '../base/notification-settings.ts';
import type { JobContext } from '../jobs/context.ts';

/** Dependencies of the comparison of jobs. */
export type HistoryContext = Pick<JobContext, 'blobs' | 'clock' | 'log' | 'newId' | 'jobTypes' | 'store'> & {
  settings: { notices: NoticeSettings };
};

import type { NoticeSettings } from '../base/notification-settings.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';

/** Dependencies of the comparison of jobs. */
export type HistoryContext = Pick<JobContext, 'blobs' | 'clock' | 'log' | 'newId' | 'jobTypes'> &
  StoreUse<
    | 'deliveries'
    | 'getJob'
    | 'itemChanges'
    | 'listBatches'
    | 'observations'
    | 'readBatches'
    | 'rules'
    | 'trackedItems'
    | 'trackingRuns'
    | 'users'
    | 'webhooks'
  > & { settings: { notices: NoticeSettings } };

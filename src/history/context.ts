import type { NoticeSettings } from '../base/notification-settings.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';

/** Dependencies of the comparison of jobs. */
export type HistoryContext = Pick<JobContext, 'blobs' | 'clock' | 'log' | 'newId' | 'jobTypes'> &
  StoreUse<
    | 'addChanges'
    | 'addObservations'
    | 'beginRun'
    | 'claimTrackingRuns'
    | 'countChanges'
    | 'createDelivery'
    | 'findAbsentItems'
    | 'getChanges'
    | 'getJob'
    | 'getTrackedItems'
    | 'getUser'
    | 'getWebhook'
    | 'hasEarlierRun'
    | 'listBatches'
    | 'listRules'
    | 'putRunProgress'
    | 'putTrackedItems'
    | 'putWebhook'
    | 'readBatches'
  > & { settings: { notices: NoticeSettings } };

import type { AuditEntry } from './audit-log.ts';
import type { KeptPageLocation } from './batches.ts';
import type { DeclarationOf } from './declaration.ts';
import type { Destination } from './destinations.ts';
import type {
  ApiKey,
  DeletedJob,
  Delivery,
  DriftRecord,
  FileRemoval,
  Job,
  Submission,
  User,
  Webhook,
} from './documents.ts';
import type {
  ItemChange,
  ItemUnit,
  Observation,
  Rule,
  TrackedItem,
  TrackingRun,
} from './history.ts';
import type { OriginMinute, ProcessReport } from './operations.ts';
import type { Schedule, ScheduleRequest, ScheduleRun } from './schedules.ts';
import type { BrowserSession } from './sessions.ts';

/** Documents of the declared collections, with their lazy fields. */
export interface StoredDocuments {
  users: User;
  apiKeys: ApiKey;
  sessions: BrowserSession;
  auditLog: AuditEntry;
  jobs: Job;
  deletedJobs: DeletedJob;
  fileRemovals: FileRemoval;
  sequences: { name: string; value: number };
  submissions: Submission;
  crawls: { key: string; at: number; body: Uint8Array };
  pagePlaces: KeptPageLocation;
  drift: DriftRecord;
  processes: ProcessReport;
  originMinutes: OriginMinute;
  webhooks: Webhook;
  deliveries: Delivery;
  destinations: Destination;
  schedules: Schedule & Pick<ScheduleRequest, 'request'>;
  scheduleRuns: ScheduleRun;
  /** `activeUser`: the user of an active run. */
  trackingRuns: TrackingRun & { activeUser: string | null };
  trackedItems: TrackedItem;
  itemUnits: ItemUnit;
  observations: Observation;
  itemChanges: ItemChange;
  rules: Rule;
}

/** Name of a declared collection. */
export type CollectionName = keyof StoredDocuments;

/** Declarations by the names of their collections. */
export type DeclaredCollections = {
  readonly [K in CollectionName]: Omit<DeclarationOf<StoredDocuments[K]>, 'name'>;
};

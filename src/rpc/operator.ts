import { type AuditLogContext, auditLogHandlers } from './audit-log.ts';
import type { Handlers } from './handlers.ts';
import { type OperatorDriftContext, operatorDriftHandlers } from './operator-drift.ts';
import { type OperatorExportContext, operatorExportHandler } from './operator-export.ts';
import { type OperatorFilesContext, operatorFileHandlers } from './operator-files.ts';
import { type OperatorJobsContext, operatorJobHandlers } from './operator-jobs.ts';
import { type OperatorRecordsContext, operatorRecordHandlers } from './operator-records.ts';
import { type OperatorUsersContext, operatorUserHandlers } from './operator-users.ts';
import { type OperatorWorkContext, operatorWorkHandlers } from './operator-work.ts';
import { type RecordReads, type RecordReadsContext, recordReads } from './record-reads.ts';

/** Dependencies of this module. */
type OperatorContext = AuditLogContext &
  OperatorDriftContext &
  OperatorExportContext &
  OperatorFilesContext &
  OperatorJobsContext &
  OperatorRecordsContext &
  RecordReadsContext &
  OperatorUsersContext &
  OperatorWorkContext;

/** Returns the handlers of gleaner.operator.v1.OperatorService. */
export function operatorHandlers(
  context: OperatorContext,
  records: RecordReads = recordReads(context),
): Handlers {
  const read = operatorRecordHandlers(context, records);
  const log = auditLogHandlers(context);
  const unary = new Map([
    ...operatorUserHandlers(context),
    ...operatorJobHandlers(context),
    ...operatorWorkHandlers(context),
    ...operatorDriftHandlers(context),
    ...log.unary,
    ...operatorFileHandlers(context),
    ...read.unary,
  ]);
  const stream = new Map([...read.stream, ...log.stream, operatorExportHandler(context)]);
  return { unary, stream };
}

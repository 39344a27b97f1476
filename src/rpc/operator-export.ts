import type { Message } from '@bufbuild/protobuf';
import { type ExportUserRequest, OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import { fullName } from '../jobs/offers.ts';
import { type AccountExportContext, exportAccount } from './account-export.ts';
import { runAudited } from './audit-log.ts';
import type { Call, StreamHandler } from './handlers.ts';
import { streamText } from './job-stream.ts';

/** Dependencies of this module. */
export type OperatorExportContext = Pick<JobContext, 'clock' | 'log' | 'newId'> &
  StoreUse<'appendAuditEntry' | 'getUser'> &
  AccountExportContext;

/** Returns the handler by which operators export what is stored of a user. Each call is recorded in the audit log. */
export function operatorExportHandler(context: OperatorExportContext): [string, StreamHandler] {
  const { exportUser } = OperatorService.method;
  const run = async function* (request: Message, call: Call) {
    const { userId } = request as ExportUserRequest;
    const user = await context.store.getUser(userId);
    if (user === null) throw new Fault('not_found', `There is no user '${userId}'.`);
    // The core records unary calls only.
    await runAudited(context, exportUser, request, call, async () => request);
    yield* streamText('application/x-ndjson', exportAccount(context, user));
  };
  return [fullName(exportUser), run];
}

import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import type { Role } from '../session/session.ts';

/** Methods that users have for their jobs and operators for all, with the same messages. */
export const unitMethods = (role: Role) =>
  role === 'operator' ? OperatorService.method.listUnits : JobService.method.listUnits;

/** The failures of a job. */
export const faultMethods = (role: Role) =>
  role === 'operator' ? OperatorService.method.listFaults : JobService.method.listFaults;

/** The progress of a job. */
export const progressMethods = (role: Role) =>
  role === 'operator' ? OperatorService.method.getProgress : JobService.method.getProgress;

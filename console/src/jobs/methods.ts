import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import type { Role } from '../session/session.ts';

/** Returns the method that lists a job's units for the role. */
export const listUnitsMethod = (role: Role) =>
  role === 'operator' ? OperatorService.method.listUnits : JobService.method.listUnits;

/** Returns the method that lists a job's failures for the role. */
export const listFaultsMethod = (role: Role) =>
  role === 'operator' ? OperatorService.method.listFaults : JobService.method.listFaults;

/** Returns the method that lists a job's records for the role. */
export const listRecordsMethod = (role: Role) =>
  role === 'operator' ? OperatorService.method.listRecords : JobService.method.listRecords;

/** Returns the method that lists the fill rates of a job's records for the role. */
export const listFieldsMethod = (role: Role) =>
  role === 'operator' ? OperatorService.method.listFields : JobService.method.listFields;

/** Returns the method that gets the quality of a job's records for the role. */
export const getQualityMethod = (role: Role) =>
  role === 'operator' ? OperatorService.method.getQuality : JobService.method.getQuality;

/** Returns the method that lists a job's result files for the role. */
export const listFilesMethod = (role: Role) =>
  role === 'operator' ? OperatorService.method.listFiles : JobService.method.listFiles;

/** Returns the method that gets a job's progress for the role. */
export const getProgressMethod = (role: Role) =>
  role === 'operator' ? OperatorService.method.getProgress : JobService.method.getProgress;

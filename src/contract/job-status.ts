import { getOption } from '@bufbuild/protobuf';
import { JobSchema } from '../../gen/gleaner/job/v1/job_pb.ts';
import { values as valuesOption } from '../../gen/gleaner/options/v1/options_pb.ts';

/** Statuses of a job, in the order of its lifecycle. */
export const jobStatuses: readonly string[] = getOption(JobSchema.field.status, valuesOption);

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type {
  GetProgressResponseSchema,
  GetQualityResponseSchema,
  JobRequest,
  ListFaultsResponseSchema,
  ListUnitsRequest,
  ListUnitsResponseSchema,
  UnitSchema,
} from '../../../gen/gleaner/job/v1/job_pb.ts';
import type { JobContext } from '../../jobs/context.ts';
import type { IndexedUnit } from '../../jobs/indexed-units.ts';
import { listProgress } from '../../jobs/queries/progress.ts';
import { groupFaults, listUnits, qualityOf, type UnitFilter } from '../../jobs/queries/units.ts';
import type { Job } from '../../store/documents.ts';
import { pageOf } from './handlers.ts';

/** Queries of a job with the same response for users and operators. */
export interface JobReads {
  listUnits(
    request: ListUnitsRequest,
    job: Job,
  ): Promise<MessageInitShape<typeof ListUnitsResponseSchema>>;
  listFaults(
    request: JobRequest,
    job: Job,
  ): Promise<MessageInitShape<typeof ListFaultsResponseSchema>>;
  getQuality(
    request: JobRequest,
    job: Job,
  ): Promise<MessageInitShape<typeof GetQualityResponseSchema>>;
  getProgress(
    request: JobRequest,
    job: Job,
  ): Promise<MessageInitShape<typeof GetProgressResponseSchema>>;
}

export function jobReads(context: JobContext): JobReads {
  return {
    async listUnits(request, job) {
      const filter: UnitFilter = {};
      if (request.status !== '') filter.status = request.status as IndexedUnit['status'];
      if (request.code !== '') filter.code = request.code;
      const { items, next } = await listUnits(context, job, filter, pageOf(request));
      return { units: items.map(toUnitMessage), nextPageToken: next ?? '' };
    },
    async listFaults(_request, job) {
      const groups = await groupFaults(context, job);
      return {
        faults: groups.map((group) => ({ ...group, examples: group.examples.map(toUnitMessage) })),
      };
    },
    async getQuality(_request, job) {
      const { records, invalid, fields } = await qualityOf(context, job);
      const fieldMessages = fields.map((field) => ({
        ...field,
        records: BigInt(field.records),
        filled: BigInt(field.filled),
      }));
      return { records: BigInt(records), invalid: BigInt(invalid), fields: fieldMessages };
    },
    async getProgress(_request, job) {
      const points = await listProgress(context, job);
      return { points: points.map((point) => ({ ...point, at: timestampFromMs(point.at) })) };
    },
  };
}

function toUnitMessage(placed: IndexedUnit): MessageInitShape<typeof UnitSchema> {
  const { index, batchId, region, unit, status, outcome } = placed;
  const shape = {
    index,
    batchId,
    region,
    status,
    key: unit.key,
    input: JSON.stringify(unit.input),
  };
  if (outcome?.status === 'FAILED')
    return { ...shape, code: outcome.code, message: outcome.message };
  return outcome?.collectedAt === undefined
    ? shape
    : { ...shape, collectedAt: timestampFromMs(outcome.collectedAt) };
}

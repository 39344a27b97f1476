import { type DescMethod, getOption } from '@bufbuild/protobuf';
import {
  job as jobOption,
  market as marketOption,
  Step,
} from '../../../gen/gleaner/options/v1/options_pb.ts';
import { endpointOf } from '../../contract/endpoint.ts';
import { splitRequest } from '../../contract/rest-form.ts';
import { services } from '../../contract/services.ts';
import { type ResolvedJobType, resolveJobTypes, resultFieldsOf } from '../../jobs/job-types.ts';
import type { Kind } from '../../kinds/kind.ts';
import { kinds } from '../../kinds/list.ts';
import { markets } from '../../markets/list.ts';
import type { MarketSample } from '../../markets/sample.ts';
import type { RecordFields } from '../../quality/record-schema.ts';

/** Result files of a kind: one per job, one per unit, or none. */
export type ResultFiles = 'job' | 'units' | 'none';

export interface DemoJob extends MarketSample {
  /** Path of the submit endpoint, for example "/v1/mktb/pdp/bulk/submit". */
  submitPath: string;
  market: string;
  jobType: ResolvedJobType;
  needsApproval: boolean;
  files: ResultFiles;
  /** Fields of one record of the result. */
  fields: RecordFields;
  progressPath(id: string): string;
}

/**
 * Returns a job for every sample of every marketplace. `addressOf` returns the address of a
 * marketplace's first sandbox origin. Throws an Error for a sample of a kind that its market does
 * not offer.
 */
export function demoJobs(addressOf: (market: string) => string): DemoJob[] {
  const jobTypes = resolveJobTypes(services, kinds, markets);
  return markets.flatMap((market) =>
    market.samples(addressOf(market.name)).map((sample) => {
      const jobType = jobTypes.of({ market: market.name, kind: sample.kind });
      const isOf = (method: DescMethod, step: Step) => {
        const option = getOption(method, jobOption);
        return (
          getOption(method.parent, marketOption) === market.name &&
          option.kind === sample.kind &&
          option.step === step
        );
      };
      const methods = services.flatMap((service) => service.methods);
      const submit = methods.find((method) => isOf(method, Step.SUBMIT))!;
      const view = 'download' in jobType.kind.views ? 'download' : 'retrieve';
      const read = methods.find(
        (method) => isOf(method, Step.READ) && getOption(method, jobOption).view === view,
      )!;
      return {
        ...sample,
        title: `${market.name}: ${sample.title}`,
        market: market.name,
        jobType,
        submitPath: splitRequest(endpointOf(submit)!.path, sample.body).path,
        needsApproval: jobType.kind.approval,
        files: resultFilesOf(jobType.kind),
        fields: resultFieldsOf(jobType),
        progressPath: (id) =>
          splitRequest(endpointOf(read)!.path, { ...sample.body, job_id: id, task_id: id }).path,
      };
    }),
  );
}

function resultFilesOf({ files }: Kind): ResultFiles {
  if (files.unit) return 'units';
  return files.job ? 'job' : 'none';
}

import { type DescMethod, type DescService, getOption, hasOption } from '@bufbuild/protobuf';
import {
  job as jobOption,
  market as marketOption,
  Step,
} from '../../../gen/gleaner/options/v1/options_pb.ts';
import { endpointOf } from '../../../src/contract/endpoint.ts';
import { demoJobs } from '../../../src/tools/demo/jobs.ts';
import type { Endpoint, Marketplace } from '../table.ts';

/**
 * Builds the table of a marketplace without a written one, from the contract and the samples. It
 * holds the submit and read methods of kinds that take JSON.
 */
export function derivedTable(service: DescService): Marketplace {
  const name = getOption(service, marketOption);
  const samples = demoJobs(() => '{store}').filter(({ market }) => market === name);
  const endpoints = service.methods
    .filter((method) => hasOption(method, jobOption))
    .map((method) => {
      const { kind, step } = getOption(method, jobOption);
      const sample = samples.find((each) => each.kind === kind);
      if (!sample) throw new Error(`${name}: no sample of ${kind}`);
      return endpoint(method, step, sample.body, `${name} ${kind}`);
    });
  const jobs = samples.map(({ kind, submitPath, body }) => [
    `${name} ${kind}`,
    { submit: submitPath, body, ends: true },
  ]);
  return { name, jobs: Object.fromEntries(jobs), endpoints };
}

function endpoint(method: DescMethod, step: Step, body: unknown, job: string): Endpoint {
  const { path } = endpointOf(method)!;
  if (step === Step.SUBMIT)
    return { verb: 'POST', path, method, cases: [{ title: 'the sample', body, status: 202 }] };
  return {
    verb: 'GET',
    path,
    method,
    names: { param: 'job_id', id: 'uuid' },
    cases: [{ title: job, params: { job_id: `{${job}}` }, status: 200 }],
  };
}

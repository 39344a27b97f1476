import type { Command } from 'commander';
import {
  type FieldQuality,
  GetQualityResponseSchema,
  JobSchema,
  JobService,
} from '../../../gen/gleaner/job/v1/job_pb.ts';
import { addCommand } from './command.ts';
import { checkId, jobsOf, operatorOption } from './jobs-source.ts';
import { type Column, count } from './print.ts';

const columns: Column<FieldQuality>[] = [
  { name: 'FIELD', text: ({ name }) => name },
  { name: 'TYPE', text: ({ type }) => type },
  { name: 'RECORDS', text: ({ records }) => count(records), isNumber: true },
  { name: 'FILLED', text: ({ filled }) => count(filled), isNumber: true },
  {
    name: 'PERCENT',
    text: ({ records, percent }) => (records === 0n ? '' : percent.toFixed(1)),
    isNumber: true,
  },
];

/** Adds `quality` and `release`. */
export function addQualityCommands(program: Command): void {
  const { releaseJob } = JobService.method;
  addCommand<{ operator?: true }>(program, {
    usage: 'quality <job>',
    about: 'Print how many records of a job have each field',
    options: [operatorOption],
    async run(session, { operator }, id: string) {
      const jobs = jobsOf(session, operator === true);
      const { jobId } = await jobs.find(id);
      const quality = await jobs.quality(jobId);
      await session.show(GetQualityResponseSchema, quality, ({ table }) => table(columns, quality.fields));
      session.note(
        `${count(quality.records)} records, ${count(quality.invalid)} with a field of a wrong type`,
      );
    },
  });
  addCommand<{ discard?: true }>(program, {
    usage: 'release <job>',
    about: 'Release the deliveries of a held job',
    options: [['--discard', 'discard the deliveries instead']],
    async run(session, { discard }, id: string) {
      const client = session.user();
      const { jobId } = await client.find(checkId(id), { signal: session.signal });
      const request = { jobId, discard: discard === true };
      const job = await client.call(releaseJob, request, { signal: session.signal });
      await session.show(JobSchema, job, () => `${jobId} ${job.hold?.state ?? ''}\n`);
    },
  });
}

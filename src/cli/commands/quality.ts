import type { Command } from 'commander';
import {
  type FieldQuality,
  GetQualityResponseSchema,
  JobSchema,
  JobService,
} from '../../../gen/gleaner/job/v1/job_pb.ts';
import { addCommand } from './command.ts';
import { checkId } from './jobs-source.ts';
import { type Column, count, table } from './print.ts';

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
  const { getQuality, releaseJob } = JobService.method;
  addCommand(program, {
    usage: 'quality <job>',
    about: 'Print how many records of a job have each field',
    async run(session, _options, id: string) {
      const client = session.user();
      const { jobId } = await client.find(checkId(id), { signal: session.signal });
      const quality = await client.call(getQuality, { jobId }, { signal: session.signal });
      await session.show(GetQualityResponseSchema, quality, () => table(columns, quality.fields));
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

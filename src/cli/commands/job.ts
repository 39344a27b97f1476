import type { Command } from 'commander';
import {
  type FieldDifference,
  type FieldQuality,
  type GetQualityResponse,
  GetQualityResponseSchema,
  type Job,
  type JobHold,
  JobSchema,
  JobService,
  type KeptPages,
  type ListDifferencesResponse,
} from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { creditsText } from '../../present/job.ts';
import { formatPercentage } from '../../present/text.ts';
import { addCommand } from './command.ts';
import { addDownloadCommand } from './download.ts';
import { UsageError } from './exit.ts';
import { addChangesCommand } from './item.ts';
import { count, counted, type Display, type PrintedColumn } from './print.ts';
import { addWaitCommand, holdText, jobWords, unitsText } from './progress.ts';
import { addList, addShow, addStream } from './resource.ts';
import { addResultCommands } from './results.ts';
import { findJob, findJobId } from './session.ts';
import {
  dryRunFlag,
  type OptionFlags,
  optionFlags,
  optionPairs,
  optionsOf,
  showQuote,
} from './submit/options.ts';
import { addSubmitCommand } from './submit.ts';

const columns: PrintedColumn<Job>[] = [
  { name: 'JOB', text: ({ jobId }) => jobId },
  { name: 'MARKET', text: ({ market }) => market },
  { name: 'KIND', text: ({ kind }) => kind },
  { name: 'STATUS', text: ({ status }) => status, paint: (text, { state }) => state(text) },
  { name: 'COLLECTED', text: ({ success }) => count(success), isNumber: true },
  { name: 'FAILED', text: ({ failed, notRun }) => count(failed - notRun), isNumber: true },
  { name: 'NOT RUN', text: ({ notRun }) => count(notRun), isNumber: true },
  { name: 'TOTAL', text: ({ total }) => count(total), isNumber: true },
  { name: 'COST', text: ({ cost }) => count(cost), isNumber: true },
  { name: 'REFUNDED', text: ({ refunded }) => count(refunded), isNumber: true },
  { name: 'SUBMITTED', text: ({ createdAt }, { time }) => time(createdAt) },
  { name: 'NAME', text: ({ options }) => options?.name ?? '' },
];

const qualityColumns: PrintedColumn<FieldQuality>[] = [
  { name: 'FIELD', text: ({ name }) => name },
  { name: 'TYPE', text: ({ type }) => type },
  { name: 'RECORDS', text: ({ records }) => count(records), isNumber: true },
  { name: 'FILLED', text: ({ filled }) => count(filled), isNumber: true },
  {
    name: 'PERCENT',
    text: ({ records, percent }) => (records === 0n ? '' : formatPercentage(percent)),
    isNumber: true,
  },
];

const differenceColumns: PrintedColumn<FieldDifference>[] = [
  { name: 'FIELD', text: ({ name }) => name },
  { name: 'GAINED', text: ({ gained }) => count(gained), isNumber: true },
  { name: 'CHANGED', text: ({ changed }) => count(changed), isNumber: true },
  { name: 'LOST', text: ({ lost }) => count(lost), isNumber: true },
];

function differencesWords(
  { fields, gained, changed, lost, equal }: ListDifferencesResponse,
  { table }: Display,
): string {
  const counts = { gained, changed, lost, equal };
  const words = Object.entries(counts).map(([name, records]) => `${count(records)} ${name}`);
  return `${table(differenceColumns, fields)}records: ${words.join(', ')}\n`;
}

export function addJobCommands(program: Command): void {
  const { method } = JobService;
  const job = program.command('job').description('Submit jobs, follow them, and get their results');
  addSubmitCommand(job);
  addList(job, {
    usage: 'list',
    about: 'List jobs, newest first',
    options: [
      ['--status <status>', 'filter by status: awaiting_approval, processing, completed, …'],
      ['--market <market>', 'filter by market'],
      ['--kind <kind>', 'filter by kind'],
      [
        '--search <text>',
        'filter by job id, task number, or name; for operators, user name or email address',
      ],
      ['--test', 'jobs of test accounts (operators)'],
    ],
    method: method.listJobs,
    columns,
    ownerColumn: { name: 'USER', text: ({ userName, userId }) => userName || userId },
    none: 'No matching jobs.',
    request({ kind = '', test }, { isOperator }) {
      if (!isOperator && test === true) throw new UsageError('--test requires --user');
      return { kind: kind.replaceAll('-', '_'), mode: test === true ? 'test' : '' };
    },
  });
  addJobShow(job);
  addWaitCommand(job);
  addResultCommands(job);
  addDownloadCommand(job);
  addChangesCommand(job);
  addRetry(job);
  addKeptPages(job);
  addShow(job, {
    usage: 'cancel <job...>',
    about: 'Cancel jobs and refund the units that have not run',
    options: [['--reason <text>', 'reason to show to the user (operators)']],
    method: method.cancelJob,
    words: (changed) => `${changed.jobId} ${jobWords(changed)}\n`,
  });
  addShow(job, {
    usage: 'release <job...>',
    about: 'Release the deliveries of held jobs',
    options: [['--discard', 'discard the deliveries instead']],
    method: method.releaseJob,
    words: ({ jobId, hold }) => `${jobId} ${hold?.state ?? ''}\n`,
  });
  addShow(job, {
    usage: 'delete-files <job...>',
    about: 'Delete the result files of ended jobs; the jobs are kept',
    method: method.deleteFiles,
    words: ({ jobId }) => `${jobId} files deleted\n`,
  });
  addDecisions(job);
}

function addDecisions(parent: Command): void {
  const { approveJob, rejectJob, skipComparison } = OperatorService.method;
  addShow(parent, {
    usage: 'approve <job...>',
    about: 'Approve jobs, and with the run of a schedule its later runs (operators)',
    method: approveJob,
    words: ({ jobId, status, scheduleId }) => {
      const runs = scheduleId === '' ? '' : `, with the later runs of schedule ${scheduleId}`;
      return `${jobId} ${status}${runs}\n`;
    },
  });
  addShow(parent, {
    usage: 'reject <job...>',
    about: 'Reject jobs and refund their credits (operators)',
    options: [['--reason <text>', 'reason to show to the user']],
    method: rejectJob,
    words: ({ jobId, status }) => `${jobId} ${status}\n`,
  });
  addShow(parent, {
    usage: 'skip-comparison <job>',
    about: 'End the failed comparison of a tracked job (operators)',
    method: skipComparison,
    words: ({ series }) => {
      const effect = series === '' ? '' : `: the jobs of ${series} are compared`;
      return `Skipped${effect}.\n`;
    },
  });
}

function addJobShow(parent: Command): void {
  const { getQuality } = JobService.method;
  addCommand<{ quality?: true }>(parent, {
    usage: 'show <job>',
    about: 'Show a job',
    options: [['--quality', 'show how many of its records have each field instead']],
    as: 'either',
    async run(session, { quality }, reference: string) {
      if (quality) {
        const jobId = await findJobId(session, reference);
        const found = await session.client.call(getQuality, { jobId });
        const words = (display: Display) => qualityWords(found, display);
        return session.show(GetQualityResponseSchema, found, words);
      }
      const job = await findJob(session, reference);
      await session.show(JobSchema, job, (display) => jobPairs(job, display));
    },
  });
}

function qualityWords(quality: GetQualityResponse, { table }: Display): string {
  const { fields, records, invalid } = quality;
  const rows = table(qualityColumns, fields);
  return `${rows}${count(records)} records, ${count(invalid)} with a field of a wrong type\n`;
}

function addRetry(parent: Command): void {
  addDerivation(parent, JobService.method.retryJob, {
    usage: 'retry <job>',
    about: 'Submit the failed units of an ended job as a new job',
    done: 'resubmitted',
  });
}

/** Adds `job reread`, `job differences`, and `job pages`. */
function addKeptPages(parent: Command): void {
  const { listDifferences, rereadJob } = JobService.method;
  addDerivation(parent, rereadJob, {
    usage: 'reread <job>',
    about: 'Read the kept pages of an ended job again as a new job, without requests to the site',
    done: 'reread',
  });
  addShow(parent, {
    usage: 'differences <job>',
    about: 'Show how the records of a reread differ from those of the first job',
    method: listDifferences,
    words: differencesWords,
  });
  addStream(parent, {
    usage: 'pages <job>',
    about: 'Write the kept pages of a job as a WARC file compressed with gzip (operators)',
    method: OperatorService.method.streamPages,
  });
}

/** Adds a command that creates a job from an ended one. `done` is what happens to its units. */
function addDerivation(
  parent: Command,
  method: typeof JobService.method.retryJob | typeof JobService.method.rereadJob,
  { usage, about, done }: { usage: string; about: string; done: string },
): void {
  addCommand<{ dryRun?: true } & OptionFlags>(parent, {
    usage,
    about,
    options: [dryRunFlag, ...optionFlags],
    as: 'either',
    async run(session, { dryRun, ...flags }, reference: string) {
      const { client, isJson, note, show } = session;
      const options = optionsOf(flags);
      const jobId = await findJobId(session, reference);
      if (dryRun) return showQuote(session, await client.quote(method, { jobId }, options));
      const { response: job } = await client.submit(method, { jobId }, options);
      const units = counted(job.total, 'unit');
      const cost = counted(job.cost, 'credit');
      if (!isJson) note(`${units} ${done} for ${cost}: ${job.status}`);
      await show(JobSchema, job, () => `${job.jobId}\n`);
    },
  });
}

function jobPairs(job: Job, { pairs, state, time }: Display): string {
  const { batches, batchesDone } = job;
  return pairs([
    ['name', job.options?.name ?? ''],
    ['job', job.jobId],
    ['task', job.taskId === undefined ? '' : String(job.taskId)],
    ['kind', `${job.market} ${job.kind}${job.region === '' ? '' : ` ${job.region}`}`],
    ['mode', job.mode === 'test' ? 'test' : ''],
    ['status', job.status, state],
    ['reason', job.reason],
    ['waiting for', job.waitingFor],
    ['units', unitsText(job)],
    ['deliveries', job.hold === undefined ? '' : deliveriesText(job.hold)],
    ['batches', `${count(batchesDone)} of ${count(batches)} done`],
    ['cost', `${creditsText(job).toLowerCase()} (${count(job.unitPrice)} per unit)`],
    ['submitted', time(job.createdAt)],
    ['decided by', job.decidedBy],
    ['decide by', job.status === 'awaiting_approval' ? time(job.decideBy) : ''],
    ['started', time(job.startedAt)],
    ['ended', time(job.finishedAt)],
    ['files deleted', time(job.filesDeletedAt)],
    ['files kept until', time(job.filesExpireAt)],
    ['pages', job.keptPages === undefined ? '' : pagesText(job.keptPages, time)],
    ['schedule', job.scheduleId],
    ['retry of', job.retryOf],
    ['reread of', job.rereadOf],
    ...optionPairs(job.options).filter(([name]) => name !== 'name'),
    ['user', job.userName === '' ? job.userId : `${job.userName} (${job.userId})`],
    ['balance', job.userBalance === undefined ? '' : count(job.userBalance)],
    ['path', job.retrievePath],
  ]);
}

function deliveriesText(hold: JobHold): string {
  const decision = hold.state === 'held' ? '. Decide with gleaner job release' : '';
  return `${hold.state}: ${holdText(hold)}${decision}`;
}

function pagesText(pages: KeptPages, time: Display['time']): string {
  const { missed, bytes, deleteAt } = pages;
  const keptText = `${counted(pages.kept, 'page')} kept, ${count(bytes)} bytes`;
  const until = deleteAt === undefined ? 'deleted' : `until ${time(deleteAt)}`;
  const missedText = missed > 0 ? `; ${count(missed)} not kept` : '';
  return `${keptText}, ${until}${missedText}`;
}

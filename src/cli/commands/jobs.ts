import type { Command } from 'commander';
import { type Job, JobSchema, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { addCommand, integer, limitOption, pageSize, take } from './command.ts';
import { UsageError } from './exit.ts';
import { checkId, jobsOf, operatorOption } from './jobs-source.ts';
import { type Column, count, counted, jsonLine } from './print.ts';
import { jobWords } from './progress.ts';
import type { Session } from './session.ts';
import { dryRunFlag, type OptionFlags, optionFlags, optionsOf } from './submit/options.ts';
import { showQuote } from './submit/quote.ts';

const columns: Column<Job>[] = [
  { name: 'JOB', text: ({ jobId }) => jobId },
  { name: 'MARKET', text: ({ market }) => market },
  { name: 'KIND', text: ({ kind }) => kind },
  { name: 'STATUS', text: ({ status }) => status, paint: (text, { state }) => state(text) },
  { name: 'DONE', text: ({ success, failed }) => count(success + failed), isNumber: true },
  { name: 'FAILED', text: ({ failed }) => count(failed), isNumber: true },
  { name: 'TOTAL', text: ({ total }) => count(total), isNumber: true },
  { name: 'COST', text: ({ cost }) => count(cost), isNumber: true },
  { name: 'REFUNDED', text: ({ refunded }) => count(refunded), isNumber: true },
  { name: 'SUBMITTED', text: ({ createdAt }, { time }) => time(createdAt) },
];

const ownerColumn: Column<Job> = { name: 'USER', text: ({ userName, userId }) => userName || userId };

interface JobsFlags {
  all?: true;
  status?: string;
  kind?: string;
  market?: string;
  user?: string;
  search?: string;
  test?: true;
  limit?: string;
}

/** Adds `jobs`, `job`, `retry`, `cancel`, and `delete-files`. */
export function addJobCommands(program: Command): void {
  addCommand<JobsFlags>(program, {
    usage: 'jobs',
    about: 'List jobs, newest first',
    options: [
      ['--all', 'jobs of all users (operators)'],
      ['--status <status>', 'filter by status: awaiting_approval, processing, completed, …'],
      ['--market <market>', 'filter by market'],
      ['--kind <kind>', 'filter by kind'],
      ['--user <user-id>', 'filter by user (operators)'],
      ['--search <text>', 'filter by job id, task number, user name, or e-mail address (operators)'],
      ['--test', 'jobs of test accounts (operators)'],
      limitOption,
    ],
    async run(session, { all, limit, user, search = '', test, status = '', kind = '', market = '' }) {
      const max = integer('--limit', limit, 50);
      const isOperator = all === true || session.isOperatorOnly;
      if (!isOperator && (user !== undefined || search !== '' || test === true))
        throw new UsageError('--user, --search, and --test require --all');
      const filter = { status, kind: kind.replaceAll('-', '_'), market, pageSize: pageSize(max) };
      const options = { signal: session.signal };
      const pages = isOperator
        ? session
            .operator()
            .pages(
              OperatorService.method.listJobs,
              { ...filter, userId: user ?? '', search, mode: test === true ? 'test' : '' },
              options,
            )
        : session.user().pages(JobService.method.listJobs, filter, options);
      const jobs = await take<{ jobs: Job[] }, Job>(pages, (page) => page.jobs, max);
      await session.list(
        JobSchema,
        jobs,
        isOperator ? [...columns, ownerColumn] : columns,
        'No matching jobs.',
      );
    },
  });
  addCommand<{ operator?: true }>(program, {
    usage: 'job <job>',
    about: 'Show a job',
    options: [operatorOption],
    run: async (session, { operator }, id: string) =>
      showJob(session, await jobsOf(session, operator === true).find(id)),
  });
  addCommand<{ operator?: true; dryRun?: true } & OptionFlags>(program, {
    usage: 'retry <job>',
    about: 'Submit the failed units of an ended job as a new job',
    options: [dryRunFlag, ...optionFlags, operatorOption],
    async run(session, { operator, dryRun, ...flags }, id: string) {
      const source = jobsOf(session, operator === true);
      const options = optionsOf(flags);
      const { jobId } = await source.find(id);
      if (dryRun) return showQuote(session, await source.quoteRetry(jobId, options));
      const job = await source.retry(jobId, options);
      if (!session.isJson)
        session.note(
          `${counted(job.total, 'unit')} resubmitted for ${counted(job.cost, 'credit')}: ${job.status}`,
        );
      await session.show(JobSchema, job, () => `${job.jobId}\n`);
    },
  });
  addCommand<{ operator?: true; reason?: string }>(program, {
    usage: 'cancel <job...>',
    about: 'Cancel jobs and refund the units that have not run',
    options: [operatorOption, ['--reason <text>', 'reason to show to the user (operators)']],
    async run(session, { operator, reason = '' }, ids: string[]) {
      const source = jobsOf(session, operator === true);
      for (const id of ids) {
        const job = await source.cancel((await source.find(id)).jobId, reason);
        await session.show(JobSchema, job, () => `${job.jobId} ${jobWords(job, Date.now())}\n`);
      }
    },
  });
  addCommand(program, {
    usage: 'delete-files <job...>',
    about: 'Delete the result files of ended jobs; the jobs are kept',
    async run(session, _options, ids: string[]) {
      const client = session.user();
      const options = { signal: session.signal };
      for (const id of ids) {
        const { jobId } = await client.find(checkId(id), options);
        const job = await client.call(JobService.method.deleteFiles, { jobId }, options);
        await session.show(JobSchema, job, () => `${job.jobId} files deleted\n`);
      }
    },
  });
}

/** Shows all properties of a job. */
async function showJob(session: Session, job: Job): Promise<void> {
  if (session.isJson) return session.write(jsonLine(JobSchema, job));
  const { batches, batchesDone } = job;
  const { pairs, state, time } = session.display;
  await session.write(
    pairs([
      ['job', job.jobId],
      ['task', job.taskId === undefined ? '' : String(job.taskId)],
      ['kind', `${job.market} ${job.kind}${job.region === '' ? '' : ` ${job.region}`}`],
      ['mode', job.mode === 'test' ? 'test' : ''],
      ['status', job.status, state],
      ['reason', job.reason],
      ['waiting for', job.waitingFor],
      ['units', `${count(job.success)} done, ${count(job.failed)} failed, ${count(job.total)} total`],
      ['batches', `${count(batchesDone)} of ${count(batches)} done`],
      ['credits', `${count(job.cost)} (${count(job.unitPrice)} per unit), ${count(job.refunded)} refunded`],
      ['submitted', time(job.createdAt)],
      ['decided by', job.decidedBy],
      ['decide by', job.ended ? '' : time(job.decideBy)],
      ['started', time(job.startedAt)],
      ['ended', time(job.finishedAt)],
      ['files deleted', time(job.filesDeletedAt)],
      ['retry of', job.retryOf],
      ['user', job.userName === '' ? job.userId : `${job.userName} (${job.userId})`],
      ['balance', job.userBalance === undefined ? '' : count(job.userBalance)],
      ['path', job.retrievePath],
    ]),
  );
}

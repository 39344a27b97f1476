import type { Command } from 'commander';
import { type Job, JobSchema, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { addCommand, integer, limitOption, pageSize, take } from './command.ts';
import { UsageError } from './exit.ts';
import { jobsOf, operatorOption } from './jobs-source.ts';
import { type Column, count, counted, jsonLine, pairs, state, time } from './print.ts';
import { jobWords } from './progress.ts';
import type { Session } from './session.ts';

const columns: Column<Job>[] = [
  { name: 'JOB', text: ({ jobId }) => jobId },
  { name: 'MARKET', text: ({ market }) => market },
  { name: 'KIND', text: ({ kind }) => kind },
  { name: 'STATE', text: ({ status }) => status, paint: state },
  { name: 'DONE', text: ({ success, failed }) => count(success + failed), isNumber: true },
  { name: 'FAILED', text: ({ failed }) => count(failed), isNumber: true },
  { name: 'TOTAL', text: ({ total }) => count(total), isNumber: true },
  { name: 'COST', text: ({ cost }) => count(cost), isNumber: true },
  { name: 'BACK', text: ({ refunded }) => count(refunded), isNumber: true },
  { name: 'SUBMITTED (UTC)', text: ({ createdAt }) => time(createdAt) },
];

const ownerColumn: Column<Job> = { name: 'USER', text: ({ userName, userId }) => userName || userId };

interface JobsFlags {
  all?: true;
  status?: string;
  kind?: string;
  market?: string;
  user?: string;
  search?: string;
  limit?: string;
}

/** Adds `jobs`, `job`, `retry` and `cancel`. */
export function addJobCommands(program: Command): void {
  addCommand<JobsFlags>(program, {
    usage: 'jobs',
    about: 'list jobs, newest first',
    options: [
      ['--all', "everybody's, as an operator"],
      ['--status <state>', 'only those in this state: awaiting_approval, processing, completed, …'],
      ['--market <market>', 'only those of this market'],
      ['--kind <kind>', 'only those of this kind'],
      ['--user <user-id>', 'only those of this user, as an operator'],
      [
        '--search <text>',
        'only this id or task, or of users whose name or address holds this, as an operator',
      ],
      limitOption,
    ],
    async run(session, { all, limit, user, search = '', status = '', kind = '', market = '' }) {
      const most = integer('--limit', limit, 50);
      const isOperator = all === true || session.isOperatorOnly;
      if (!isOperator && (user !== undefined || search !== ''))
        throw new UsageError('--user and --search go with --all');
      const filter = { status, kind: kind.replaceAll('-', '_'), market, pageSize: pageSize(most) };
      const options = { signal: session.signal };
      const pages = isOperator
        ? session
            .operator()
            .pages(OperatorService.method.listJobs, { ...filter, userId: user ?? '', search }, options)
        : session.user().pages(JobService.method.listJobs, filter, options);
      const jobs = await take<{ jobs: Job[] }, Job>(pages, (page) => page.jobs, most);
      await session.list(
        JobSchema,
        jobs,
        isOperator ? [...columns, ownerColumn] : columns,
        'There are no such jobs.',
      );
    },
  });
  addCommand<{ operator?: true }>(program, {
    usage: 'job <job>',
    about: 'show one job',
    options: [operatorOption],
    run: async (session, { operator }, id: string) =>
      showJob(session, await jobsOf(session, operator === true).find(id)),
  });
  addCommand<{ operator?: true }>(program, {
    usage: 'retry <job>',
    about: 'submit the failed units of an ended job again, as a new job',
    options: [operatorOption],
    async run(session, { operator }, id: string) {
      const source = jobsOf(session, operator === true);
      const job = await source.retry((await source.find(id)).jobId);
      if (!session.isJson)
        session.note(`${counted(job.total, 'unit')} again for ${counted(job.cost, 'credit')}: ${job.status}`);
      await session.show(JobSchema, job, () => `${job.jobId}\n`);
    },
  });
  addCommand<{ operator?: true; reason?: string }>(program, {
    usage: 'cancel <job...>',
    about: 'stop what has not been done of jobs, and get its credits back',
    options: [operatorOption, ['--reason <text>', 'shown to the user, for operators']],
    async run(session, { operator, reason = '' }, ids: string[]) {
      const source = jobsOf(session, operator === true);
      for (const id of ids) {
        const job = await source.cancel((await source.find(id)).jobId, reason);
        await session.show(JobSchema, job, () => `${job.jobId} ${jobWords(job, Date.now())}\n`);
      }
    },
  });
}

/** Shows one job with all that is known of it. */
export async function showJob(session: Session, job: Job): Promise<void> {
  if (session.isJson) return session.write(jsonLine(JobSchema, job));
  const { batches, batchesDone } = job;
  await session.write(
    pairs([
      ['job', job.jobId],
      ['task', job.taskId === undefined ? '' : String(job.taskId)],
      ['kind', `${job.market} ${job.kind}${job.region === '' ? '' : ` ${job.region}`}`],
      ['state', job.status, state],
      ['reason', job.reason],
      ['waits for', job.waitingFor],
      ['units', `${count(job.success)} done, ${count(job.failed)} failed, ${count(job.total)} in all`],
      ['batches', `${count(batchesDone)} of ${count(batches)} done`],
      [
        'credits',
        `${count(job.cost)} in all, ${count(job.unitPrice)} each, ${count(job.refunded)} given back`,
      ],
      ['submitted', time(job.createdAt)],
      ['decided by', job.ended ? '' : time(job.decideBy)],
      ['begun', time(job.startedAt)],
      ['ended', time(job.finishedAt)],
      ['tries again', job.retryOf],
      ['user', job.userName === '' ? job.userId : `${job.userName} (${job.userId})`],
      ['balance', job.userBalance === undefined ? '' : count(job.userBalance)],
      ['path', job.retrievePath],
    ]),
  );
}

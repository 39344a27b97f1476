import type { Command } from 'commander';
import {
  OperatorScheduleService,
  type Schedule,
  ScheduleRunSchema,
  ScheduleSchema,
  ScheduleService,
} from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { addCommand, integer, limitOption, pageSize, take } from './command.ts';
import { UsageError } from './exit.ts';
import { addScheduleCreate, addScheduleUpdate, timeOf } from './schedule-edit.ts';
import { runColumns, scheduleColumns, showSchedule, userColumn } from './schedule-lines.ts';

const { method } = ScheduleService;

/** Adds `schedules`. */
export function addScheduleCommands(program: Command): void {
  const schedules = program
    .command('schedules')
    .description('Repeat a job at the times of a cron expression');
  addScheduleCreate(schedules);
  addList(schedules);
  addScheduleUpdate(schedules);
  for (const [name, about, call] of [
    ['pause', 'Start no more runs until the schedule is resumed', method.pauseSchedule],
    ['resume', 'Resume a paused schedule', method.resumeSchedule],
  ] as const)
    addCommand(schedules, {
      usage: `${name} <schedule>`,
      about,
      run: async (session, _options, scheduleId: string) =>
        showSchedule(session, await session.user().call(call, { scheduleId }, { signal: session.signal })),
    });
  addRuns(schedules);
  addCommand(schedules, {
    usage: 'delete <schedule>',
    about: 'Delete a schedule; its jobs remain',
    async run(session, _options, scheduleId: string) {
      await session.user().call(method.deleteSchedule, { scheduleId }, { signal: session.signal });
      session.note('Schedule deleted.');
    },
  });
  addDecisions(schedules);
}

/** Adds `list` and `show`, for the caller's schedules, or for those of all users. */
function addList(schedules: Command): void {
  const operators = OperatorScheduleService.method;
  addCommand<{ all?: true; status?: string; limit?: string }>(schedules, {
    usage: 'list',
    about: 'List schedules, newest first',
    options: [
      ['--all', 'schedules of all users (operators)'],
      ['--status <status>', 'filter by status: awaiting_approval, active, paused, rejected, ended'],
      limitOption,
    ],
    async run(session, { all, status: state = '', limit }) {
      const max = integer('--limit', limit, 50);
      const request = { state, pageSize: pageSize(max) };
      const options = { signal: session.signal };
      const isOperator = all === true || session.isOperatorOnly;
      const pages = isOperator
        ? session.operator().pages(operators.listSchedules, request, options)
        : session.user().pages(method.listSchedules, request, options);
      const found = await take<{ schedules: Schedule[] }, Schedule>(pages, (page) => page.schedules, max);
      const columns = isOperator ? [...scheduleColumns, userColumn] : scheduleColumns;
      const none = 'No matching schedules. Create one with `gleaner schedules create`.';
      await session.list(ScheduleSchema, found, columns, none);
    },
  });
  addCommand<{ operator?: true }>(schedules, {
    usage: 'show <schedule>',
    about: 'Show a schedule',
    options: [['--operator', 'access schedules of all users (operators)']],
    async run(session, { operator }, scheduleId: string) {
      const options = { signal: session.signal };
      const found =
        operator === true || session.isOperatorOnly
          ? await session.operator().call(operators.getSchedule, { scheduleId }, options)
          : await session.user().call(method.getSchedule, { scheduleId }, options);
      await showSchedule(session, found);
    },
  });
}

function addRuns(schedules: Command): void {
  addCommand(schedules, {
    usage: 'run <schedule>',
    about: 'Start a run now',
    async run(session, _options, scheduleId: string) {
      const run = await session.user().call(method.runSchedule, { scheduleId }, { signal: session.signal });
      await session.show(ScheduleRunSchema, run, () =>
        `${run.jobId || run.runId} ${run.state} ${run.reason}`.trimEnd().concat('\n'),
      );
    },
  });
  addCommand<{ limit?: string }>(schedules, {
    usage: 'runs <schedule>',
    about: 'List the runs of a schedule, newest first',
    options: [limitOption],
    async run(session, { limit }, scheduleId: string) {
      const max = integer('--limit', limit, 50);
      const request = { scheduleId, pageSize: pageSize(max) };
      const pages = session.user().pages(method.listScheduleRuns, request, { signal: session.signal });
      const found = await take(pages, (page) => page.runs, max);
      await session.list(ScheduleRunSchema, found, runColumns, 'No runs yet.');
    },
  });
}

function addDecisions(schedules: Command): void {
  const { approveSchedule, rejectSchedule } = OperatorScheduleService.method;
  addCommand<{ updatedAt?: string }>(schedules, {
    usage: 'approve <schedule>',
    about: 'Approve a schedule up to its limits (operators)',
    options: [
      ['--updated-at <time>', 'the time "updated at" of the schedule as you have read it (required)'],
    ],
    run: async (session, { updatedAt }, scheduleId: string) => {
      if (updatedAt === undefined)
        throw new UsageError(
          `Missing --updated-at. Read the schedule with \`gleaner schedules show ${scheduleId} --operator\`, and pass its time "updated at".`,
        );
      const request = { scheduleId, updatedAt: timeOf('--updated-at', updatedAt) };
      await showSchedule(
        session,
        await session.operator().call(approveSchedule, request, { signal: session.signal }),
      );
    },
  });
  addCommand<{ reason?: string }>(schedules, {
    usage: 'reject <schedule>',
    about: 'Reject a schedule (operators)',
    options: [['--reason <text>', 'reason to show to the user']],
    run: async (session, { reason = '' }, scheduleId: string) => {
      const request = { scheduleId, reason };
      await showSchedule(
        session,
        await session.operator().call(rejectSchedule, request, { signal: session.signal }),
      );
    },
  });
}

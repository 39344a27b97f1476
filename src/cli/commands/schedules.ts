import { create } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Command } from 'commander';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import {
  OperatorScheduleService,
  type Schedule,
  ScheduleRunSchema,
  ScheduleSchema,
  ScheduleService,
} from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { messageWriter } from '../../contract/json/message-writer.ts';
import { addCommand, integer, limitOption, pageSize, take } from './command.ts';
import { UsageError } from './exit.ts';
import { runColumns, scheduleColumns, scheduleWords, userColumn } from './schedule-lines.ts';
import type { Session } from './session.ts';
import { offerNamed } from './submit/offers.ts';
import { type OptionFlags, optionFlags, optionsOf } from './submit/options.ts';
import { formats } from './submit/rows.ts';
import { prepareFrom, requireReadable, withLines } from './submit/source.ts';

const { method } = ScheduleService;

interface CreateFlags extends OptionFlags {
  cron?: string;
  name?: string;
  timeZone?: string;
  start?: string;
  end?: string;
  maxTotalCredits?: string;
  overlap?: string;
  missed?: string;
  format?: string;
  set?: string[];
}

/** Adds `schedules`. */
export function addScheduleCommands(program: Command): void {
  const schedules = program
    .command('schedules')
    .description('Repeat a job at the times of a cron expression');
  addCreate(schedules);
  addList(schedules);
  for (const [name, about, call] of [
    ['pause', 'Start no more runs until the schedule is resumed', method.pauseSchedule],
    ['resume', 'Resume a paused schedule', method.resumeSchedule],
  ] as const)
    addCommand(schedules, {
      usage: `${name} <schedule>`,
      about,
      run: async (session, _options, scheduleId: string) =>
        show(session, await session.user().call(call, { scheduleId }, { signal: session.signal })),
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

const show = (session: Session, schedule: Schedule) =>
  session.show(ScheduleSchema, schedule, () => scheduleWords(schedule));

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
      await show(session, found);
    },
  });
}

function addCreate(schedules: Command): void {
  addCommand<CreateFlags>(schedules, {
    usage: 'create <market> <kind> [file]',
    about: 'Create a schedule that submits the units of a file (- for standard input)',
    options: [
      ['--cron <expression>', "times of the runs, for example '0 8 * * *'"],
      ['--time-zone <name>', 'time zone of the cron expression (default: UTC)'],
      ['--name <text>', 'display name (default: market, kind, and cron expression)'],
      ['--start <time>', 'first time of runs, ISO 8601'],
      ['--end <time>', 'runs start before this time, ISO 8601'],
      ['--max-total-credits <n>', 'maximum credits of all runs together'],
      ['--overlap <rule>', 'a run that is due while the last one runs: skip (default), queue, cancel'],
      ['--missed <rule>', 'runs that were due while the service was down: run_once (default), skip'],
      ['--set <name=value...>', 'set a field of the request (repeatable)'],
      ['--format <format>', `format of the file: ${formats.join(', ')}`],
      ...optionFlags,
    ],
    async run(session, flags, market: string, kind: string, file: string | undefined) {
      const { cron, timeZone = '', overlap = '', missed = '', maxTotalCredits, start, end, ...rest } = flags;
      if (cron === undefined) throw new UsageError("Missing --cron, for example --cron '0 8 * * *'.");
      const offer = offerNamed(market, kind);
      const { name = `${offer.market} ${offer.kind} ${cron}`, format, set = [], ...options } = rest;
      const prepared = await prepareFrom(offer, file, format, set);
      requireReadable(session, prepared);
      const request = {
        ...{ name, market: offer.market, kind: offer.kind, cron, timeZone, overlap, missed },
        request: messageWriter(offer.method.input)(prepared.request),
        options: create(SubmitOptionsSchema, optionsOf(options)),
        ...timeAt('startAt', '--start', start),
        ...timeAt('endAt', '--end', end),
        ...(maxTotalCredits === undefined
          ? {}
          : { maxTotalCredits: BigInt(integer('--max-total-credits', maxTotalCredits, 0, 1)) }),
      };
      const created = await session
        .user()
        .call(method.createSchedule, request, { signal: session.signal })
        .catch((error: unknown) => {
          throw withLines(error, prepared);
        });
      await show(session, created);
    },
  });
}

function timeAt(
  field: 'startAt' | 'endAt',
  flag: string,
  text: string | undefined,
): { [name in typeof field]?: Timestamp } {
  if (text === undefined) return {};
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new UsageError(`${flag}: "${text}" is not a time such as 2030-01-07T08:00:00Z`);
  return { [field]: timestampFromMs(ms) };
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
  addCommand(schedules, {
    usage: 'approve <schedule>',
    about: 'Approve a schedule up to its limits (operators)',
    run: async (session, _options, scheduleId: string) =>
      show(
        session,
        await session.operator().call(approveSchedule, { scheduleId }, { signal: session.signal }),
      ),
  });
  addCommand<{ reason?: string }>(schedules, {
    usage: 'reject <schedule>',
    about: 'Reject a schedule (operators)',
    options: [['--reason <text>', 'reason to show to the user']],
    run: async (session, { reason = '' }, scheduleId: string) => {
      const request = { scheduleId, reason };
      await show(session, await session.operator().call(rejectSchedule, request, { signal: session.signal }));
    },
  });
}

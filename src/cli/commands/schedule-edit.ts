import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { Command } from 'commander';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import {
  type Schedule,
  ScheduleSchema,
  ScheduleService,
  type UpdateScheduleRequestSchema,
} from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import type { JobType } from '../../contract/job-types.ts';
import { messageWriter } from '../../contract/json/message-writer.ts';
import { jobOptionsOf, type SubmitOptions } from '../../contract/submit-options.ts';
import { addCommand, integer, timeOf } from './command.ts';
import { UsageError } from './exit.ts';
import { count, counted, type Display } from './print.ts';
import { jobTypeNamed } from './submit/job-types.ts';
import { type OptionFlags, optionFlags, optionPairs, optionsOf } from './submit/options.ts';
import { type Prepared, prepareFrom, requireReadable, withLines } from './submit/request.ts';
import { formats } from './submit/rows.ts';

export const scheduleWords = (schedule: Schedule, { pairs, state, time }: Display): string =>
  pairs([
    ['schedule', schedule.scheduleId],
    ['name', schedule.name],
    ['user', schedule.userId],
    ['job', `${schedule.market} ${schedule.kind}, ${counted(schedule.units, 'unit')}`],
    ['status', schedule.state, state],
    ['reason', schedule.reason],
    ['cron', `${schedule.cron} (${schedule.timeZone})`],
    ['next run', time(schedule.nextRunAt)],
    ['approved', schedule.approved ? 'yes' : ''],
    ['start', time(schedule.startAt)],
    ['end', time(schedule.endAt)],
    ['cost per run', counted(Number(schedule.costPerRun), 'credit')],
    ['spent', `${count(schedule.creditsSpent)} of ${schedule.maxTotalCredits ?? 'unlimited'}`],
    ['overlap', schedule.overlap],
    ['missed', schedule.missed],
    ...optionPairs(schedule.options).map(
      ([name, value]) => [name === 'name' ? 'job name' : name, value] as const,
    ),
    ['updated at', time(schedule.updatedAt)],
  ]);

const { method } = ScheduleService;

interface EditFlags extends OptionFlags {
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

const editOptions = [
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
  // Runs without a name have the name of the schedule.
  ...optionFlags.filter(([flag]) => !flag.startsWith('--name ')),
] as const;

export function addScheduleCreate(schedule: Command): void {
  addCommand<EditFlags>(schedule, {
    usage: 'create <market> <kind> [file]',
    about: 'Create a schedule that submits the units of a file (- for standard input)',
    options: editOptions,
    async run(session, flags, market: string, kind: string, file: string | undefined) {
      const {
        cron,
        timeZone = '',
        overlap = '',
        missed = '',
        maxTotalCredits,
        start,
        end,
        ...rest
      } = flags;
      if (cron === undefined)
        throw new UsageError("Missing --cron, for example --cron '0 8 * * *'.");
      const jobType = jobTypeNamed(market, kind);
      const {
        name = `${jobType.market} ${jobType.kind} ${cron}`,
        format,
        set = [],
        ...options
      } = rest;
      const prepared = await prepareFrom(session.io, jobType, { file, format, set });
      requireReadable(session, prepared);
      const request = {
        name,
        market: jobType.market,
        kind: jobType.kind,
        cron,
        timeZone,
        overlap,
        missed,
        request: requestText(jobType, prepared),
        options: create(SubmitOptionsSchema, optionsOf(options)),
        ...limitsOf({ start, end, maxTotalCredits }),
      };
      const created = await session.client
        .call(method.createSchedule, request)
        .catch((error: unknown) => {
          throw withLines(error, prepared);
        });
      await session.show(ScheduleSchema, created, (display) => scheduleWords(created, display));
    },
  });
}

const none = 'none';
/** Limits of a schedule that can be removed: the names of their flags and fields. */
const limitFields = [
  ['start', 'start_at'],
  ['end', 'end_at'],
  ['maxTotalCredits', 'max_total_credits'],
] as const;
const valueOrNone = (text: string | undefined) => (text === none ? undefined : text);

/** Flags of an update: what they leave out stays as it is. */
const updateOptions = editOptions.map(
  ([flag, about]) => [flag, about.replace(/ \(default(: [^)]*)?\)/, '')] as const,
);

export function addScheduleUpdate(schedule: Command): void {
  addCommand<EditFlags>(schedule, {
    usage: 'update <schedule-id> [file]',
    about:
      'Change what the flags name, and the units if there is a file; ' +
      '`none` removes --start, --end, --max-total-credits, or --max-credits',
    options: updateOptions,
    async run(session, flags, scheduleId: string, file: string | undefined) {
      const { start, end, maxTotalCredits, format, set = [], ...requestFlags } = flags;
      const { cron, name, timeZone, overlap, missed, ...optionTexts } = requestFlags;
      const { client } = session;
      const found = await client.call(method.getSchedule, { scheduleId });
      const options = changedOptions(found.options, optionTexts);
      const jobType = jobTypeNamed(found.market, found.kind);
      const hasUnits = file !== undefined || set.length > 0;
      const prepared = hasUnits
        ? await prepareFrom(session.io, jobType, { file, format, set })
        : null;
      if (prepared !== null) requireReadable(session, prepared);
      const request: MessageInitShape<typeof UpdateScheduleRequestSchema> = {
        scheduleId,
        ...withoutAbsent({
          cron,
          name,
          timeZone,
          overlap,
          missed,
        }),
        ...limitsOf({
          start: valueOrNone(start),
          end: valueOrNone(end),
          maxTotalCredits: valueOrNone(maxTotalCredits),
        }),
        clear: limitFields.filter(([flag]) => flags[flag] === none).map(([_flag, field]) => field),
      };
      if (prepared !== null) request.request = requestText(jobType, prepared);
      if (options !== null) request.options = options;
      const updated = await client.call(method.updateSchedule, request).catch((error: unknown) => {
        throw prepared === null ? error : withLines(error, prepared);
      });
      await session.show(ScheduleSchema, updated, (display) => scheduleWords(updated, display));
    },
  });
}

/**
 * Returns all options of a schedule after a change; null if the flags name none. `none` removes the
 * maximum cost of a run.
 */
function changedOptions(current: SubmitOptions | undefined, flags: OptionFlags) {
  const { maxCredits, ...otherFlags } = flags;
  const isUnlimited = maxCredits === none;
  const changed = optionsOf(isUnlimited ? otherFlags : flags);
  if (!isUnlimited && Object.keys(changed).length === 0) return null;
  const options = { ...jobOptionsOf(current), ...changed };
  if (isUnlimited) delete options.maxCredits;
  return create(SubmitOptionsSchema, options);
}

const requestText = (jobType: JobType, { request }: Prepared) =>
  messageWriter(jobType.method.input)(request);

/** Returns the fields that are given. */
const withoutAbsent = <Fields extends object>(
  fields: Fields,
): { [name in keyof Fields]?: string } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

const timeForm = 'a time such as 2030-01-07T08:00:00Z';

function limitsOf({
  start,
  end,
  maxTotalCredits,
}: Record<(typeof limitFields)[number][0], string | undefined>) {
  const limits: { startAt?: Timestamp; endAt?: Timestamp; maxTotalCredits?: bigint } = {};
  if (start !== undefined) limits.startAt = timeOf('--start', start, timeForm);
  if (end !== undefined) limits.endAt = timeOf('--end', end, timeForm);
  if (maxTotalCredits !== undefined) {
    const credits = integer('--max-total-credits', maxTotalCredits, 0, 1);
    limits.maxTotalCredits = BigInt(credits);
  }
  return limits;
}

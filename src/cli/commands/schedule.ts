import type { Command } from 'commander';
import {
  type Schedule,
  type ScheduleRun,
  ScheduleService,
} from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { count, type PrintedColumn } from './print.ts';
import { addList, addShow } from './resource.ts';
import { addScheduleCreate, addScheduleUpdate, scheduleWords as words } from './schedule-edit.ts';

const columns: PrintedColumn<Schedule>[] = [
  { name: 'SCHEDULE', text: ({ scheduleId }) => scheduleId },
  { name: 'NAME', text: ({ name }) => name },
  { name: 'JOB', text: ({ market, kind }) => `${market} ${kind}` },
  { name: 'STATUS', text: (schedule) => schedule.state, paint: (text, { state }) => state(text) },
  { name: 'CRON', text: ({ cron }) => cron },
  { name: 'TIME ZONE', text: ({ timeZone }) => timeZone },
  { name: 'NEXT RUN', text: ({ nextRunAt }, { time }) => time(nextRunAt) },
  { name: 'SPENT', text: ({ creditsSpent }) => count(creditsSpent), isNumber: true },
];

const runColumns: PrintedColumn<ScheduleRun>[] = [
  { name: 'RUN', text: ({ runId }) => runId },
  { name: 'DUE', text: ({ scheduledFor }, { time }) => time(scheduledFor) },
  { name: 'TRIGGER', text: ({ trigger }) => trigger },
  { name: 'STATUS', text: (run) => run.state, paint: (text, { state }) => state(text) },
  { name: 'COST', text: ({ cost, refunded }) => count(cost - refunded), isNumber: true },
  { name: 'JOB', text: ({ jobId }) => jobId },
  { name: 'REASON', text: ({ reason }) => reason },
];

export function addScheduleCommands(program: Command): void {
  const { method } = ScheduleService;
  const schedule = program
    .command('schedule')
    .description('Repeat a job at the times of a cron expression');
  addScheduleCreate(schedule);
  addList(schedule, {
    usage: 'list',
    about: 'List schedules, newest first',
    options: [['--status <status>', 'filter by status: active, paused, rejected, ended']],
    method: method.listSchedules,
    columns,
    ownerColumn: { name: 'USER', text: ({ userId }) => userId },
    none: 'No matching schedules. Create one with `gleaner schedule create`.',
    request: ({ status: state = '' }) => ({ state }),
  });
  addShow(schedule, {
    usage: 'show <schedule-id>',
    about: 'Show a schedule',
    method: method.getSchedule,
    words,
  });
  addScheduleUpdate(schedule);
  addShow(schedule, {
    usage: 'pause <schedule-id...>',
    about: 'Start no more runs of schedules until they are resumed',
    method: method.pauseSchedule,
    words,
  });
  addShow(schedule, {
    usage: 'resume <schedule-id...>',
    about: 'Resume paused schedules',
    method: method.resumeSchedule,
    words,
  });
  addShow(schedule, {
    usage: 'run <schedule-id>',
    about: 'Start a run now',
    method: method.runSchedule,
    words: ({ jobId, runId, state, reason }) =>
      `${`${jobId || runId} ${state} ${reason}`.trimEnd()}\n`,
  });
  addList(schedule, {
    usage: 'runs <schedule-id>',
    about: 'List the runs of a schedule, newest first',
    method: method.listScheduleRuns,
    columns: runColumns,
    none: 'No runs yet.',
  });
  addShow(schedule, {
    usage: 'delete <schedule-id...>',
    about: 'Delete schedules; their jobs remain',
    method: method.deleteSchedule,
    words: (_deleted, _display, scheduleId) => `${scheduleId} deleted\n`,
  });
}

import type { Command } from 'commander';
import { type Delivery, DeliverySchema } from '../../../gen/gleaner/account/v1/account_pb.ts';
import {
  AcceptDriftResponseSchema,
  type Backlog,
  FieldDriftSchema,
  GetWorkResponseSchema,
  OperatorService,
  type Origin,
  OriginSchema,
  type Process,
  type Setting,
  SettingSchema,
} from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { addCommand, integer, limitOption, pageSize, take } from './command.ts';
import { driftLines } from './drift-lines.ts';
import { addOriginsCheck } from './origins-check.ts';
import { type Column, count, jsonLine, plain } from './print.ts';
import { deliveryColumns } from './webhook.ts';

const originColumns: Column<Origin>[] = [
  { name: 'MARKET', text: ({ market }) => market },
  { name: 'REGION', text: ({ region }) => region },
  { name: 'ORIGIN', text: ({ origin }) => origin },
  { name: 'REQUESTS', text: (origin) => count(sum(origin, 'requests')), isNumber: true },
  { name: 'REFUSED', text: (origin) => count(sum(origin, 'refused')), isNumber: true },
  { name: 'FAILED', text: (origin) => count(sum(origin, 'failed')), isNumber: true },
  { name: 'PAUSED UNTIL', text: ({ pausedUntil }, { time }) => time(pausedUntil) },
  { name: 'REASON', text: ({ reason }) => reason },
];

const sum = ({ minutes }: Origin, what: 'requests' | 'refused' | 'failed'): number =>
  minutes.reduce((total, minute) => total + minute[what], 0);

const backlogColumns: Column<Backlog>[] = [
  { name: 'MARKET', text: ({ market }) => market },
  { name: 'LANE', text: ({ lane }) => lane },
  { name: 'QUEUED', text: ({ queued }) => count(queued), isNumber: true },
  { name: 'RUNNING', text: ({ claimed }) => count(claimed), isNumber: true },
];

const processColumns: Column<Process>[] = [
  { name: 'ROLE', text: ({ role }) => role },
  { name: 'HOST', text: ({ host }) => host },
  { name: 'PID', text: ({ pid }) => String(pid), isNumber: true },
  { name: 'VERSION', text: ({ version }) => version },
  {
    name: 'MB',
    text: ({ memoryBytes }) => count(Math.round(Number(memoryBytes) / 1024 ** 2)),
    isNumber: true,
  },
  { name: 'WORKERS', text: ({ workers }) => count(workers), isNumber: true },
  { name: 'BATCHES', text: ({ batches }) => count(batches), isNumber: true },
  { name: 'STATUS', text: ({ paused }) => (paused === '' ? 'running' : `paused: ${paused}`) },
  { name: 'UNITS DONE', text: ({ unitsDone }) => count(unitsDone), isNumber: true },
  { name: 'SKEW (S)', text: ({ clockSkewMs }) => (Number(clockSkewMs) / 1000).toFixed(1), isNumber: true },
  { name: 'STARTED', text: ({ startedAt }, { time }) => time(startedAt) },
  { name: 'SEEN', text: ({ seenAt }, { time }) => time(seenAt) },
];

const settingColumns: Column<Setting>[] = [
  { name: 'NAME', text: ({ name }) => name },
  { name: 'VALUE', text: ({ value }) => value },
  { name: 'SET', text: (setting) => (setting.set ? 'yes' : '') },
  { name: 'MEANING', text: ({ about }) => about },
];

/** Adds the operators' commands for the service: `origins`, `drift`, `work`, `settings`, and `deliveries`. */
export function addServiceCommands(program: Command): void {
  const { listOrigins, getWork, listSettings, listDeliveries, testNotification } = OperatorService.method;
  const origins = addCommand(program, {
    usage: 'origins',
    about: 'Show the requests of the last hour and the paused sites (operators)',
    async run(session) {
      const { origins } = await session.operator().call(listOrigins, {}, { signal: session.signal });
      await session.list(OriginSchema, origins, originColumns, 'No requests in the last hour.');
    },
  });
  addOriginsCheck(origins);
  addDriftCommands(program);
  addCommand(program, {
    usage: 'work',
    about: 'Show queues and processes (operators)',
    async run(session) {
      const work = await session.operator().call(getWork, {}, { signal: session.signal });
      await session.show(
        GetWorkResponseSchema,
        work,
        ({ table }) =>
          `${work.backlog.length === 0 ? 'The queue is empty.\n' : table(backlogColumns, work.backlog)}\n${table(processColumns, work.processes)}`,
      );
    },
  });
  addCommand(program, {
    usage: 'settings',
    about: 'Show the settings without secrets (operators)',
    async run(session) {
      const { settings } = await session.operator().call(listSettings, {}, { signal: session.signal });
      await session.list(SettingSchema, settings, settingColumns, 'No settings.');
    },
  });
  const deliveries = addCommand<{ user?: string; limit?: string }>(program, {
    usage: 'deliveries',
    about: 'List notifications, newest first (operators)',
    options: [['--user <user-id>', "filter by the user's webhook"], limitOption],
    async run(session, { user = '', limit }) {
      const max = integer('--limit', limit, 50);
      const pages = session
        .operator()
        .pages(listDeliveries, { userId: user, pageSize: pageSize(max) }, { signal: session.signal });
      const found = await take<{ deliveries: Delivery[] }, Delivery>(pages, (page) => page.deliveries, max);
      await session.list(DeliverySchema, found, deliveryColumns, 'No notifications.');
    },
  });
  addCommand(deliveries, {
    usage: 'test',
    about: "Send a test notification to the operators' webhook and e-mail address",
    async run(session) {
      const tested = await session.operator().call(testNotification, {}, { signal: session.signal });
      await session.list(
        DeliverySchema,
        tested.deliveries,
        deliveryColumns,
        'No webhook or e-mail address is configured.',
      );
    },
  });
}

function addDriftCommands(program: Command): void {
  const { listDriftAlarms, acceptDrift } = OperatorService.method;
  const drift = addCommand<{ market?: string; all?: true }>(program, {
    usage: 'drift',
    about: 'List fields that went missing from pages, each with an example (operators)',
    options: [
      ['--market <market>', 'filter by market'],
      ['--all', 'include fields without an alarm'],
    ],
    async run(session, { market = '', all }) {
      const request = { market, all: all === true };
      const { alarms } = await session.operator().call(listDriftAlarms, request, { signal: session.signal });
      if (session.isJson) for (const alarm of alarms) await session.write(jsonLine(FieldDriftSchema, alarm));
      else if (alarms.length === 0) session.note('No drift detected.');
      else await session.write(`${alarms.flatMap(driftLines).map(plain).join('\n')}\n`);
    },
  });
  addCommand(drift, {
    usage: 'accept <market> <page> [field]',
    about: 'End alarms, and make the newest pages the new baseline',
    async run(session, _options, market: string, page: string, field = '') {
      const ended = await session
        .operator()
        .call(acceptDrift, { market, page, field }, { signal: session.signal });
      await session.show(AcceptDriftResponseSchema, ended, () =>
        ended.fields.length === 0 ? 'No such alarm.\n' : `Accepted: ${ended.fields.join(', ')}\n`,
      );
    },
  });
}

import type { Command } from 'commander';
import {
  type Backlog,
  type GetWorkResponse,
  GetWorkResponseSchema,
  ListOriginsResponseSchema,
  ListSettingsResponseSchema,
  OperatorService,
  type Origin,
  OriginSchema,
  type Process,
  type Setting,
  SettingSchema,
} from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { sortByUrgency } from '../../present/origins.ts';
import { addCommand } from './command.ts';
import { UsageError } from './exit.ts';
import { count, type Display, jsonLine, type PrintedColumn } from './print.ts';
import type { CommandSession } from './session.ts';

const originColumns: PrintedColumn<Origin>[] = [
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

const backlogColumns: PrintedColumn<Backlog>[] = [
  { name: 'MARKET', text: ({ market }) => market },
  { name: 'LANE', text: ({ lane }) => lane },
  { name: 'QUEUED', text: ({ queued }) => count(queued), isNumber: true },
  { name: 'RUNNING', text: ({ claimed }) => count(claimed), isNumber: true },
];

const processColumns: PrintedColumn<Process>[] = [
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
  {
    name: 'SKEW (S)',
    // Without the sign of zero.
    text: ({ clockSkewMs }) => (Math.round(Number(clockSkewMs) / 100) / 10 + 0).toFixed(1),
    isNumber: true,
  },
  { name: 'STARTED', text: ({ startedAt }, { time }) => time(startedAt) },
  { name: 'SEEN', text: ({ seenAt }, { time }) => time(seenAt) },
];

const settingColumns: PrintedColumn<Setting>[] = [
  { name: 'NAME', text: ({ name }) => name },
  { name: 'VALUE', text: ({ value }) => value },
  { name: 'SET', text: (setting) => (setting.set ? 'yes' : '') },
  { name: 'MEANING', text: ({ about }) => about },
];

const { getWork, listOrigins, listSettings } = OperatorService.method;
const noRequests = 'No requests in the last hour.';

const parts: Readonly<Record<string, (session: CommandSession) => Promise<void>>> = {
  async work({ client, show }) {
    const work = await client.call(getWork, {});
    await show(GetWorkResponseSchema, work, (display) => workText(work, display));
  },
  async origins({ client, list }) {
    const { origins } = await client.call(listOrigins, {});
    await list(OriginSchema, sortByUrgency(origins), originColumns, noRequests);
  },
  async settings({ client, list }) {
    const { settings } = await client.call(listSettings, {});
    await list(SettingSchema, settings, settingColumns, 'No settings.');
  },
};

export function addStatusCommand(program: Command): void {
  addCommand(program, {
    usage: 'status [part]',
    about:
      'Show queues, processes, active sites, and changed settings, ' +
      `or all of one part: ${Object.keys(parts).join(', ')}`,
    as: 'operator',
    run(session, _options, part: string | undefined) {
      if (part === undefined) return showAll(session);
      const show = Object.hasOwn(parts, part) ? parts[part] : undefined;
      if (show !== undefined) return show(session);
      throw new UsageError(`No part "${part}". Pass ${Object.keys(parts).join(', ')}, or nothing.`);
    },
  });
}

async function showAll({ client, display, isJson, write }: CommandSession): Promise<void> {
  const [work, origins, settings] = await Promise.all([
    client.call(getWork, {}),
    client.call(listOrigins, {}),
    client.call(listSettings, {}),
  ]);
  if (isJson) {
    const texts = [
      jsonLine(GetWorkResponseSchema, work),
      jsonLine(ListOriginsResponseSchema, origins),
      jsonLine(ListSettingsResponseSchema, settings),
    ];
    return write(
      `${JSON.stringify(Object.assign({}, ...texts.map((text) => JSON.parse(text))))}\n`,
    );
  }
  const active = origins.origins.filter(
    (origin) => origin.pausedUntil || sum(origin, 'requests') > 0,
  );
  const changed = settings.settings.filter((setting) => setting.set);
  const sections = [
    workText(work, display),
    display.table(originColumns, active) || `${noRequests}\n`,
    display.table(settingColumns.slice(0, 2), changed),
  ];
  await write(sections.filter((text) => text !== '').join('\n'));
}

const noBatches =
  'No batches are queued. Jobs that wait for approval or for working hours have none yet.';

const workText = ({ backlog, processes }: GetWorkResponse, { table }: Display) =>
  `${table(backlogColumns, backlog) || `${noBatches}\n`}\n${table(processColumns, processes)}`;

import type { Command } from 'commander';
import type { Diagnosis } from '../../base/diagnosis.ts';
import type { OriginCheck } from '../../tools/origins-check.ts';
import type { Io } from '../io.ts';
import { onRun } from '../program.ts';
import { UsageError } from './exit.ts';
import { marketPath } from './market-names.ts';
import { counted, type Display, type PrintedColumn, plain } from './print.ts';

/** Options of runOriginsCheck(). */
export interface CheckFlags {
  /** Pages to fetch, as `<market>=<id>`. */
  id?: string[] | undefined;
  json?: true | undefined;
}

const columns: PrintedColumn<OriginCheck>[] = [
  { name: 'MARKET', text: ({ market }) => market },
  { name: 'REGION', text: ({ region }) => region },
  { name: 'ORIGIN', text: ({ origin }) => origin },
  { name: 'PAGE', text: ({ page }) => page },
  {
    name: 'STATUS',
    text: ({ status }) => (status === null ? '-' : String(status)),
    isNumber: true,
  },
  { name: 'RESULT', text: ({ result }) => result },
  {
    name: 'FIELDS',
    text: ({ fields }) => (fields.listed === 0 ? '-' : `${fields.read}/${fields.listed}`),
  },
];

/**
 * Fetches one page of each site, and shows what came back. Returns the exit code. Needs no service.
 */
async function runOriginsCheck(
  { config, display, note, say }: Io,
  markets: readonly string[],
  { id = [], json }: CheckFlags,
): Promise<number> {
  const { checkOrigins } = await import('../../tools/origins-check.ts');
  const checks: OriginCheck[] = [];
  for await (const check of checkOrigins(config(), { markets, ids: parseIds(id), note })) {
    checks.push(check);
    if (json) say(JSON.stringify(jsonOf(check)));
  }
  if (!json) for (const line of checkLines(checks, display)) say(line);
  return checks.some(isFailed) ? 1 : 0;
}

const isFailed = ({ result }: OriginCheck): boolean => result !== 'ok' && result !== 'skipped';

/** Formats checks as a table, followed by the remedy of each problem. */
function checkLines(checks: readonly OriginCheck[], { table }: Display): string[] {
  const problems = checks.filter(({ result }) => result !== 'ok');
  return [
    table(columns, checks).trimEnd(),
    ...problems.flatMap(({ market, message, remedy }) => [
      '',
      `${market}: ${message}`,
      `  ${remedy}`,
    ]),
  ];
}

function jsonOf({ fields, clockSkewMs, ...check }: OriginCheck) {
  return {
    ...check,
    fields_read: fields.read,
    fields_listed: fields.listed,
    clock_skew_ms: clockSkewMs,
  };
}

function parseIds(values: readonly string[]): Map<string, string> {
  return new Map(
    values.map((text) => {
      const [market = '', ...id] = text.split('=');
      if (id.length === 0) throw new UsageError(`--id: expected <market>=<id or URL>, not ${text}`);
      return [marketPath(market), id.join('=')] as const;
    }),
  );
}

const marks = {
  ok: ['ok', 'green'],
  warning: ['warning', 'yellow'],
  error: ['ERROR', 'red'],
} as const;

interface DoctorFlags extends CheckFlags {
  offline?: true;
  origins?: true;
}

const collect = (text: string, all: string[] = []) => [...all, text];

export function addDoctor(program: Command): void {
  const doctor = program
    .command('doctor [market...]')
    .description(
      'Check Node, browser, ports, disk, engines, ' +
        'result files, clock, and sites, and say what to do',
    )
    .option('--offline', 'send no request to the configured sites')
    .option('--origins', 'check the sites of the markets only, and show what came back')
    .option(
      '--id <market>=<id>',
      'id or URL of the page to fetch, with --origins (repeatable)',
      collect,
    )
    .option('--json', 'print JSON Lines');
  onRun(doctor, async (io, { offline, origins, json, id }: DoctorFlags, markets: string[]) => {
    if (origins) return runOriginsCheck(io, markets.map(marketPath), { id, json });
    if (markets.length > 0 || id !== undefined)
      throw new UsageError('Markets and --id require --origins');
    return runDiagnoses(io, { isOffline: offline === true, isJson: json === true });
  });
}

/** Checks the installation, and shows each diagnosis at once. Returns the exit code. */
async function runDiagnoses(
  { config, display, say }: Io,
  { isOffline, isJson }: { isOffline: boolean; isJson: boolean },
): Promise<number> {
  const { diagnose } = await import('../../tools/doctor.ts');
  const count = { ok: 0, warning: 0, error: 0 };
  for await (const diagnosis of diagnose(config(), { offline: isOffline })) {
    count[diagnosis.state] += 1;
    const lines = isJson ? [JSON.stringify(diagnosis)] : diagnosisLines(diagnosis, display);
    for (const line of lines) say(line);
  }
  if (!isJson) say(`\n${counted(count.error, 'error')}, ${counted(count.warning, 'warning')}`);
  return count.error > 0 ? 1 : 0;
}

function diagnosisLines({ name, state, message, remedy, guide }: Diagnosis, { paint }: Display) {
  const [word, color] = marks[state];
  const mark = paint(color, word.padEnd(8));
  const lines = [`${mark}${name}: ${plain(message)}`];
  const source = guide === undefined ? '' : ` ${fileOf(guide)}`;
  if (remedy !== '') lines.push(`        ${remedy}${source}`);
  return lines;
}

/** Formats a section of the documentation: "(docs/backups.md#scheduled-backups)". */
function fileOf(guide: string): string {
  const [page, anchor] = guide.split('#');
  return `(docs/${page}.md#${anchor})`;
}

import type { OriginCheck } from '../../app/origins-check.ts';
import type { Io } from '../io.ts';
import { UsageError } from './exit.ts';
import type { Display, PrintedColumn } from './print.ts';

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
  { name: 'STATUS', text: ({ status }) => (status === null ? '-' : String(status)), isNumber: true },
  { name: 'RESULT', text: ({ result }) => result },
  { name: 'FIELDS', text: ({ fields }) => (fields.listed === 0 ? '-' : `${fields.read}/${fields.listed}`) },
];

/** Fetches one page of each site, and shows what came back. Returns the exit code. Needs no service. */
export async function runOriginsCheck(
  { config, display, note, say }: Io,
  markets: readonly string[],
  { id = [], json }: CheckFlags,
): Promise<number> {
  const { checkOrigins } = await import('../../app/origins-check.ts');
  const checks: OriginCheck[] = [];
  for await (const check of checkOrigins(config(), { markets, ids: parseIds(id), note })) {
    checks.push(check);
    if (json) say(JSON.stringify(jsonOf(check)));
  }
  if (!json) for (const line of checkLines(checks, display)) say(line);
  return checks.some(isFailed) ? 1 : 0;
}

const isFailed = ({ result }: OriginCheck): boolean => result !== 'ok' && result !== 'skipped';

/** Formats checks as a table, followed by what to do about each problem. */
function checkLines(checks: readonly OriginCheck[], { table }: Display): string[] {
  const problems = checks.filter(({ result }) => result !== 'ok');
  return [
    table(columns, checks).trimEnd(),
    ...problems.flatMap(({ market, message, remedy }) => ['', `${market}: ${message}`, `  ${remedy}`]),
  ];
}

function jsonOf({ fields, clockSkewMs, ...check }: OriginCheck) {
  return { ...check, fields_read: fields.read, fields_listed: fields.listed, clock_skew_ms: clockSkewMs };
}

function parseIds(values: readonly string[]): Map<string, string> {
  return new Map(
    values.map((text) => {
      const [market = '', ...id] = text.split('=');
      if (id.length === 0) throw new UsageError(`--id: expected <market>=<id or URL>, not ${text}`);
      return [market, id.join('=')] as const;
    }),
  );
}

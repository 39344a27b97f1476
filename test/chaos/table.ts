import type { FaultKind } from './plan.ts';
import type { ChaosReport } from './run.ts';

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

const count = ({ faults }: ChaosReport, ...kinds: FaultKind[]) =>
  faults.filter(({ kind }) => kinds.includes(kind)).length;

const columns: readonly (readonly [string, (report: ChaosReport) => string | number])[] = [
  ['stack', ({ stack }) => stack],
  ['jobs', ({ jobs }) => jobs],
  ['items', ({ items }) => items],
  ['kills', (report) => count(report, 'kill')],
  ['freezes', (report) => count(report, 'freeze')],
  ['restarts', (report) => count(report, 'restart')],
  ['partitions', (report) => count(report, 'silence', 'cut')],
  ['delays', (report) => count(report, 'delay')],
  ['killed by a page', ({ poisonKills }) => poisonKills],
  ['requests per page', ({ requestsPerPage }) => requestsPerPage.toFixed(2)],
  [
    'failed by faults',
    ({ failures }) => [...failures.values()].reduce((sum, units) => sum + units, 0),
  ],
  ['lost', ({ problems }) => problems.count('lost')],
  ['duplicated', ({ problems }) => problems.count('duplicated')],
  ['mischarged', ({ problems }) => problems.count('mischarged')],
  ['other', ({ problems }) => problems.count('other')],
  ['longest time without progress', ({ longestGapMs }) => seconds(longestGapMs)],
  ['recovered after', ({ recoveredMs }) => seconds(recoveredMs)],
];

/** Formats reports as a Markdown table. */
export function formatTable(reports: readonly ChaosReport[]): string {
  const cells = [
    columns.map(([title]) => title),
    columns.map(() => '---'),
    ...reports.map((report) => columns.map(([, read]) => String(read(report)))),
  ];
  return cells.map((row) => `| ${row.join(' | ')} |`).join('\n');
}

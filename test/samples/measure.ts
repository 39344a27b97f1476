import type { Expectations, Sample } from './manifest.ts';
import type { SampleResult } from './run.ts';
import type { PageScore } from './truth.ts';

/** Numbers of the values of a field whose true value is known. */
export interface FieldMeasure {
  /** Marketplace and page type: "mkte product". */
  page: string;
  /** Path in the record, with `[]` for every element of a list. */
  field: string;
  right: number;
  wrong: number;
  /** True values that the record does not have. */
  missing: number;
}

/** Field of a page that is no record: it must be a fault with the right code. */
const faultField = 'fault';

const kinds = ['expect', 'any', 'match', 'min'] as const;

/** Returns the paths of all expectations of a sample. */
function pathsOf(wanted: Expectations): string[] {
  const valued = kinds.flatMap((kind) => Object.keys(wanted[kind] ?? {}));
  return [...valued, ...(wanted.null ?? []), ...(wanted.absent ?? [])];
}

const fieldOf = (path: string) =>
  path.replace(/\.\d+(?=\.|$)/g, '[]').replace(/\[[^\]]*=[^\]]*\]/g, '[]');

const isMissing = (got: string) => got === 'nothing' || got === 'null';

/** Numbers of right, wrong, and missing values by page and field. */
export class Measures {
  readonly #byField = new Map<string, FieldMeasure>();

  /** Counts the expectations of a sample that its record meets, and those that it does not. */
  addSample(entry: Sample, result: SampleResult): void {
    if (result.result === 'skipped') return;
    const page = `${entry.market} ${entry.page}`;
    const missed = result.result === 'missed' ? result.misses : [];
    if (entry.outcome === 'fault' || missed.some(({ path }) => path === '')) {
      this.#count(page, faultField, missed.length === 0 ? 'right' : 'wrong');
      return;
    }
    for (const path of pathsOf(entry)) {
      const miss = missed.find((each) => each.path === path);
      const missing = miss && isMissing(miss.got) ? 'missing' : 'wrong';
      this.#count(page, fieldOf(path), miss ? missing : 'right');
    }
  }

  /** Counts the values of shops' pages with true values. */
  addScores({ scores, wrong }: PageScore): void {
    for (const [field, { right }] of Object.entries(scores)) {
      const ofField = wrong.filter((value) => value.field === field);
      const missing = ofField.filter(({ got }) => got === null).length;
      const measure = this.#measure('shops product', field);
      measure.right += right;
      measure.missing += missing;
      measure.wrong += ofField.length - missing;
    }
  }

  list(): FieldMeasure[] {
    return [...this.#byField.values()];
  }

  #count(page: string, field: string, result: 'right' | 'wrong' | 'missing'): void {
    this.#measure(page, field)[result] += 1;
  }

  #measure(page: string, field: string): FieldMeasure {
    const key = `${page} ${field}`;
    const measure = this.#byField.get(key) ?? { page, field, right: 0, wrong: 0, missing: 0 };
    this.#byField.set(key, measure);
    return measure;
  }
}

const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
const heading = row(['page', 'fields', 'right', 'wrong', 'missing']);

/**
 * Returns the rows of a page: those of fields with a wrong or missing value, and one row of all
 * others.
 */
function pageRows(page: string, measures: readonly FieldMeasure[]): string[] {
  const isExact = ({ wrong, missing }: FieldMeasure) => wrong === 0 && missing === 0;
  const exact = measures.filter(isExact);
  const names = exact.length === 1 ? `\`${exact[0]!.field}\`` : `${exact.length} fields`;
  const right = exact.reduce((sum, measure) => sum + measure.right, 0);
  const others = measures
    .filter((measure) => !isExact(measure))
    .map(({ field, right, wrong, missing }) => row([page, `\`${field}\``, right, wrong, missing]));
  return exact.length === 0 ? others : [...others, row([page, names, right, 0, 0])];
}

/** Returns the measures as a table in Markdown. */
export function tableOf(measures: readonly FieldMeasure[]): string {
  const byPage = Map.groupBy(measures, ({ page }) => page);
  const rows = [...byPage].flatMap(([page, ofPage]) => pageRows(page, ofPage));
  return [heading, row(Array(5).fill('---')), ...rows].join('\n');
}

/** Replaces the table of measures in a page. Throws an Error for a page without one. */
export function replaceTable(page: string, table: string): string {
  const lines = page.split('\n');
  const start = lines.indexOf(heading);
  if (start < 0) throw new Error(`The page has no table with the heading "${heading}"`);
  const rest = lines.slice(start);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return [...lines.slice(0, start), table, ...(end < 0 ? [] : rest.slice(end))].join('\n');
}

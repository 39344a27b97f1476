import type { Message } from '@bufbuild/protobuf';
import { Fault, type Problem } from '../../contract/fault.ts';
import { findJobType } from '../../contract/job-types.ts';
import { quote } from '../../contract/problem-texts.ts';
import { columnsOf } from '../../contract/units/columns.ts';
import { type UnitProblem, UnitsError } from '../../contract/units/problem.ts';
import { type ColumnProblem, readUnits, type UnitFields } from '../../contract/units/read-units.ts';
import type { Unit } from '../../store/batches.ts';
import { inOrder } from '../items.ts';
import type { Plan } from '../kind.ts';

/** Fields of gleaner.mkta.v1.SubmitGetPcBulkRequest. */
interface Request {
  file: Uint8Array;
  rescrape?: boolean;
  resultFormat?: string;
  region?: string;
}

/** Plans one unit per row of the CSV, in its order. Throws as readRows() does. */
export async function plan(request: Message): Promise<Plan> {
  const { file, rescrape = false, resultFormat = 'csv', region } = request as unknown as Request;
  const units = readRows(file, region).map(({ region: rowRegion, ...input }) => ({
    unit: { key: input.item_id, input },
    region: rowRegion,
  }));
  return { groups: inOrder(units), region: '', params: { rescrape, resultFormat } };
}

/** Returns the key that a product page is cached under: region, shop and item. */
export function recentKey({ input }: Unit, region: string): string {
  return `${region}/${input.shop_id}/${input.item_id}`;
}

/** One row of the uploaded CSV. */
export interface GetPcRow {
  region: string;
  shop_id: string;
  item_id: string;
}

/** Maximum rows per submission. */
export const maxRows = 2_000;

const columns = columnsOf(findJobType({ market: 'mkta', kind: 'get_pc_bulk' })!);

/**
 * Reads the rows of a CSV; `region` applies to rows without one. Throws `invalid`, which names
 * every invalid row, up to 100 problems. Their `loc` is ["body", "file", row, column]; the header
 * is row 0.
 */
export function readRows(file: Uint8Array, region = ''): GetPcRow[] {
  const fills: UnitFields = region === '' ? {} : { region };
  try {
    const { units } = readUnits(columns, file, { fills, maxRows, checkUnit });
    return units as unknown as GetPcRow[];
  } catch (error) {
    if (!(error instanceof UnitsError)) throw error;
    const problems = error.problems.map(toProblem);
    throw new Fault('invalid', 'The CSV is not valid; nothing was charged.', { problems });
  }
}

function toProblem({ row, line, column, type, message }: UnitProblem): Problem {
  const cell = [row, column].filter((step) => step !== undefined);
  const msg = line === undefined ? message : `${message} (line ${line})`;
  return { loc: ['body', 'file', ...cell], msg, type };
}

/** Returns the problems of a row's fields. */
function checkUnit(unit: UnitFields): ColumnProblem[] {
  return columns.fields.flatMap((column) => {
    const problem = problemOf(column, unit[column]);
    return problem === null ? [] : [{ column, ...problem }];
  });
}

function problemOf(
  column: string,
  value: string | undefined,
): Omit<ColumnProblem, 'column'> | null {
  if (value === undefined) return { type: 'missing', message: `The row lacks '${column}'` };
  const choices = columns.choices.get(column)!;
  if (choices.length === 0)
    return /^[0-9]{1,20}$/.test(value)
      ? null
      : { type: 'string_pattern_mismatch', message: `${quote(value)} is not an id` };
  if (choices.includes(value)) return null;
  return { type: 'enum', message: `${quote(value)} is not one of ${choices.join(', ')}` };
}

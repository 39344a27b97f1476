import { setImmediate } from 'node:timers/promises';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { type Cell, cellReader } from './cells.ts';
import type { Column, ColumnType } from './columns.ts';
import { type ExactObject, parseExact } from './json-text.ts';

/** Maximum rows of a row group. */
const maxRows = 2_000;
/** Size of a row group in bytes. Bounds memory, and the time of a write. */
const groupBytes = 2 * 1024 * 1024;

const elements = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  // As strings: readers disagree about columns of the type JSON.
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  others: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  timestamp: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
} as const satisfies Record<ColumnType, object>;

const optional = { repetition_type: 'OPTIONAL' } as const;

/** Returns the schema of a column: a value, or a list in three levels. */
const schemaOf = ({ name, type, elements: element }: Column) =>
  element === undefined
    ? [{ name, ...optional, ...elements[type] }]
    : [
        { name, ...optional, converted_type: 'LIST' as const, num_children: 1 },
        { name: 'list', repetition_type: 'REPEATED' as const, num_children: 1 },
        { name: 'element', ...optional, ...elements[element] },
      ];

/** Writer that hands over what was written so far. */
class Chunks extends ByteWriter {
  take(): Uint8Array {
    const bytes = this.getBytes().slice();
    this.index = 0;
    return bytes;
  }
}

/** Yields rows as a Parquet file, a row group at a time. Every column allows null. */
export async function* parquetBytes(
  columns: readonly Column[],
  rows: AsyncIterable<ExactObject>,
): AsyncGenerator<Uint8Array> {
  const chunks = new Chunks();
  const writer = new ParquetWriter({
    writer: chunks,
    schema: [{ name: 'root', num_children: columns.length }, ...columns.flatMap(schemaOf)],
    createdBy: 'gleaner',
  });
  const cellsOf = cellReader(columns);
  const group = createGroup(columns);
  for await (const row of rows) {
    group.add(cellsOf(row));
    if (!group.isFull()) continue;
    writer.write({ columnData: group.take(), rowGroupSize: maxRows });
    yield chunks.take();
    // Writing is synchronous: other work runs between row groups.
    await setImmediate();
  }
  if (!group.isEmpty()) writer.write({ columnData: group.take(), rowGroupSize: maxRows });
  writer.finish();
  yield chunks.take();
}

/** Creates the buffer of one row group. */
function createGroup(columns: readonly Column[]) {
  const empty = (): Stored[][] => columns.map(() => []);
  let data = empty();
  let rows = 0;
  let bytes = 0;
  return {
    isEmpty: () => rows === 0,
    isFull: () => rows >= maxRows || bytes >= groupBytes,
    add(cells: readonly Cell[]): void {
      rows++;
      for (const [index, cell] of cells.entries()) {
        data[index]!.push(storedCell(cell, columns[index]!));
        bytes += typeof cell === 'string' ? cell.length : 8;
      }
    },
    take() {
      const columnData = columns.map(({ name, type }, index) => ({
        name,
        data: data[index]!,
        // Minima and maxima of JSON texts help no reader.
        statistics: type !== 'json' && type !== 'others',
      }));
      data = empty();
      rows = 0;
      bytes = 0;
      return columnData;
    },
  };
}

type Stored = Cell | Stored[] | undefined;

/** Returns a cell as the writer expects it. */
function storedCell(cell: Cell, { type, elements }: Pick<Column, 'type' | 'elements'>): Stored {
  if (cell === null) return undefined;
  if (elements !== undefined)
    return (parseExact(String(cell)) as Cell[]).map((element) =>
      storedCell(element, { type: elements }),
    );
  if (type === 'timestamp') return BigInt(Date.parse(String(cell)));
  if (typeof cell === 'string') return cell.toWellFormed();
  if (type === 'integer') return BigInt(cell);
  return type === 'number' ? Number(cell) : cell;
}

import { type DescField, getOption, hasOption, ScalarType } from '@bufbuild/protobuf';
import {
  entries as entriesOption,
  nullable as nullableOption,
  rest_name as restNameOption,
} from '../../gen/gleaner/options/v1/options_pb.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { ListPage, ListSummary } from '../markets/market.ts';
import {
  prefixFields,
  type RecordFieldNotation,
  type RecordFields,
} from '../quality/record-schema.ts';
import type { Unit } from '../store/batches.ts';
import type { FileEntry, ResultContract, UnitFilePack, UnitFilePlace } from './kind.ts';

/**
 * Writes the result file of a listing as the contract declares it: first the fields that are known
 * before the reading, then the entries, then the fields that are known after it. Declared fields
 * without a value are null.
 */
export const listingFile: UnitFilePack = {
  name: ({ market, kind }, { seq, id, attempt }) =>
    `${market}_${kind}_${seq + 1}_${id}_${attempt}.json`,
  contentType: 'application/json',
  head(unit, file) {
    const { list, before, values } = partsOf(unit, file);
    const members = before.map((name) => `${member(name, values[name])},`).join('');
    return `${file.result!.inArray ? '[' : ''}{${members}"${nameOf(list)}":[`;
  },
  async *body(pages, unit, file) {
    const { list, after } = partsOf(unit, file);
    const { count, read, summary } = yield* entriesOf(pages, getOption(list, entriesOption));
    const endValues: JsonObject = {
      total_products: count,
      total_items: count,
      pages_fetched: read,
      scraped_pages: read,
      ...summary,
    };
    const members = after.map((name) => `,${member(name, endValues[name])}`).join('');
    yield `\n]${members}}${file.result!.inArray ? ']' : ''}\n`;
    return count;
  },
  entries: entryLines,
};

/**
 * Returns the field with the entries, and the names of the other fields values before and after the
 * reading.
 */
function partsOf(unit: Unit, file: UnitFilePlace) {
  const { fields } = file.result!.message;
  const values = knownBefore(unit, file);
  const list = fields.find((field) => hasOption(field, entriesOption))!;
  const names = fields.filter((field) => field !== list).map(nameOf);
  return {
    list,
    values,
    before: names.filter((name) => name in values),
    after: names.filter((name) => !(name in values)),
  };
}

/** Returns the fields of a listing's result file as the contract declares it. */
export function listingFields(page: RecordFields, { result }: ResultContract): RecordFields {
  const listed: Record<string, RecordFieldNotation> = {};
  for (const field of result!.message.fields) {
    const name = nameOf(field);
    if (hasOption(field, entriesOption)) {
      listed[name] = 'array';
      Object.assign(listed, prefixFields(`${name}[]`, page));
      continue;
    }
    const type = typeOf(field);
    listed[name] = getOption(field, nullableOption) ? `${type}?` : type;
  }
  return listed;
}

const integers: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT32,
  ScalarType.INT64,
  ScalarType.UINT32,
  ScalarType.UINT64,
]);

function typeOf(field: DescField) {
  if (field.fieldKind === 'list') return 'array';
  if (field.fieldKind !== 'scalar') return 'object';
  if (field.scalar === ScalarType.STRING) return 'string';
  if (field.scalar === ScalarType.BOOL) return 'boolean';
  return integers.has(field.scalar) ? 'integer' : 'number';
}

const nameOf = (field: DescField): string => getOption(field, restNameOption) || field.name;

const member = (name: string, value: Json | undefined): string =>
  `"${name}":${JSON.stringify(value ?? null)}`;

/**
 * Returns the values that are known before the listing is read: the unit's input, and the job's
 * data.
 */
function knownBefore(unit: Unit, { job, batch, collectedAt }: UnitFilePlace): JsonObject {
  const submitted = new Date(job.createdAt).toISOString();
  return {
    ...unit.input,
    ...(job.params.identity === undefined ? { url: unit.key } : {}),
    success: true,
    batch_id: batch.id,
    collected_at: collectedAt,
    submit_date: submitted.slice(0, 10),
    submit_hour: submitted.slice(11, 13),
  };
}

/**
 * Yields the entries of one list, separated by commas. Returns the number of entries and pages, and
 * the listing's summary.
 */
async function* entriesOf(
  pages: AsyncGenerator<ListPage, ListSummary, void>,
  list: string,
): AsyncGenerator<string, { count: number; read: number; summary: ListSummary }> {
  let count = 0;
  let read = 0;
  for (;;) {
    const { value, done } = await pages.next();
    if (done) return { count, read, summary: value };
    if (value.list !== list)
      throw new Error(`the reader yielded the list '${value.list}', the file holds '${list}'`);
    read++;
    const text = value.entries
      .map((entry) => `${count++ === 0 ? '\n' : ',\n'}${JSON.stringify(entry)}`)
      .join('');
    if (text !== '') yield text;
  }
}

/**
 * Yields the entries of a unit's file. In the file, each entry has its own line, and every other
 * line ends with the name of the list that follows. `section` counts those lists from 0.
 */
export async function* entryLines(
  lines: AsyncIterable<string>,
): AsyncGenerator<FileEntry & { section: number }> {
  let section = -1;
  let list = '';
  for await (const line of lines) {
    const opened = /"([^"]+)":\[$/.exec(line);
    if (opened !== null) {
      section++;
      list = opened[1]!;
    } else if (line.startsWith('{'))
      yield { section, list, text: line.endsWith(',') ? line.slice(0, -1) : line };
  }
}

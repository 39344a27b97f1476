import type { Command } from 'commander';
import {
  HistoryService,
  type ItemChange,
  ItemChangeSchema,
  type ItemValues,
  type ListChangesResponse,
  type Observation,
  ObservationSchema,
  type TrackedItem,
  TrackedItemSchema,
} from '../../../gen/gleaner/history/v1/history_pb.ts';
import { addCommand, integer, limitOption, pageSize, take } from './command.ts';
import { UsageError } from './exit.ts';
import { checkId } from './jobs-source.ts';
import { type Column, count, counted, plain } from './print.ts';
import { writeStream } from './results.ts';

const { listTrackedItems, getHistory, listChanges, streamChanges } = HistoryService.method;

const price = (values: ItemValues | undefined): string =>
  values?.price === undefined ? '' : `${values.price}${values.currency ? ` ${values.currency}` : ''}`;

function stock(values: ItemValues | undefined): string {
  if (values?.stock !== undefined) return count(values.stock);
  return values?.available === undefined ? '' : values.available ? 'yes' : 'no';
}

/** Columns of an item's values. */
const valueColumns = <Row>(valuesOf: (row: Row) => ItemValues | undefined): Column<Row>[] => [
  { name: 'PRICE', text: (row) => price(valuesOf(row)), isNumber: true },
  { name: 'STOCK', text: (row) => stock(valuesOf(row)), isNumber: true },
  { name: 'SOLD', text: (row) => (valuesOf(row)?.sold ?? '').toString(), isNumber: true },
  { name: 'TITLE', text: (row) => plain(valuesOf(row)?.title ?? '') },
];

const observationColumns: Column<Observation>[] = [
  { name: 'OBSERVED', text: ({ observedAt }, { time }) => time(observedAt) },
  ...valueColumns<Observation>(({ values }) => values),
  { name: 'CHANGED', text: ({ changed }) => changed.join(', ') },
];

const itemColumns: Column<TrackedItem>[] = [
  { name: 'MARKET', text: ({ market }) => market },
  { name: 'REGION', text: ({ region }) => region },
  { name: 'ITEM', text: ({ key }) => plain(key) },
  { name: 'CHANGED', text: ({ changedAt }, { time }) => time(changedAt) },
  ...valueColumns<TrackedItem>(({ values }) => values),
];

const changeColumns: Column<ItemChange>[] = [
  { name: 'CHANGE', text: ({ type }) => type, paint: (text, { state }) => state(text) },
  { name: 'MARKET', text: ({ market }) => market },
  { name: 'REGION', text: ({ region }) => region },
  { name: 'ITEM', text: ({ key }) => plain(key) },
  { name: 'TITLE', text: ({ title }) => plain(title ?? '') },
  {
    name: 'FIELDS',
    text: ({ type, fields }) =>
      type === 'new'
        ? ''
        : plain(fields.map(({ field, before, after }) => difference(field, before, after)).join(', ')),
  },
];

/** Describes the change of a value: `price 12 > 10`. Lists are too long to show. */
function difference(field: string, before = 'null', after = 'null'): string {
  return field === 'variants' ? field : `${field} ${before} > ${after}`;
}

/** Adds `history` and `changes`. */
export function addHistoryCommands(program: Command): void {
  addHistory(program);
  addChanges(program);
}

interface HistoryOptions {
  fields?: string;
  series?: string;
  search?: string;
  limit?: string;
}

function addHistory(program: Command): void {
  addCommand<HistoryOptions>(program, {
    usage: 'history [market] [region] [key]',
    about: 'Show how an item of your tracked jobs changed, or list these items',
    options: [
      ['--fields <names>', 'only these values, separated by commas: price,stock'],
      ['--series <name>', 'list the items of this series'],
      ['--search <text>', 'list items whose title or id contains the text'],
      limitOption,
    ],
    async run(session, options, market?: string, region?: string, key?: string) {
      const max = integer('--limit', options.limit, 50);
      const user = session.user();
      const { signal } = session;
      if (key === undefined) {
        const { series = '', search = '' } = options;
        const request = {
          market: market ?? '',
          region: region ?? '',
          series,
          search,
          pageSize: pageSize(max),
        };
        const pages = user.pages(listTrackedItems, request, { signal });
        const items = await take(pages, (page) => page.items, max);
        const none = 'No tracked items. Submit a job with --track true.';
        await session.list(TrackedItemSchema, items, itemColumns, none);
        return;
      }
      if (options.series !== undefined || options.search !== undefined)
        throw new UsageError('--series and --search list items: leave out the item');
      const fields = options.fields === undefined ? [] : options.fields.split(',');
      const request = { market: market!, region: region!, key, fields, pageSize: pageSize(max) };
      const pages = user.pages(getHistory, request, { signal });
      const observations = await take(pages, (page) => page.observations, max);
      await session.list(ObservationSchema, observations, observationColumns, 'No observations.');
    },
  });
}

interface ChangesOptions {
  type?: string;
  format?: string;
  output?: string;
  limit?: string;
}

function addChanges(program: Command): void {
  addCommand<ChangesOptions>(program, {
    usage: 'changes <job>',
    about: 'Show what changed since the run before a tracked job',
    options: [
      ['--type <type>', 'only new, changed, missing, or back'],
      ['--format <format>', 'write all changes as jsonl, json, csv, csv-bom, or parquet'],
      ['-o, --output <file>', 'write to a file instead of standard output'],
      limitOption,
    ],
    async run(session, { type = '', format, output, limit }, id: string) {
      const user = session.user();
      const { signal } = session;
      const { jobId } = await user.find(checkId(id), { signal });
      if (format !== undefined || output !== undefined) {
        if (type !== '') throw new UsageError('--type cannot be combined with --format and --output');
        const stream = await user.stream(streamChanges, { jobId, format: format ?? '' }, { signal });
        await writeStream(session, stream, output);
        return;
      }
      const max = integer('--limit', limit, 50);
      const request = { jobId, type, pageSize: pageSize(max) };
      const changes = await take(user.pages(listChanges, request, { signal }), (page) => page.changes, max);
      const summary = await user.call(listChanges, { jobId, pageSize: 1 }, { signal });
      await session.list(ItemChangeSchema, changes, changeColumns, 'No changes.');
      if (!session.isJson) session.note(summaryOf(summary));
    },
  });
}

/** Describes the state of a comparison and its counts. */
function summaryOf({ status, counts, series }: ListChangesResponse): string {
  if (status === 'pending') return 'The job is not compared yet.';
  if (status === 'held') return 'The job is held: release it to compare it.';
  if (status === 'discarded') return 'The results of the job were discarded: it is not compared.';
  const { new: fresh = 0, changed = 0, missing = 0, back = 0, unchanged = 0 } = counts ?? {};
  const parts = [`${fresh} new`, `${changed} changed`, `${missing} missing`, `${back} back`];
  const where = series === '' ? '' : ` in ${series}`;
  const rest = status === 'done' ? '' : ' The comparison continues.';
  return `${counted(fresh + changed + back + unchanged, 'item')}${where}: ${parts.join(', ')}, ${unchanged} unchanged.${rest}`;
}

import type { Command } from 'commander';
import {
  HistoryService,
  type ItemChange,
  ItemChangeSchema,
  type ItemValues,
  type ListChangesResponse,
  type Observation,
  type TrackedItem,
} from '../../../gen/gleaner/history/v1/history_pb.ts';
import { changesText } from '../../present/item.ts';
import { addCommand, integer, limitOption, outputOption } from './command.ts';
import { UsageError } from './exit.ts';
import { count, counted, type PrintedColumn, plain } from './print.ts';
import { addList, readPages } from './resource.ts';
import { findJobId, writeStream } from './session.ts';

const { listTrackedItems, getHistory, listChanges, readChangeFeed, streamChanges } =
  HistoryService.method;

/** Maximum changes in a response. */
const maxFeedPage = 1_000;

function price(values: ItemValues | undefined): string {
  if (values?.price === undefined) return '';
  const { price: amount, currency } = values;
  return currency ? `${amount} ${currency}` : `${amount}`;
}

function stock(values: ItemValues | undefined): string {
  if (values?.stock !== undefined) return count(values.stock);
  if (values?.available === undefined) return '';
  return values.available ? 'yes' : 'no';
}

const valueColumns = <Row>(
  valuesOf: (row: Row) => ItemValues | undefined,
): PrintedColumn<Row>[] => [
  { name: 'PRICE', text: (row) => price(valuesOf(row)), isNumber: true },
  { name: 'STOCK', text: (row) => stock(valuesOf(row)), isNumber: true },
  { name: 'SOLD', text: (row) => (valuesOf(row)?.sold ?? '').toString(), isNumber: true },
  { name: 'TITLE', text: (row) => plain(valuesOf(row)?.title ?? '') },
];

const observationColumns: PrintedColumn<Observation>[] = [
  { name: 'OBSERVED', text: ({ observedAt }, { time }) => time(observedAt) },
  ...valueColumns<Observation>(({ values }) => values),
  { name: 'CHANGED', text: ({ changed }) => changed.join(', ') },
];

const itemColumns: PrintedColumn<TrackedItem>[] = [
  { name: 'MARKET', text: ({ market }) => market },
  { name: 'REGION', text: ({ region }) => region },
  { name: 'ITEM', text: ({ key }) => plain(key) },
  { name: 'CHANGED', text: ({ changedAt }, { time }) => time(changedAt) },
  ...valueColumns<TrackedItem>(({ values }) => values),
];

const changeColumns: PrintedColumn<ItemChange>[] = [
  { name: 'CHANGE', text: ({ type }) => type, paint: (text, { state }) => state(text) },
  { name: 'MARKET', text: ({ market }) => market },
  { name: 'REGION', text: ({ region }) => region },
  { name: 'ITEM', text: ({ key }) => plain(key) },
  { name: 'TITLE', text: ({ title }) => plain(title ?? '') },
  {
    name: 'FIELDS',
    text: (change) => (change.type === 'new' ? '' : plain(changesText(change))),
  },
];

export function addItemCommands(program: Command): void {
  const item = program.command('item').description('Follow the items of tracked jobs');
  addList(item, {
    usage: 'list [market] [region]',
    about: 'List the items of your tracked jobs, the latest change first',
    options: [
      ['--series <name>', 'list the items of this series'],
      ['--search <text>', 'list items whose title or id contains the text'],
    ],
    method: listTrackedItems,
    columns: itemColumns,
    none: 'No tracked items. Submit a job with --track true.',
  });
  addList(item, {
    usage: 'history <market> <region> <key>',
    about: 'Show how an item changed, the latest observation first',
    options: [
      ['--fields <names>', 'only these values, separated by commas: price,stock'],
      ['--store <host>', 'the store of the item, if several have one with this id'],
    ],
    method: getHistory,
    columns: observationColumns,
    none: 'No observations.',
    request: ({ fields }) => ({ fields: fields === undefined ? [] : fields.split(',') }),
  });
  addFeedCommand(item);
}

interface FeedOptions {
  after?: string;
  type?: string;
  market?: string;
  series?: string;
  limit?: string;
}

function addFeedCommand(item: Command): void {
  addCommand<FeedOptions>(item, {
    usage: 'changes',
    about: 'Show the changes of all tracked jobs, the oldest first',
    options: [
      ['--after <cursor>', 'only changes that follow this cursor'],
      ['--type <type>', 'only new, changed, missing, or back'],
      ['--market <market>', 'only jobs of this marketplace'],
      ['--series <name>', 'only jobs of this series'],
      limitOption,
    ],
    async run(session, { after = '', limit, ...filter }) {
      const max = integer('--limit', limit, 50);
      const changes: ItemChange[] = [];
      let cursor = after;
      for (let hasMore = true; hasMore && changes.length < max; ) {
        const left = Math.min(max - changes.length, maxFeedPage);
        const request = { ...filter, after: cursor, limit: left };
        const page = await session.client.call(readChangeFeed, request);
        changes.push(...page.changes);
        cursor = page.nextCursor;
        hasMore = page.hasMore;
      }
      await session.list(ItemChangeSchema, changes, changeColumns, 'No changes.');
      if (!session.isJson) session.note(`Next changes: --after ${cursor}`);
    },
  });
}

interface ChangesOptions {
  type?: string;
  format?: string;
  output?: string;
  limit?: string;
}

export function addChangesCommand(job: Command): void {
  addCommand<ChangesOptions>(job, {
    usage: 'changes <job>',
    about: 'Show what changed since the run before a tracked job',
    options: [
      ['--type <type>', 'only new, changed, missing, or back'],
      ['--format <format>', 'write all changes as jsonl, json, csv, csv-bom, or parquet'],
      outputOption,
      limitOption,
    ],
    async run(session, { type = '', format, output, limit }, reference: string) {
      const { client } = session;
      const jobId = await findJobId(session, reference);
      if (format !== undefined || output !== undefined) {
        if (type !== '')
          throw new UsageError('--type cannot be combined with --format and --output');
        const stream = await client.stream(streamChanges, { jobId, format: format ?? '' });
        return writeStream(session, stream, output);
      }
      const max = integer('--limit', limit, 50);
      const rows = (page: ListChangesResponse) => page.changes;
      const changes = await readPages(session, listChanges, { jobId, type }, rows, max);
      const summary = await client.call(listChanges, { jobId, pageSize: 1 });
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
  if (status === 'skipped')
    return 'The records of the job could not be read: its changes are incomplete.';
  const { new: fresh = 0, changed = 0, missing = 0, back = 0, unchanged = 0 } = counts ?? {};
  const parts = [`${fresh} new`, `${changed} changed`, `${missing} missing`, `${back} back`];
  const where = series === '' ? '' : ` in ${series}`;
  const rest = status === 'done' ? '' : ' The comparison continues.';
  const total = fresh + changed + missing + back + unchanged;
  return `${counted(total, 'item')}${where}: ${parts.join(', ')}, ${unchanged} unchanged.${rest}`;
}

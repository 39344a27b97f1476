import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  ListFieldsResponseSchema,
  ListRecordsRequest,
  ListRecordsResponseSchema,
  RecordEntrySchema,
  RecordItemSchema,
} from '../../gen/gleaner/job/v1/job_pb.ts';
import { Fault } from '../contract/fault.ts';
import { problemText } from '../contract/problem-texts.ts';
import type { Column } from '../formats/columns.ts';
import { type ExactObject, formatExact } from '../formats/json-text.ts';
import { pickColumns } from '../formats/pick.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import { type OnlyFilter, requireCompared } from '../jobs/queries/changed.ts';
import {
  createExplorer,
  type EntryQuery,
  type ExplorerContext,
  type ItemValues,
  type RowQuery,
} from '../jobs/queries/explore.ts';
import { type Entry, rowColumnsOf } from '../jobs/queries/rows.ts';
import type { Job } from '../store/documents.ts';
import { defaultPageSize } from './handlers.ts';

/** Dependencies of this module. */
export type RecordReadsContext = ExplorerContext & Pick<JobContext, 'links'> & StoreUse<'getTrackingRun'>;

/** Queries of a job's records. */
export interface RecordReads {
  listRecords(
    request: ListRecordsRequest,
    job: Job,
  ): Promise<MessageInitShape<typeof ListRecordsResponseSchema>>;
  listFields(job: Job): Promise<MessageInitShape<typeof ListFieldsResponseSchema>>;
  /** Returns the rows of a selection. Faults of requireCompared() before the first row. */
  rows(job: Job, query: RowQuery): Promise<AsyncIterable<ExactObject>>;
}

/** Creates the queries. */
export function recordReads(context: RecordReadsContext): RecordReads {
  const explorer = createExplorer(context);
  return {
    async listRecords(request, job) {
      const {
        filter,
        search,
        sort,
        status,
        column,
        pageSize,
        pageToken,
        unitIndex: unit,
        position,
      } = request;
      const only = request.only as OnlyFilter;
      if (only !== '') await requireCompared(context, job);
      const columns =
        column.length === 0 ? null : requireColumns(column, rowColumnsOf(context.offers.of(job)));
      const { items, next, total } = await explorer.list(job, {
        ...{ filter, search, sort, only, status: status as EntryQuery['status'] },
        ...{ limit: pageSize || defaultPageSize, after: pageToken, unit, position },
      });
      return {
        records: items.map((entry) =>
          entryShape(
            entry,
            columns,
            entry.row === null ? null : itemShape(explorer.itemOf(job, entry.row), context.links),
          ),
        ),
        nextPageToken: next ?? '',
        ...(total === null ? {} : { total }),
      };
    },
    async listFields(job) {
      const { fields, records } = await explorer.fields(job);
      return { records, fields: fields.map(({ column: { name, type }, fill }) => ({ name, type, fill })) };
    },
    async rows(job, query) {
      if (query.only) await requireCompared(context, job);
      return explorer.rows(job, query);
    },
  };
}

function requireColumns(names: readonly string[], known: readonly Column[]): Column[] {
  return names.map((name, index) => {
    const column = known.find((each) => each.name === name);
    if (column !== undefined) return column;
    const { msg, type } = problemText.notOneOf(
      known.map((each) => each.name),
      name,
    );
    throw Fault.invalid(['body', 'column', index], msg, type);
  });
}

const placeMembers = new Set(['unit_index', 'unit_key', 'unit_region', 'unit_list', 'unit_position']);

function entryShape(
  { unit, position, row }: Entry,
  columns: readonly Column[] | null,
  item: MessageInitShape<typeof RecordItemSchema> | null,
): MessageInitShape<typeof RecordEntrySchema> {
  const { index, region, outcome, status } = unit;
  const place = { unitIndex: index, unitKey: unit.unit.key, unitRegion: region, position, status };
  if (row === null || item === null)
    return outcome?.status === 'FAILED' ? { ...place, code: outcome.code, message: outcome.message } : place;
  const record = Object.fromEntries(Object.entries(row).filter(([name]) => !placeMembers.has(name)));
  return {
    ...place,
    item,
    record: formatExact(columns === null ? record : pickColumns(row, columns)),
  };
}

function itemShape(
  { title, price, currency, stock, sold, rating, url, image }: ItemValues,
  links: JobContext['links'],
) {
  const imagePath = image === null ? null : links.image(image);
  return {
    ...(title == null ? {} : { title }),
    ...(price == null ? {} : { price }),
    ...(currency == null ? {} : { currency }),
    ...(stock == null ? {} : { stock: BigInt(stock) }),
    ...(sold == null ? {} : { sold: BigInt(sold) }),
    ...(rating == null ? {} : { rating }),
    ...(url === null ? {} : { url }),
    ...(imagePath === null ? {} : { imagePath }),
  };
}

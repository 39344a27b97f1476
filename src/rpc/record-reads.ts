import type { Message, MessageInitShape } from '@bufbuild/protobuf';
import type {
  ExportRecordsRequest,
  ListFieldsResponseSchema,
  ListRecordsRequest,
  ListRecordsResponseSchema,
  RecordEntrySchema,
  RecordItemSchema,
} from '../../gen/gleaner/job/v1/job_pb.ts';
import { Fault } from '../contract/fault.ts';
import { problemText } from '../contract/problem-texts.ts';
import { dispositionHeader, type ResponseHeaders } from '../contract/response-headers.ts';
import type { Column } from '../formats/columns.ts';
import { createFormat, type FormatName, formatInfo } from '../formats/format.ts';
import { formatExact } from '../formats/json-text.ts';
import { pickColumns } from '../formats/pick.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import { type OnlyFilter, requireCompared } from '../jobs/queries/changed.ts';
import { limitConversion } from '../jobs/queries/conversions.ts';
import { requireResults } from '../jobs/queries/deleted-results.ts';
import {
  createExplorer,
  type EntryQuery,
  type ExplorerContext,
  type ItemValues,
} from '../jobs/queries/explore.ts';
import { columnFillsOf, type QualityContext } from '../jobs/queries/quality.ts';
import { type ResultsContext, results } from '../jobs/queries/results.ts';
import { type Entry, exportName, rowColumnsOf } from '../jobs/queries/rows.ts';
import type { Job } from '../store/documents.ts';
import { defaultPageSize } from './handlers.ts';
import { streamText } from './job-stream.ts';

/** Dependencies of this module. */
export type RecordReadsContext = ExplorerContext &
  QualityContext &
  ResultsContext &
  StoreUse<'getTrackingRun'>;

/** Queries of a job's records with the same response for users and operators. */
export interface RecordReads {
  listRecords(
    request: ListRecordsRequest,
    job: Job,
  ): Promise<MessageInitShape<typeof ListRecordsResponseSchema>>;
  listFields(job: Job): Promise<MessageInitShape<typeof ListFieldsResponseSchema>>;
  /** Yields a table of records, and sets the header with its file name. */
  exportRecords(request: ExportRecordsRequest, job: Job, headers: ResponseHeaders): AsyncIterable<Message>;
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
      requireResults(job);
      const { records, columns } = await columnFillsOf(context, job);
      return { records, fields: columns.map(({ column: { name, type }, fill }) => ({ name, type, fill })) };
    },
    async *exportRecords({ format: name, only, ...selection }, job, headers) {
      if (name === '') requireNoSelection(only, selection);
      if (only !== '') await requireCompared(context, job);
      if (name === '') {
        yield* streamText('application/x-ndjson', results(context, job, 'changed'));
        return;
      }
      const format = name as FormatName;
      const rows = explorer.rows(job, { ...selection, only: only as OnlyFilter });
      headers[dispositionHeader] = `attachment; filename="${exportName(job, format)}"`;
      yield* streamText(
        formatInfo[format].contentType,
        limitConversion(job, createFormat(format, rowColumnsOf(context.offers.of(job)))(rows)),
      );
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

/** Requires an export without a format to have no other selection than `only`. */
function requireNoSelection(
  only: string,
  { filter, search, sort }: Pick<ExportRecordsRequest, 'filter' | 'search' | 'sort'>,
): void {
  if (only !== '' && filter.length === 0 && search === '' && sort === '') return;
  const { msg, type } = problemText.missing();
  throw Fault.invalid(['body', 'format'], msg, type);
}

import type { Message, MessageInitShape } from '@bufbuild/protobuf';
import {
  type ExportRecordsRequest,
  type ListFieldsResponseSchema,
  type ListRecordsRequest,
  type ListRecordsResponseSchema,
  type RecordEntrySchema,
  RecordItemSchema,
} from '../../../gen/gleaner/job/v1/job_pb.ts';
import { Fault } from '../../contract/fault.ts';
import { problemText } from '../../contract/problem-texts.ts';
import { dispositionHeader, type ResponseHeaders } from '../../contract/response-headers.ts';
import { sandboxPictureUrl } from '../../fetch/sandbox-picture.ts';
import { pickColumns } from '../../formats/cells.ts';
import type { Column } from '../../formats/columns.ts';
import { createFormat, type FormatName, formatInfo } from '../../formats/format.ts';
import { formatExact } from '../../formats/json-text.ts';
import type { JobContext } from '../../jobs/context.ts';
import { createExplorer, type EntryQuery } from '../../jobs/queries/explore.ts';
import { limitConversion } from '../../jobs/queries/files.ts';
import { type OnlyFilter, requireCompared } from '../../jobs/queries/item-changes.ts';
import {
  type ColumnChoice,
  type ItemValues,
  itemValues,
  tableOf,
} from '../../jobs/queries/item-values.ts';
import { results } from '../../jobs/queries/results.ts';
import {
  type Entry,
  exportName,
  hasRecord,
  type RecordEntry,
  requireResults,
  rowColumnsOf,
  rowOf,
} from '../../jobs/queries/rows.ts';
import { columnFillsOf } from '../../jobs/queries/units.ts';
import type { Job } from '../../store/documents.ts';
import { streamText } from './body-stream.ts';
import { pageOf } from './handlers.ts';
import { toMessage } from './to-message.ts';

/** Queries of a job's records with the same response for users and operators. */
export interface RecordReads {
  listRecords(
    request: ListRecordsRequest,
    job: Job,
  ): Promise<MessageInitShape<typeof ListRecordsResponseSchema>>;
  listFields(job: Job): Promise<MessageInitShape<typeof ListFieldsResponseSchema>>;
  /** Yields a table of records, and sets the header with its file name. */
  exportRecords(
    request: ExportRecordsRequest,
    job: Job,
    headers: ResponseHeaders,
  ): AsyncIterable<Message>;
}

export function recordReads(context: JobContext): RecordReads {
  const explorer = createExplorer(context);
  return {
    async listRecords(request, job) {
      const { filter, search, sort, status, column, unitIndex: unit, position } = request;
      const only = request.only as OnlyFilter;
      if (only !== '') await requireCompared(context, job);
      const columns =
        column.length === 0 ? null : requireColumns(column, rowColumnsOf(context.jobTypes.of(job)));
      const { items, next, total } = await explorer.list(job, {
        filter,
        search,
        sort,
        only,
        status: status as EntryQuery['status'],
        ...pageOf(request),
        unit,
        position,
      });
      return {
        records: items.map((entry) =>
          toLedgerEntryMessage(
            entry,
            columns,
            hasRecord(entry) ? toItemMessage(context, job, entry) : null,
          ),
        ),
        nextPageToken: next ?? '',
        ...(total === null ? {} : { total }),
      };
    },
    async listFields(job) {
      requireResults(job);
      const { records, columns } = await columnFillsOf(context, job);
      return {
        records,
        fields: columns.map(({ column: { name, type }, fill }) => ({ name, type, fill })),
      };
    },
    async *exportRecords(
      { format: name, only, columns: choice, provenance, ...selection },
      job,
      headers,
    ) {
      if (provenance && (name !== '' || only !== ''))
        throw Fault.invalid(['body', 'provenance'], 'not with format or only', 'value_error');
      if (name === '')
        requireNoSelection(only !== '' || provenance !== undefined, choice, selection);
      if (only !== '') await requireCompared(context, job);
      if (name === '') {
        const lines = results(context, job, { only: only as OnlyFilter, provenance });
        yield* streamText('application/x-ndjson', lines);
        return;
      }
      const format = name as FormatName;
      const records = explorer.records(job, { ...selection, only: only as OnlyFilter });
      const { columns, rows } = tableOf(context, job, records, choice as ColumnChoice);
      headers[dispositionHeader] = `attachment; filename="${exportName(job, format)}"`;
      const bytes = limitConversion(job, createFormat(format, columns)(rows));
      yield* streamText(formatInfo[format].contentType, bytes);
    },
  };
}

function requireColumns(names: readonly string[], columns: readonly Column[]): Column[] {
  return names.map((name, index) => {
    const column = columns.find((each) => each.name === name);
    if (column !== undefined) return column;
    const { msg, type } = problemText.notOneOf(
      columns.map((each) => each.name),
      name,
    );
    throw Fault.invalid(['body', 'column', index], msg, type);
  });
}

function toLedgerEntryMessage(
  entry: Entry,
  columns: readonly Column[] | null,
  item: MessageInitShape<typeof RecordItemSchema> | null,
): MessageInitShape<typeof RecordEntrySchema> {
  const { unit, position } = entry;
  const { index, region, outcome, status } = unit;
  const unitFields = {
    unitIndex: index,
    unitKey: unit.unit.key,
    unitRegion: region,
    position,
    status,
  };
  if (!hasRecord(entry) || item === null)
    return outcome?.status === 'FAILED'
      ? { ...unitFields, code: outcome.code, message: outcome.message }
      : unitFields;
  return {
    ...unitFields,
    item,
    record: formatExact(columns === null ? entry.record : pickColumns(rowOf(entry), columns)),
  };
}

const itemOf = toMessage(RecordItemSchema);

function toItemMessage(context: JobContext, job: Job, entry: RecordEntry) {
  const values = itemValues(context, job, entry, 'small');
  const image = job.mode === 'test' ? sandboxPicture(job, entry, values) : values.image;
  const imagePath = image === null ? null : context.links.image(image);
  return itemOf({ ...values, id: values.key, imagePath });
}

/**
 * Returns the address of the placeholder picture of an item: the pictures in pages of the sandbox
 * do not exist.
 */
const sandboxPicture = (
  { market }: Job,
  { unit, position }: RecordEntry,
  { key, title }: ItemValues,
) => sandboxPictureUrl(market, key ?? title ?? `${unit.unit.key} ${position}`);

/** Requires an export without a format to be one of lines, without any other selection. */
function requireNoSelection(
  isLines: boolean,
  columns: string,
  { filter, search, sort }: Pick<ExportRecordsRequest, 'filter' | 'search' | 'sort'>,
): void {
  const isPlain = columns === '' && filter.length === 0 && search === '' && sort === '';
  if (isLines && isPlain) return;
  const { msg, type } = problemText.missing();
  throw Fault.invalid(['body', 'format'], msg, type);
}

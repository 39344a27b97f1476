import { Badge, Code, Group, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import type { RecordEntry } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { formatPrice, formatRating } from '../../../../src/present/item.ts';
import { isNotRun } from '../../../../src/present/job.ts';
import { formatCount } from '../../../../src/present/text.ts';
import type { ListColumn } from '../../ui/list/list-content.ts';
import { safeUrl } from '../../ui/record/record-parts.ts';
import { basePath } from '../../ui/session/base-path.ts';
import { commonColumns, valueAt, valueText } from './query.ts';
import classes from './records.module.css';

/** Column of the records, with the name that the service sorts by. */
export interface RecordColumn extends ListColumn<RecordEntry> {
  name: string;
}

/** Action that shows an entry's whole record. */
export type OpenRecord = (entry: RecordEntry) => void;

// The service sorts: the table only needs to know that it can.
const sortBy = () => undefined;

/** Id of an entry's item; of a failed unit, and of a record without an id, that of its unit. */
const idOf = ({ item, unitKey }: RecordEntry): string => item?.id || unitKey;

/** Name of an entry: the title of its item, or else its id. */
export const entryTitle = (entry: RecordEntry): string => entry.item?.title || idOf(entry);

/** Reason for which a unit has no record. */
function Failure({ entry: { code, message } }: { entry: RecordEntry }) {
  const notRun = isNotRun(code);
  return (
    <Group gap={6} wrap="nowrap">
      <Badge size="sm" color={notRun ? 'gray' : 'red'}>
        {notRun ? 'Not run' : 'Failed'}
      </Badge>
      <Text size="xs" truncate title={message}>
        <Code>{code}</Code> {message}
      </Text>
    </Group>
  );
}

/**
 * Title of an entry, which opens its record, and a link to its page. Plain elements: a table has
 * hundreds of them.
 */
function Title({ entry, open }: { entry: RecordEntry; open: OpenRecord }) {
  if (entry.status === 'FAILED') return <Failure entry={entry} />;
  const url = safeUrl(entry.item?.url);
  const title = entryTitle(entry);
  return (
    <span className={classes.title}>
      <button
        type="button"
        onClick={() => open(entry)}
        aria-label={`Show record of ${title}`}
        title={title}
      >
        {title}
      </button>
      {url && (
        <a
          href={url}
          target="_blank"
          rel="noopener noreferrer"
          aria-label={`Open the page of ${title}`}
        >
          <IconExternalLink size={14} aria-hidden />
        </a>
      )}
    </span>
  );
}

interface PictureProps {
  entry: RecordEntry;
  size: number;
  /** Called with whether the picture could be loaded. */
  onEnd?: ((isLoaded: boolean) => void) | undefined;
}

/** Picture of an entry. It keeps its place if it cannot be loaded, so that nothing moves. */
function Picture({ entry: { item }, size, onEnd }: PictureProps) {
  const path = item?.imagePath;
  if (!path) return null;
  return (
    <img
      src={basePath + path}
      alt=""
      width={size}
      height={size}
      loading="lazy"
      style={{ objectFit: 'contain', display: 'block' }}
      onLoad={() => onEnd?.(true)}
      onError={({ currentTarget }) => {
        currentTarget.style.visibility = 'hidden';
        onEnd?.(false);
      }}
    />
  );
}

function priceOf({ item }: RecordEntry) {
  if (item?.price === undefined) return '';
  return formatPrice(item.price, item.currency);
}

/** Row of an entry on a narrow screen: its title, and its price beside its id. */
export function RecordBrief({ entry, open }: { entry: RecordEntry; open: OpenRecord }) {
  return (
    <div className={classes.brief}>
      <Title entry={entry} open={open} />
      <div>
        <small>{idOf(entry)}</small>
        <b>{priceOf(entry)}</b>
      </div>
    </div>
  );
}

/** Card of an entry: its picture, title, and common values. */
export function RecordCard({ entry, open }: { entry: RecordEntry; open: OpenRecord }) {
  const facts = ['item.stock', 'item.sold', 'item.rating']
    .map((name) => [commonColumns[name], textOf(name, entry)])
    .filter(([, text]) => text !== '');
  return (
    <div className={classes.card}>
      <Picture entry={entry} size={120} />
      <Title entry={entry} open={open} />
      {entry.status === 'FAILED' && <small>{idOf(entry)}</small>}
      <b>{priceOf(entry)}</b>
      <small>{facts.map(([title, text]) => `${title} ${text}`).join(' · ')}</small>
    </div>
  );
}

/** Returns the text of a common column. */
function textOf(name: string, entry: RecordEntry): string {
  const { item, unitKey, unitRegion } = entry;
  const count = (value: bigint | undefined) => (value === undefined ? '' : formatCount(value));
  switch (name) {
    case 'item.id':
      return idOf(entry);
    case 'unit_key':
      return unitKey;
    case 'unit_region':
      return unitRegion;
    case 'item.price':
      return priceOf(entry);
    case 'item.stock':
      return count(item?.stock);
    case 'item.sold':
      return count(item?.sold);
    default:
      return item?.rating === undefined ? '' : formatRating(item.rating);
  }
}

const isNested = (value: unknown) => typeof value === 'object' && value !== null;

/** Columns that every table has, even if no record has a value. */
const permanent: ReadonlySet<string> = new Set(['item.title', 'item.id', 'item.price']);

/** Returns whether a common column tells the rows apart. */
function hasValues(name: string, entries: readonly RecordEntry[]): boolean {
  switch (name) {
    case 'unit_key':
      // The unit of a listing is a shop or a search; the unit of a product is the product itself.
      return (
        entries.some((entry) => entry.position > 0) &&
        new Set(entries.map(({ unitKey }) => unitKey)).size > 1
      );
    case 'unit_region':
      return new Set(entries.map(({ unitRegion }) => unitRegion)).size > 1;
    default:
      return entries.some((entry) => textOf(name, entry) !== '');
  }
}

interface ColumnOptions {
  /** Rows of the table, by which columns without any value are left out. */
  entries: readonly RecordEntry[];
  /** Fields shown in addition to the common columns. */
  fields: readonly string[];
  /** Column that the records are sorted by; '' for none. */
  sorted: string;
  open: OpenRecord;
  /** Called with whether a picture could be loaded; absent if no column shows pictures. */
  onPicture: ((isLoaded: boolean) => void) | undefined;
}

/**
 * Returns the columns of the table: the common ones, then the chosen fields. Each takes one line.
 */
export function recordColumns({
  entries,
  fields,
  sorted,
  open,
  onPicture,
}: ColumnOptions): RecordColumn[] {
  const isShown = (name: string) =>
    permanent.has(name) || name === sorted || hasValues(name, entries);
  const common = Object.entries(commonColumns)
    .filter(([name]) => isShown(name))
    .map(([name, title]): RecordColumn => {
      if (name === 'item.title')
        return {
          name,
          title,
          sortBy,
          maxWidth: 400,
          cell: (entry) => <Title entry={entry} open={open} />,
        };
      const isText = name.startsWith('unit_') || name === 'item.id';
      return {
        name,
        title,
        sortBy,
        maxWidth: 240,
        cell: (entry) => textOf(name, entry),
        ...(isText ? {} : { align: 'right' }),
      };
    });
  const picture: RecordColumn = {
    name: '',
    title: 'Picture',
    cell: (entry) => <Picture entry={entry} size={24} onEnd={onPicture} />,
  };
  const hasPictures =
    onPicture !== undefined && entries.some(({ item }) => Boolean(item?.imagePath));
  return [
    ...(hasPictures ? [picture] : []),
    ...common,
    ...fields.map(
      (name): RecordColumn => ({
        name,
        title: name,
        maxWidth: 300,
        cell: ({ record }) => valueText(record, name),
        // The service has no order of lists and objects.
        ...(entries.some(({ record }) => isNested(valueAt(record, name))) ? {} : { sortBy }),
      }),
    ),
  ];
}

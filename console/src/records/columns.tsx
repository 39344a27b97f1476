import { Anchor, Badge, Code, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import type { RecordEntry } from '../../../gen/gleaner/job/v1/job_pb.ts';
import type { Column } from '../list/list-content.ts';
import { formatCount } from '../number/format.ts';
import { formatPrice, valueText } from './query.ts';

/** Column of the records, with the name that the service sorts by. */
export interface RecordColumn extends Column<RecordEntry> {
  name: string;
}

// The service sorts: the table only needs to know that it can.
const sortBy = () => undefined;

const safeUrl = (url: string | undefined) => (url && /^https?:\/\//i.test(url) ? url : undefined);

/** Name of an entry: the title of its item, else its unit. */
export const entryTitle = ({ item, unitKey }: RecordEntry): string => item?.title || unitKey;

function Title({ entry, open }: { entry: RecordEntry; open: (entry: RecordEntry) => void }) {
  const { status, unitKey, code, message, item } = entry;
  if (status === 'FAILED') {
    return (
      <Stack gap={2}>
        <Group gap="xs" wrap="nowrap">
          <Badge color="red" variant="light" style={{ flexShrink: 0 }}>
            Failed
          </Badge>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {unitKey}
          </Text>
        </Group>
        <Text size="xs">
          <Code>{code}</Code> {message}
        </Text>
      </Stack>
    );
  }
  const url = safeUrl(item?.url);
  const title = entryTitle(entry);
  return (
    <Stack gap={2} align="flex-start">
      {url ? (
        <Anchor
          href={url}
          target="_blank"
          rel="noopener noreferrer"
          size="sm"
          style={{ overflowWrap: 'anywhere' }}
        >
          {title}
        </Anchor>
      ) : (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Text>
      )}
      <UnstyledButton
        fz="xs"
        c="var(--mantine-color-anchor)"
        onClick={() => open(entry)}
        aria-label={`Show record of ${title}`}
      >
        Show record
      </UnstyledButton>
    </Stack>
  );
}

function Picture({ entry: { item } }: { entry: RecordEntry }) {
  const path = item?.imagePath;
  if (!path) return null;
  return <img src={path} alt="" width={48} height={48} loading="lazy" style={{ objectFit: 'contain' }} />;
}

const count = (value: bigint | undefined) => (value === undefined ? '' : formatCount(value));

/** Returns the columns of the table: the common ones, then the chosen fields. */
export function recordColumns(
  fields: readonly string[],
  { pictures, open }: { pictures: boolean; open: (entry: RecordEntry) => void },
): RecordColumn[] {
  return [
    ...(pictures
      ? [{ name: '', title: 'Picture', cell: (entry: RecordEntry) => <Picture entry={entry} /> }]
      : []),
    { name: 'item.title', title: 'Title', sortBy, cell: (entry) => <Title entry={entry} open={open} /> },
    {
      name: 'item.price',
      title: 'Price',
      align: 'right',
      sortBy,
      cell: ({ item }) => (item?.price === undefined ? '' : formatPrice(item.price, item.currency ?? '')),
    },
    { name: 'item.stock', title: 'Stock', align: 'right', sortBy, cell: ({ item }) => count(item?.stock) },
    { name: 'item.sold', title: 'Sold', align: 'right', sortBy, cell: ({ item }) => count(item?.sold) },
    {
      name: 'item.rating',
      title: 'Rating',
      align: 'right',
      sortBy,
      cell: ({ item }) => item?.rating?.toFixed(1) ?? '',
    },
    ...fields.map((name) => ({
      name,
      title: name,
      cell: ({ record }: RecordEntry) => (
        <Text size="sm" lineClamp={3} style={{ overflowWrap: 'anywhere' }}>
          {valueText(record === undefined ? null : JSON.parse(record), name)}
        </Text>
      ),
    })),
  ];
}

import { Anchor, Group, Stack, Table, Tabs, Text, Title, Tooltip } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { useMemo } from 'react';
import type { RecordItem } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { formatPrice, formatRating } from '../../../../src/present/item.ts';
import { formatCount } from '../../../../src/present/text.ts';
import { CodeBlock } from '../CodeBlock.tsx';
import { Fact } from '../layout/Section.tsx';
import { basePath } from '../session/base-path.ts';
import {
  availabilityOf,
  type ObjectTable,
  partsOf,
  type RecordGroup,
  safeUrl,
  sellerOf,
} from './record-parts.ts';

/** Values of an item under common names. */
export type ShownItem = Partial<
  Pick<
    RecordItem,
    'title' | 'price' | 'currency' | 'stock' | 'sold' | 'rating' | 'url' | 'imagePath'
  >
>;

/** Meanings of fields: their types and fill rates, by path. */
export type FieldMeanings = ReadonlyMap<string, string>;

interface RecordDetailsProps {
  item: ShownItem;
  record: unknown;
  /** Meanings of the fields; absent if they are not known. */
  meanings?: FieldMeanings;
}

/** A record: its picture and common values, then its fields by group, or its JSON. */
export function RecordDetails({ item, record, meanings = new Map() }: RecordDetailsProps) {
  const { groups, tables } = useMemo(() => partsOf(record), [record]);
  return (
    <Stack gap="md">
      <Header item={item} availability={availabilityOf(record)} seller={sellerOf(record)} />
      <Tabs defaultValue="fields" keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="fields">Fields</Tabs.Tab>
          <Tabs.Tab value="json">JSON</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="fields">
          <Stack gap="lg">
            {tables.filter(({ name }) => /variant|model|sku/i.test(name)).map(tableSection)}
            {groups.map((group) => (
              <GroupSection key={group.name} group={group} meanings={meanings} />
            ))}
            {tables.filter(({ name }) => !/variant|model|sku/i.test(name)).map(tableSection)}
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="json">
          <CodeBlock label="Record as JSON" text={JSON.stringify(record, null, 2)} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}

const tableSection = (table: ObjectTable) => <ListSection key={table.name} table={table} />;

interface HeaderProps {
  item: ShownItem;
  availability: string;
  seller: string;
}

/** Picture, title, and common values of an item. */
function Header({ item, availability, seller }: HeaderProps) {
  const url = safeUrl(item.url);
  const facts: [name: string, text: string][] = [
    ['Price', item.price === undefined ? '' : formatPrice(item.price, item.currency)],
    ['Stock', item.stock === undefined ? availability : formatCount(item.stock)],
    ['Sold', item.sold === undefined ? '' : formatCount(item.sold)],
    ['Rating', item.rating === undefined ? '' : formatRating(item.rating)],
    ['Seller', seller],
  ];
  return (
    <Group align="flex-start" wrap="nowrap" role="group" aria-label="Item">
      {item.imagePath && (
        <img
          src={basePath + item.imagePath}
          alt=""
          width={112}
          height={112}
          style={{ objectFit: 'contain', flexShrink: 0 }}
          onError={({ currentTarget }) => {
            currentTarget.hidden = true;
          }}
        />
      )}
      <Stack gap="xs">
        {item.title && <Text fw={600}>{item.title}</Text>}
        <Group gap="lg">
          {facts
            .filter(([, text]) => text !== '')
            .map(([name, text]) => (
              <Fact key={name} name={name}>
                {text}
              </Fact>
            ))}
        </Group>
        {url && (
          <Anchor href={url} target="_blank" rel="noopener noreferrer" size="sm">
            Open the page <IconExternalLink size={13} aria-hidden />
          </Anchor>
        )}
      </Stack>
    </Group>
  );
}

const cellStyle = { overflowWrap: 'anywhere' } as const;

/** Values below one name, each with its meaning as the tooltip of its name. */
function GroupSection({
  group: { name, values },
  meanings,
}: {
  group: RecordGroup;
  meanings: FieldMeanings;
}) {
  return (
    <section>
      {name !== '' && <SectionTitle name={name} />}
      <Table verticalSpacing={3} aria-label={name === '' ? 'Fields' : name}>
        <Table.Tbody>
          {values.map((value) => (
            <Table.Tr key={value.name}>
              <Table.Th w="38%" fw={400} style={cellStyle}>
                <FieldName
                  path={name === '' ? value.name : `${name}.${value.name}`}
                  meanings={meanings}
                >
                  {value.name}
                </FieldName>
              </Table.Th>
              <Table.Td style={cellStyle}>{value.text || <Text c="dimmed">–</Text>}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

interface FieldNameProps {
  path: string;
  meanings: FieldMeanings;
  children: string;
}

function FieldName({ path, meanings, children }: FieldNameProps) {
  const meaning = meanings.get(path);
  if (meaning === undefined) return children;
  return (
    <Tooltip label={meaning} events={{ hover: true, focus: true, touch: true }}>
      <button
        type="button"
        style={{ all: 'unset', textDecoration: 'underline dotted' }}
        className="mantine-focus-auto"
      >
        {children}
      </button>
    </Tooltip>
  );
}

/** A list of the record as a table. */
function ListSection({ table: { name, columns, rows, total } }: { table: ObjectTable }) {
  return (
    <section>
      <SectionTitle name={name} />
      <Table.ScrollContainer
        minWidth={columns.length * 90}
        type="native"
        tabIndex={0}
        role="region"
        aria-label={name}
      >
        <Table verticalSpacing={3} striped tabularNums fz="xs">
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Table.Th key={column}>{column}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: The rows of a record never change.
              <Table.Tr key={at}>
                {row.map((text, column) => (
                  <Table.Td key={columns[column]} style={{ ...cellStyle, maxWidth: 260 }}>
                    {text}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {total > rows.length && (
        <Text size="xs" c="dimmed">
          The first {rows.length} of {formatCount(total)}; the JSON has all.
        </Text>
      )}
    </section>
  );
}

const SectionTitle = ({ name }: { name: string }) => (
  <Title order={3} size="h5" mb={4}>
    {name}
  </Title>
);

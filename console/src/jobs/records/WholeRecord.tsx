import { createClient } from '@connectrpc/connect';
import { useQuery } from '@connectrpc/connect-query';
import { Anchor, Button, Group, List, Skeleton, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useQuery as useCall } from '@tanstack/react-query';
import { useMemo } from 'react';
import { HistoryService } from '../../../../gen/gleaner/history/v1/history_pb.ts';
import { type Job, JobService, type RecordEntry } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { seriesOf } from '../../../../src/contract/track.ts';
import { formatPrice } from '../../../../src/present/item.ts';
import { counted, formatPercentage } from '../../../../src/present/text.ts';
import { formatLocalTime } from '../../../../src/present/time.ts';
import { ErrorAlert } from '../../ui/errors/ErrorAlert.tsx';
import { itemPath } from '../../ui/ItemName.tsx';
import { RecordDetails } from '../../ui/record/RecordDetails.tsx';
import { safeUrl } from '../../ui/record/record-parts.ts';
import { saveBlob } from '../../ui/session/download.ts';
import { useSession } from '../../ui/session/session.ts';
import { transport } from '../../ui/session/transport.ts';
import { TextLink } from '../../ui/TextLink.tsx';
import { recordQueryOptions } from './record-queries.ts';

interface WholeRecordProps {
  job: Job;
  unitIndex: number;
  position: number;
}

/** A whole record, with a download, its history, and the pages that it was read from. */
export function WholeRecord({ job, unitIndex, position }: WholeRecordProps) {
  const { jobId } = job;
  const { role } = useSession();
  const { data, error, isPending, refetch } = useQuery(
    JobService.method.listRecords,
    { jobId, unitIndex, position },
    recordQueryOptions(role, false),
  );
  const entry = data?.records[0];
  const text = entry?.record;
  const record: unknown = useMemo(() => (text === undefined ? null : JSON.parse(text)), [text]);
  const meanings = useMeanings(jobId);
  if (isPending) return <Skeleton height={240} role="status" aria-label="Loading record" />;
  if (error) return <ErrorAlert error={error} retry={refetch} />;
  if (entry === undefined || text === undefined) return 'This record does not exist any more.';
  const save = () => {
    const json = `${JSON.stringify(record, null, 2)}\n`;
    saveBlob(new Blob([json], { type: 'application/json' }), `${jobId}.json`);
  };
  return (
    <Stack>
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          onClick={save}
        >
          Download record
        </Button>
        {role === 'user' && seriesOf(job.options?.track) !== null && (
          <HistoryLine job={job} entry={entry} />
        )}
      </Group>
      <RecordDetails item={entry.item ?? {}} record={record} meanings={meanings} />
      {job.keptPages?.deleteAt && role === 'user' && <Origin jobId={jobId} unitIndex={unitIndex} />}
    </Stack>
  );
}

/** Returns the types of the fields of a job's records, and how many records have a value. */
function useMeanings(jobId: string): ReadonlyMap<string, string> {
  const { data } = useQuery(JobService.method.getQuality, { jobId });
  return useMemo(() => {
    const fields = data?.fields ?? [];
    return new Map(
      fields.map(({ name, type, percent }) => {
        const words = type.endsWith('?') ? `${type.slice(0, -1)} or null` : type;
        return [name, `${words}; filled in ${formatPercentage(percent)} of the records`];
      }),
    );
  }, [data]);
}

/** Shows how the price of a tracked item changed, with a link to its history. */
function HistoryLine({ job, entry }: { job: Job; entry: RecordEntry }) {
  const item = {
    market: job.market,
    region: entry.unitRegion || job.region || '-',
    key: entry.item?.id || entry.unitKey,
  };
  const { data } = useQuery(
    HistoryService.method.getHistory,
    { ...item, pageSize: 100 },
    { retry: false },
  );
  if (!data) return null;
  const prices = data.observations.flatMap(({ values }) =>
    values?.price === undefined ? [] : [values.price],
  );
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  const currency = data.item?.values?.currency;
  const range =
    low === high
      ? formatPrice(low, currency)
      : `${formatPrice(low, currency)} to ${formatPrice(high, currency)}`;
  return (
    <Text size="sm">
      <TextLink to={itemPath(item)} underline="always">
        {counted(data.observations.length, 'observation')}
      </TextLink>
      {prices.length > 0 && `, price ${range}`}
    </Text>
  );
}

/** A page of a result, as the export names it. */
interface SourcePage {
  url: string;
  fetched_at: string;
  status: number;
}

/** Pages that a record was read from. */
function Origin({ jobId, unitIndex }: { jobId: string; unitIndex: number }) {
  const { data } = useCall({
    queryKey: ['provenance', jobId, unitIndex],
    queryFn: () => readProvenance(jobId, unitIndex),
    staleTime: 'static',
    retry: false,
  });
  if (!data || data.pages.length === 0) return null;
  return (
    <section>
      <Text size="sm" fw={600}>
        Read from{data.reader === undefined ? '' : ` by ${data.reader}`}
      </Text>
      <List size="sm">
        {data.pages.map(({ url, fetched_at: fetchedAt, status }) => (
          <List.Item key={`${url} ${fetchedAt}`} style={{ overflowWrap: 'anywhere' }}>
            <Anchor href={safeUrl(url)} target="_blank" rel="noopener noreferrer" size="sm">
              {url}
            </Anchor>{' '}
            (status {status}, {formatLocalTime(new Date(fetchedAt))})
          </List.Item>
        ))}
      </List>
    </section>
  );
}

async function readProvenance(jobId: string, unitIndex: number) {
  const request = { jobId, provenance: true, filter: [`unit_index=${unitIndex}`] };
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const { data } of createClient(JobService, transport).exportRecords(request))
    chunks.push(new Uint8Array(data));
  const [line = '{}'] = (await new Blob(chunks).text()).split('\n');
  const { provenance } = JSON.parse(line) as {
    provenance?: { reader?: string; pages: SourcePage[] };
  };
  return provenance ?? { pages: [] };
}

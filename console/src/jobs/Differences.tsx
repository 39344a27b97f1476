import { useQuery } from '@connectrpc/connect-query';
import { Stack, Text } from '@mantine/core';
import { type FieldDifference, type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { formatCount } from '../../../src/present/text.ts';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';

const columns: ListColumn<FieldDifference>[] = [
  { title: 'Field', cell: ({ name }) => name },
  { title: 'Gained', align: 'right', cell: ({ gained }) => formatCount(gained) },
  { title: 'Changed', align: 'right', cell: ({ changed }) => formatCount(changed) },
  { title: 'Lost', align: 'right', cell: ({ lost }) => formatCount(lost) },
];

/** Differences between the records of an ended reread and the first job's. */
export function Differences({ job: { jobId } }: { job: Job }) {
  const query = useQuery(JobService.method.listDifferences, { jobId });
  const { gained = 0, changed = 0, lost = 0, equal = 0, fields = [] } = query.data ?? {};
  const counts = Object.entries({
    gained,
    changed,
    lost,
    equal,
  });
  return (
    <Stack gap="xs">
      {query.data && (
        <Text size="sm">
          Records: {counts.map(([name, records]) => `${formatCount(records)} ${name}`).join(', ')}
        </Text>
      )}
      <ListTable
        label="Fields with differences"
        rows={fields}
        keyOf={({ name }) => name}
        query={query}
        columns={columns}
        empty={{
          title: 'No field differs',
          description: 'Records of both jobs have the same values.',
        }}
      />
    </Stack>
  );
}

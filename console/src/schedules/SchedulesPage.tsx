import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Button } from '@mantine/core';
import { Link } from 'react-router';
import { ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { pollMs } from '../app/queries.ts';
import { Page } from '../layout/Page.tsx';
import { ListTable } from '../list/ListTable.tsx';
import { scheduleColumns } from './columns.tsx';

/** The caller's schedules. */
export function SchedulesPage() {
  const query = useInfiniteQuery(
    ScheduleService.method.listSchedules,
    { pageSize: 50, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: pollMs.list,
    },
  );
  return (
    <Page title="Schedules" description="Jobs that are submitted again and again.">
      <ListTable
        label="Schedules"
        rows={query.data?.pages.flatMap(({ schedules }) => schedules) ?? []}
        keyOf={({ scheduleId }) => scheduleId}
        query={query}
        columns={scheduleColumns}
        minWidth={820}
        empty={{
          title: 'No schedules yet',
          description: 'Fill in a job, and choose Schedule instead of Submit.',
          action: (
            <Button component={Link} to="/submit" variant="default">
              Choose a job type
            </Button>
          ),
        }}
      />
    </Page>
  );
}

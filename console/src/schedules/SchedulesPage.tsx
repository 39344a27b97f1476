import { Button } from '@mantine/core';
import { Link } from 'react-router';
import { ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { Page } from '../ui/layout/Page.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import { useList } from '../ui/list/useList.ts';
import { scheduleColumns } from '../ui/schedules/columns.tsx';

/** The caller's schedules. */
export function SchedulesPage() {
  const { query, rows } = useList(
    ScheduleService.method.listSchedules,
    {},
    (page) => page.schedules,
  );
  return (
    <Page
      title="Schedules"
      description="Jobs that are submitted again and again."
      actions={
        <Button component={Link} to="/submit">
          Create schedule
        </Button>
      }
    >
      <ListTable
        label="Schedules"
        rows={rows}
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

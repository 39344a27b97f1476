import { useQuery } from '@connectrpc/connect-query';
import { Anchor, Code } from '@mantine/core';
import { Link, useParams } from 'react-router';
import { ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { jobTypeText } from '../../../src/present/names.ts';
import { LoadFailure } from '../ui/errors/LoadFailure.tsx';
import { Loading } from '../ui/layout/Loading.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { pollMs } from '../ui/queries.ts';
import { ScheduleSummary } from './ScheduleSummary.tsx';

/** Characters of a request that are shown. Requests with files have megabytes. */
const maxShown = 20_000;

/** A schedule of a user with its request, for operators. */
export function OperatorSchedulePage() {
  const { scheduleId = '' } = useParams();
  const query = useQuery(
    ScheduleService.method.getSchedule,
    { scheduleId },
    { refetchInterval: pollMs.list },
  );
  if (query.error) {
    const list = ['/approvals', 'All approvals'] as const;
    return <LoadFailure title="Schedule" error={query.error} retry={query.refetch} list={list} />;
  }
  if (!query.data) return <Loading />;
  const schedule = query.data;
  return (
    <Page
      title={schedule.name}
      description={jobTypeText(schedule)}
      actions={
        <Anchor component={Link} to="/approvals" size="sm">
          All approvals
        </Anchor>
      }
    >
      <ScheduleSummary schedule={schedule} />
      <Section title="Request of each run">
        <Code block tabIndex={0} role="region" aria-label="Request" style={{ overflow: 'auto' }}>
          {shownRequest(schedule.request ?? '')}
        </Code>
      </Section>
    </Page>
  );
}

function shownRequest(request: string): string {
  if (request.length > maxShown) return `${request.slice(0, maxShown)}…`;
  return request === '' ? '' : JSON.stringify(JSON.parse(request), null, 2);
}

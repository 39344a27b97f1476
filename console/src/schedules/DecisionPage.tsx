import { useQuery } from '@connectrpc/connect-query';
import { Anchor, Code } from '@mantine/core';
import { Link, useParams } from 'react-router';
import { OperatorScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { pollMs } from '../app/queries.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { Loading } from '../layout/Loading.tsx';
import { Page } from '../layout/Page.tsx';
import { Section } from '../layout/Section.tsx';
import { scheduledJobText } from './columns.tsx';
import { DecisionButtons } from './DecisionButtons.tsx';
import { ScheduleSummary } from './ScheduleSummary.tsx';

/** Characters of a request that are shown. Requests with files have megabytes. */
const maxShown = 20_000;

/** A schedule of a user with its request, for operators to decide on. */
export function DecisionPage() {
  const { scheduleId = '' } = useParams();
  const query = useQuery(
    OperatorScheduleService.method.getSchedule,
    { scheduleId },
    { refetchInterval: pollMs.list },
  );
  if (query.error) return <ErrorAlert error={query.error} retry={query.refetch} />;
  if (!query.data) return <Loading />;
  const schedule = query.data;
  return (
    <Page
      title={schedule.name}
      description={scheduledJobText(schedule)}
      actions={
        <>
          <Anchor component={Link} to="/approvals" size="sm">
            All approvals
          </Anchor>
          {schedule.state === 'awaiting_approval' && <DecisionButtons schedule={schedule} />}
        </>
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

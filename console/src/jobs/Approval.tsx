import { useQuery } from '@connectrpc/connect-query';
import { Alert } from '@mantine/core';
import { IconUserCheck } from '@tabler/icons-react';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { counted, formatCount } from '../../../src/present/text.ts';
import { useSession } from '../ui/session/session.ts';
import { Moment } from '../ui/time/Moment.tsx';

/** Says who decides on a job that awaits approval, until when, and what it costs then. */
export function Approval({ job: { cost, decideBy, scheduleId, userBalance } }: { job: Job }) {
  const isOperator = useSession().role === 'operator';
  const account = useQuery(AccountService.method.getAccount, {}, { enabled: !isOperator });
  const balance = userBalance ?? account.data?.account?.balance;
  return (
    <Alert color="yellow" icon={<IconUserCheck />} title="Awaiting approval">
      {isOperator ? 'You decide on this job.' : 'An operator of this service decides on this job.'}
      {decideBy && (
        <>
          {' '}
          Without a decision it is rejected <Moment at={decideBy} relative />, and nothing is charged.
        </>
      )}{' '}
      An approval charges {counted(cost, 'credit')}
      {balance === undefined ? '' : ` of a balance of ${formatCount(balance)}`}.
      {scheduleId !== '' && ' It covers the later runs of the schedule that cost no more.'}
    </Alert>
  );
}

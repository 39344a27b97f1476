import { useQuery } from '@connectrpc/connect-query';
import { Anchor, Button, Skeleton, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { Link } from 'react-router';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { every } from '../app/queries.ts';
import { FaultAlert } from '../fault/FaultAlert.tsx';
import { JobsTable } from '../jobs/JobsTable.tsx';
import { noFilter, useJobs } from '../jobs/useJobs.ts';
import { Page } from '../layout/Page.tsx';
import { Section } from '../layout/Section.tsx';
import { countText } from '../number/text.ts';

const Usage = lazy(async () => ({ default: (await import('./Usage.tsx')).Usage }));

/** The caller's account: balance, usage and latest jobs. */
export function AccountPage() {
  const { data, error, isPending, refetch } = useQuery(
    AccountService.method.getAccount,
    {},
    { refetchInterval: every.watching },
  );
  const { jobs, query } = useJobs(noFilter, 5);
  const account = data?.account;
  return (
    <Page
      title="Account"
      about={account ? [account.name, account.email].filter(Boolean).join(' · ') : undefined}
      actions={
        <Button component={Link} to="/submit">
          Submit
        </Button>
      }
    >
      <Section
        title="Balance"
        actions={
          <Anchor component={Link} to="/ledger" size="sm">
            Ledger
          </Anchor>
        }
      >
        {isPending && <Skeleton height={32} width={180} />}
        {error && !account && <FaultAlert error={error} retry={refetch} />}
        {account && (
          <Text size="xl" fw={600}>
            {countText(account.balance)} credits
          </Text>
        )}
      </Section>
      <Suspense fallback={<Skeleton height={320} />}>
        <Usage />
      </Suspense>
      <Section
        title="Latest jobs"
        actions={
          <Anchor component={Link} to="/jobs" size="sm">
            All jobs
          </Anchor>
        }
      >
        <JobsTable
          jobs={jobs.slice(0, 5)}
          query={{ ...query, hasNextPage: false }}
          owners={false}
          empty={{ title: 'No jobs yet', about: 'Submit the first one by form or with a CSV file.' }}
        />
      </Section>
    </Page>
  );
}

import { useQuery } from '@connectrpc/connect-query';
import { Anchor, Button, Skeleton, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { Link } from 'react-router';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { pollMs } from '../app/queries.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { JobsTable } from '../jobs/JobsTable.tsx';
import { emptyFilter, useJobs } from '../jobs/useJobs.ts';
import { Page } from '../layout/Page.tsx';
import { Section } from '../layout/Section.tsx';
import { formatCount } from '../number/format.ts';
import { downloadRest } from '../session/download.ts';
import { useDownload } from '../session/useDownload.ts';

const Usage = lazy(async () => ({ default: (await import('./Usage.tsx')).Usage }));

/** Button that downloads everything that is stored of the account. */
function ExportButton() {
  const { download, busy } = useDownload();
  return (
    <Button
      variant="default"
      loading={busy}
      leftSection={<IconDownload size={16} aria-hidden />}
      onClick={() => void download(() => downloadRest('/v1/account/export', 'account.jsonl'))}
    >
      Export data
    </Button>
  );
}

/** Balance, usage and latest jobs of the caller. */
export function AccountPage() {
  const { data, error, isPending, refetch } = useQuery(
    AccountService.method.getAccount,
    {},
    { refetchInterval: pollMs.list },
  );
  const { jobs, query } = useJobs(emptyFilter, 5);
  const account = data?.account;
  return (
    <Page
      title="Account"
      description={account ? [account.name, account.email].filter(Boolean).join(' · ') : undefined}
      actions={
        <>
          <Button component={Link} to="/submit">
            Submit a job
          </Button>
          <ExportButton />
        </>
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
        {error && !account && <ErrorAlert error={error} retry={refetch} />}
        {account && (
          <Text size="xl" fw={600}>
            {formatCount(account.balance)} credits
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
          empty={{ title: 'No jobs yet', description: 'Submit your first job with the form or a CSV file.' }}
        />
      </Section>
    </Page>
  );
}

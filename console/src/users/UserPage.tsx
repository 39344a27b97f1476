import { createClient } from '@connectrpc/connect';
import { useQuery } from '@connectrpc/connect-query';
import { Alert, Anchor, Skeleton, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBan, IconCoins, IconDownload } from '@tabler/icons-react';
import { Link, useParams } from 'react-router';
import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { pollMs } from '../app/queries.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { JobsTable } from '../jobs/JobsTable.tsx';
import { emptyFilter, useJobs } from '../jobs/useJobs.ts';
import { Page } from '../layout/Page.tsx';
import { Section } from '../layout/Section.tsx';
import { UserLedger } from '../ledger/UserLedger.tsx';
import { Identifier } from '../list/Identifier.tsx';
import { formatCount } from '../number/format.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { saveStream } from '../session/download.ts';
import { transport } from '../session/transport.ts';
import { useDownload } from '../session/useDownload.ts';
import { Moment } from '../time/Moment.tsx';
import { CreditsModal } from './CreditsModal.tsx';
import { DeleteUserButton } from './DeleteUserButton.tsx';
import { SuspendButton } from './SuspendButton.tsx';
import { UserKeys } from './UserKeys.tsx';

/** Balance, keys, jobs and ledger of a user. */
export function UserPage() {
  const { userId = '' } = useParams();
  const { data, error, isPending, refetch } = useQuery(
    OperatorService.method.getUser,
    { userId },
    { refetchInterval: pollMs.list },
  );
  if (data?.user) return <Loaded user={data.user} />;
  return (
    <Page title="User">
      {isPending ? (
        <Skeleton height={240} role="status" aria-label="Loading the user" />
      ) : (
        <ErrorAlert error={error} retry={refetch} />
      )}
    </Page>
  );
}

/** Says that a user is deleted or suspended. */
function State({ user }: { user: Account }) {
  if (!user.suspended) return null;
  return (
    <Alert color="red" icon={<IconBan />} title={user.deletedAt ? 'Deleted' : 'Suspended'}>
      {user.deletedAt
        ? 'Only the ledger is kept. Jobs and files are removed within minutes.'
        : "This user's API keys are rejected."}
    </Alert>
  );
}

function Loaded({ user }: { user: Account }) {
  const [opened, { open, close }] = useDisclosure();
  const { jobs, query } = useJobs({ ...emptyFilter, userId: user.id }, 10);
  return (
    <Page
      title={user.name}
      description={
        <>
          {user.email === '' ? 'No email address' : user.email} · Created <Moment at={user.createdAt} />
        </>
      }
      actions={
        <>
          {!user.deletedAt && (
            <>
              <CallButton
                call={OperatorService.method.grantCredits}
                leftSection={<IconCoins size={16} aria-hidden />}
                onClick={open}
              >
                Adjust credits
              </CallButton>
              <SuspendButton user={user} />
            </>
          )}
          <ExportButton userId={user.id} />
          {!user.deletedAt && <DeleteUserButton user={user} />}
        </>
      }
    >
      <State user={user} />
      <Section title="Balance">
        <Text size="xl" fw={600}>
          {formatCount(user.balance)} credits
        </Text>
        <Identifier value={user.id} name="user ID" />
      </Section>
      <UserKeys userId={user.id} />
      <Section
        title="Latest jobs"
        actions={
          <Anchor component={Link} to={`/jobs?userId=${user.id}`} size="sm">
            View all jobs
          </Anchor>
        }
      >
        <JobsTable
          jobs={jobs.slice(0, 10)}
          query={{ ...query, hasNextPage: false }}
          owners={false}
          empty={{ title: 'No jobs yet', description: 'Jobs appear here when the user submits them.' }}
        />
      </Section>
      <Section title="Ledger">
        <UserLedger userId={user.id} />
      </Section>
      <CreditsModal user={user} opened={opened} close={close} />
    </Page>
  );
}

/** Button that downloads everything that is stored of a user. */
function ExportButton({ userId }: { userId: string }) {
  const { download, busy } = useDownload();
  const save = () =>
    download(() =>
      saveStream(createClient(OperatorService, transport).exportUser({ userId }), `user-${userId}.jsonl`),
    );
  return (
    <CallButton
      call={OperatorService.method.exportUser}
      variant="default"
      loading={busy}
      onClick={() => void save()}
      leftSection={<IconDownload size={16} aria-hidden />}
    >
      Export data
    </CallButton>
  );
}

import { createClient } from '@connectrpc/connect';
import { useMutation, useQuery } from '@connectrpc/connect-query';
import { Alert, Skeleton, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBan, IconCoins } from '@tabler/icons-react';
import { useParams } from 'react-router';
import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { counted } from '../../../src/present/text.ts';
import { ActionButton, ConfirmButton } from '../ui/actions/ActionButton.tsx';
import { DownloadButton } from '../ui/actions/DownloadButton.tsx';
import { CopyId } from '../ui/CopyId.tsx';
import { LoadFailure } from '../ui/errors/LoadFailure.tsx';
import { LatestJobs } from '../ui/jobs/LatestJobs.tsx';
import { emptyFilter, useJobs } from '../ui/jobs/useJobs.ts';
import { useKeys } from '../ui/keys/useKeys.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { UserLedger } from '../ui/ledger/LedgerTable.tsx';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { pollMs } from '../ui/queries.ts';
import { saveStream } from '../ui/session/download.ts';
import { transport } from '../ui/session/transport.ts';
import { Moment } from '../ui/time/Moment.tsx';
import { CreditsModal } from './CreditsModal.tsx';

/** Balance, keys, jobs and ledger of a user. */
export function UserPage() {
  const { userId = '' } = useParams();
  const { data, error, isPending, refetch } = useQuery(
    OperatorService.method.getUser,
    { userId },
    { refetchInterval: pollMs.list },
  );
  if (data?.user) return <Loaded user={data.user} />;
  if (!isPending)
    return (
      <LoadFailure title="User" error={error} retry={refetch} list={['/users', 'All users']} />
    );
  return (
    <Page title="User">
      <Skeleton height={240} role="status" aria-label="Loading the user" />
    </Page>
  );
}

/** Saves everything that is stored of a user. */
const exportUser = (userId: string) =>
  saveStream(
    createClient(OperatorService, transport).exportUser({ userId }),
    `user-${userId}.jsonl`,
  );

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
          {user.email === '' ? 'No email address' : user.email} · Created{' '}
          <Moment at={user.createdAt} />
        </>
      }
      actions={
        <>
          {!user.deletedAt && (
            <>
              <CallButton
                call={OperatorService.method.grantCredits}
                icon={IconCoins}
                onClick={open}
              >
                Adjust credits
              </CallButton>
              <SuspendButton user={user} />
            </>
          )}
          <DownloadButton call={OperatorService.method.exportUser} save={() => exportUser(user.id)}>
            Export data
          </DownloadButton>
          {!user.deletedAt && <DeleteUserButton user={user} />}
        </>
      }
    >
      <State user={user} />
      <Section title="Balance">
        <Text size="xl" fw={600}>
          {counted(user.balance, 'credit')}
        </Text>
        <CopyId value={user.id} name="user ID" />
      </Section>
      <UserKeys userId={user.id} />
      <LatestJobs
        title="Latest jobs"
        jobs={jobs}
        query={query}
        owners={false}
        all={[`/jobs?userId=${user.id}`, 'All jobs of this user']}
        empty={{
          title: 'No jobs yet',
          description: 'Jobs appear here when the user submits them.',
        }}
        maxJobs={10}
      />
      <Section title="Ledger">
        <UserLedger userId={user.id} />
      </Section>
      <CreditsModal user={user} opened={opened} close={close} />
    </Page>
  );
}

const { method } = OperatorService;

/** API keys of a user, for operators. */
function UserKeys({ userId }: { userId: string }) {
  const creation = useMutation(method.createApiKey);
  const [list, createButton] = useKeys({
    query: useQuery(method.listApiKeys, { userId }, { refetchInterval: pollMs.idle }),
    methods: method,
    owner: 'user',
    create: (request) => creation.mutateAsync({ ...request, userId }),
    button: { size: 'xs', variant: 'default' },
  });
  return (
    <Section title="API keys" actions={createButton}>
      {list}
    </Section>
  );
}

const { deleteUser, suspendUser: call } = OperatorService.method;

function SuspendButton({ user: { id: userId, name, suspended } }: { user: Account }) {
  if (suspended)
    return (
      <ActionButton
        call={call}
        request={{ userId, suspended: false }}
        done={`${name} reactivated.`}
      >
        Reactivate
      </ActionButton>
    );
  return (
    <ConfirmButton
      call={call}
      request={{ userId, suspended: true }}
      question={{
        title: `Suspend ${name}?`,
        text: 'Their API keys stop working immediately. Running jobs continue.',
        confirm: 'Suspend',
      }}
      done={`${name} suspended.`}
    >
      Suspend
    </ConfirmButton>
  );
}

/** Button that deletes a user with everything but the ledger. */
function DeleteUserButton({ user }: { user: Account }) {
  return (
    <ConfirmButton
      call={deleteUser}
      request={{ userId: user.id }}
      question={{
        title: `Delete ${user.name}?`,
        text:
          'This removes the name, email address, API keys, jobs, and files, ' +
          'and cannot be undone. The ledger is kept without notes.',
        confirm: 'Delete user',
      }}
      done="User deleted. Jobs and files are removed within minutes."
      color="red"
    >
      Delete user
    </ConfirmButton>
  );
}

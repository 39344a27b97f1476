import { Button, Center, Skeleton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { useList } from '../ui/list/useList.ts';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { pollMs } from '../ui/queries.ts';
import { NewOperatorModal } from './NewOperatorModal.tsx';
import { OperatorKeys } from './OperatorKeys.tsx';

/** Operators with their API keys. */
export function OperatorsPage() {
  const [opened, { open, close }] = useDisclosure();
  const { query, rows } = useList(
    OperatorService.method.listOperators,
    { pageSize: 20 },
    (page) => page.operators,
    { refetchInterval: pollMs.idle },
  );
  return (
    <Page
      title="Operators"
      description="Operators approve jobs and manage users. Create one operator per person."
      actions={
        <CallButton call={OperatorService.method.createOperator} icon={IconPlus} onClick={open}>
          Create operator
        </CallButton>
      }
    >
      {query.isPending && <Skeleton height={160} role="status" aria-label="Loading operators" />}
      {query.error && <ErrorAlert error={query.error} retry={query.refetch} />}
      {rows.map((operator) => (
        <OperatorKeys key={operator.id} operator={operator} query={query} />
      ))}
      {query.hasNextPage && (
        <Center>
          <Button variant="default" loading={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
            Load more
          </Button>
        </Center>
      )}
      <NewOperatorModal opened={opened} close={close} />
    </Page>
  );
}

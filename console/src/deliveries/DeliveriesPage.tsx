import { useInfiniteQuery, useMutation } from '@connectrpc/connect-query';
import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconSend } from '@tabler/icons-react';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { every } from '../app/queries.ts';
import { tellDone, tellFault } from '../fault/tell.ts';
import { Page } from '../layout/Page.tsx';
import { useRefresh } from '../list/useRefresh.ts';
import { DeliveriesTable } from './DeliveriesTable.tsx';

/** Messages to operators and to users' webhooks, with a test of the operators' own. */
export function DeliveriesPage() {
  const query = useInfiniteQuery(
    OperatorService.method.listDeliveries,
    { pageSize: 50, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: every.watching,
    },
  );
  const trial = useMutation(OperatorService.method.testNotification);
  const refresh = useRefresh();
  const send = async () => {
    try {
      const { deliveries } = await trial.mutateAsync({});
      if (deliveries.length > 0) tellDone(`${deliveries.length} messages are on their way.`);
      else {
        notifications.show({
          color: 'yellow',
          title: 'Nobody is told anything',
          message: 'Neither a webhook nor an e-mail address of the operators is set in the configuration.',
        });
      }
      await refresh();
    } catch (error) {
      tellFault(error);
    }
  };
  return (
    <Page
      title="Notifications"
      about="Messages to operators, by webhook and e-mail, and to the webhooks of users."
      actions={
        <Button leftSection={<IconSend size={16} aria-hidden />} loading={trial.isPending} onClick={send}>
          Send a test
        </Button>
      }
    >
      <DeliveriesTable
        deliveries={query.data?.pages.flatMap(({ deliveries }) => deliveries) ?? []}
        query={query}
      />
    </Page>
  );
}

import { useInfiniteQuery, useMutation } from '@connectrpc/connect-query';
import { notifications } from '@mantine/notifications';
import { IconSend } from '@tabler/icons-react';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { pollMs } from '../app/queries.ts';
import { useAttempt } from '../errors/useAttempt.ts';
import { Page } from '../layout/Page.tsx';
import { CallButton } from '../permission/CallButton.tsx';
import { DeliveriesTable } from './DeliveriesTable.tsx';

/** Notifications to operators and to users' webhooks. */
export function DeliveriesPage() {
  const query = useInfiniteQuery(
    OperatorService.method.listDeliveries,
    { pageSize: 50, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: pollMs.list,
    },
  );
  const test = useMutation(OperatorService.method.testNotification);
  const attempt = useAttempt();
  const send = () =>
    attempt(test.mutateAsync({}), ({ deliveries }) => {
      if (deliveries.length > 0)
        return `${deliveries.length === 1 ? 'Test message' : `${deliveries.length} test messages`} sent.`;
      notifications.show({
        color: 'yellow',
        title: 'No recipients',
        message: 'Set GLEANER_OPERATOR_WEBHOOK_URL or an operator email address in the configuration.',
      });
      return null;
    });
  return (
    <Page
      title="Notifications"
      description="Messages to operators, by webhook and email, and to the webhooks of users."
      actions={
        <CallButton
          call={OperatorService.method.testNotification}
          leftSection={<IconSend size={16} aria-hidden />}
          loading={test.isPending}
          onClick={send}
        >
          Send test message
        </CallButton>
      }
    >
      <DeliveriesTable
        deliveries={query.data?.pages.flatMap(({ deliveries }) => deliveries) ?? []}
        query={query}
      />
    </Page>
  );
}

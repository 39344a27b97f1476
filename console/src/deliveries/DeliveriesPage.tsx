import { IconSend } from '@tabler/icons-react';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { ActionButton } from '../ui/actions/ActionButton.tsx';
import { DeliveriesTable } from '../ui/DeliveriesTable.tsx';
import { showToast } from '../ui/errors/toast.ts';
import { Page } from '../ui/layout/Page.tsx';
import { useList } from '../ui/list/useList.ts';

/** Notifications to operators and to users' webhooks. */
export function DeliveriesPage() {
  const { query, rows } = useList(
    OperatorService.method.listDeliveries,
    {},
    (page) => page.deliveries,
  );
  return (
    <Page
      title="Notifications"
      description="Messages to operators, by webhook and email, and to the webhooks of users."
      actions={
        <ActionButton
          call={OperatorService.method.testNotification}
          request={{}}
          done={({ deliveries: { length } }) => {
            if (length > 0)
              return `${length === 1 ? 'Test message' : `${length} test messages`} sent.`;
            showToast({
              color: 'yellow',
              title: 'No recipients',
              message:
                'Set GLEANER_OPERATOR_WEBHOOK_URL or an ' +
                'operator email address in the configuration.',
            });
            return null;
          }}
          variant="filled"
          icon={IconSend}
        >
          Send test message
        </ActionButton>
      }
    >
      <DeliveriesTable deliveries={rows} query={query} />
    </Page>
  );
}

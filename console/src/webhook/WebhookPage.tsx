import { useQuery } from '@connectrpc/connect-query';
import { Skeleton } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { AccountService, type Delivery } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { ActionButton } from '../ui/actions/ActionButton.tsx';
import { DeliveriesTable } from '../ui/DeliveriesTable.tsx';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { Section } from '../ui/layout/Section.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { useList } from '../ui/list/useList.ts';
import { WebhookForm } from './WebhookForm.tsx';
import { WebhookSecret } from './WebhookSecret.tsx';

/** Webhook of the caller: endpoint, signing secret and messages. */
export function WebhookPage() {
  const webhook = useQuery(AccountService.method.getWebhook, {});
  const { query, rows } = useList(AccountService.method.listDeliveries, {}, (page) => page.deliveries);
  const resend: ListColumn<Delivery> = {
    title: 'Actions',
    align: 'right',
    cell: ({ deliveryId, type, state }) =>
      state === 'pending' ? null : (
        <ActionButton
          inRow
          call={AccountService.method.redeliverWebhook}
          request={{ deliveryId }}
          done="Message queued."
          aria-label={`Resend ${type}`}
        >
          Resend
        </ActionButton>
      ),
  };
  const url = webhook.data?.url;
  return (
    <Page
      title="Webhook"
      description="Receive an HTTP request when one of your jobs ends or is rejected."
      actions={
        <ActionButton
          call={AccountService.method.testWebhook}
          request={{}}
          done="Test message queued."
          variant="filled"
          icon={IconSend}
          disabled={!url}
        >
          Send test message
        </ActionButton>
      }
    >
      {webhook.isPending && <Skeleton height={160} role="status" aria-label="Loading webhook" />}
      {webhook.error && <ErrorAlert error={webhook.error} retry={webhook.refetch} />}
      {webhook.data && (
        <>
          <WebhookForm webhook={webhook.data} key={`${webhook.data.url} ${webhook.data.enabled}`} />
          {url && <WebhookSecret webhook={webhook.data} />}
        </>
      )}
      <Section title="Messages" description="Last 30 days, with the files for your destinations">
        <DeliveriesTable deliveries={rows} query={query} action={resend} />
      </Section>
    </Page>
  );
}

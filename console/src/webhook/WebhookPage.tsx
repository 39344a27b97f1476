import { useInfiniteQuery, useMutation, useQuery } from '@connectrpc/connect-query';
import { Skeleton } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { AccountService, type Delivery } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { pollMs } from '../app/queries.ts';
import { DeliveriesTable } from '../deliveries/DeliveriesTable.tsx';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { useAttempt } from '../errors/useAttempt.ts';
import { Page } from '../layout/Page.tsx';
import { Section } from '../layout/Section.tsx';
import type { Column } from '../list/list-content.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { WebhookForm } from './WebhookForm.tsx';
import { WebhookSecret } from './WebhookSecret.tsx';

/** Webhook of the caller: endpoint, signing secret and messages. */
export function WebhookPage() {
  const webhook = useQuery(AccountService.method.getWebhook, {});
  const deliveries = useInfiniteQuery(
    AccountService.method.listDeliveries,
    { pageSize: 50, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: pollMs.list,
    },
  );
  const test = useMutation(AccountService.method.testWebhook);
  const redelivery = useMutation(AccountService.method.redeliverWebhook);
  const attempt = useAttempt();
  const resend: Column<Delivery> = {
    title: 'Actions',
    align: 'right',
    cell: ({ deliveryId, type, state }) =>
      state === 'pending' ? null : (
        <CallButton
          call={AccountService.method.redeliverWebhook}
          size="compact-sm"
          variant="default"
          aria-label={`Resend ${type}`}
          onClick={() => attempt(redelivery.mutateAsync({ deliveryId }), 'Message queued.')}
        >
          Resend
        </CallButton>
      ),
  };
  const url = webhook.data?.url;
  return (
    <Page
      title="Webhook"
      description="Receive an HTTP request when one of your jobs ends or is rejected."
      actions={
        <CallButton
          call={AccountService.method.testWebhook}
          leftSection={<IconSend size={16} aria-hidden />}
          disabled={!url}
          loading={test.isPending}
          onClick={() => attempt(test.mutateAsync({}), 'Test message queued.')}
        >
          Send test message
        </CallButton>
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
        <DeliveriesTable
          deliveries={deliveries.data?.pages.flatMap((page) => page.deliveries) ?? []}
          query={deliveries}
          action={resend}
        />
      </Section>
    </Page>
  );
}

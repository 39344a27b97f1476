import { useInfiniteQuery, useMutation, useQuery } from '@connectrpc/connect-query';
import { Button, Skeleton } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { AccountService, type Delivery } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { every } from '../app/queries.ts';
import { DeliveriesTable } from '../deliveries/DeliveriesTable.tsx';
import { FaultAlert } from '../fault/FaultAlert.tsx';
import { tellDone, tellFault } from '../fault/tell.ts';
import { Page } from '../layout/Page.tsx';
import { Section } from '../layout/Section.tsx';
import type { Column } from '../list/ListTable.tsx';
import { useRefresh } from '../list/useRefresh.ts';
import { WebhookForm } from './WebhookForm.tsx';
import { WebhookSecret } from './WebhookSecret.tsx';

/** The caller's webhook: where it is, its secret, and what was sent. */
export function WebhookPage() {
  const webhook = useQuery(AccountService.method.getWebhook, {});
  const deliveries = useInfiniteQuery(
    AccountService.method.listDeliveries,
    { pageSize: 50, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: every.watching,
    },
  );
  const trial = useMutation(AccountService.method.testWebhook);
  const again = useMutation(AccountService.method.redeliverWebhook);
  const refresh = useRefresh();
  const run = (call: Promise<unknown>, done: string) =>
    void call
      .then(() => tellDone(done))
      .then(refresh)
      .catch(tellFault);
  const resend: Column<Delivery> = {
    title: 'Again',
    align: 'right',
    cell: ({ deliveryId, type, state }) =>
      state === 'pending' ? null : (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Send again: ${type}`}
          onClick={() => run(again.mutateAsync({ deliveryId }), 'The message is on its way again.')}
        >
          Send again
        </Button>
      ),
  };
  const set = webhook.data?.url;
  return (
    <Page
      title="Webhook"
      about="An address of yours that is told when a job of yours has ended or was rejected."
      actions={
        <Button
          leftSection={<IconSend size={16} aria-hidden />}
          disabled={!set}
          loading={trial.isPending}
          onClick={() => run(trial.mutateAsync({}), 'A test is on its way.')}
        >
          Send a test
        </Button>
      }
    >
      {webhook.isPending && <Skeleton height={160} role="status" aria-label="Loading the webhook" />}
      {webhook.error && <FaultAlert error={webhook.error} retry={webhook.refetch} />}
      {webhook.data && (
        <>
          <WebhookForm webhook={webhook.data} key={`${webhook.data.url} ${webhook.data.enabled}`} />
          {set && <WebhookSecret webhook={webhook.data} />}
        </>
      )}
      <Section title="Messages" about="Those of the last 30 days.">
        <DeliveriesTable
          deliveries={deliveries.data?.pages.flatMap((page) => page.deliveries) ?? []}
          query={deliveries}
          action={resend}
        />
      </Section>
    </Page>
  );
}

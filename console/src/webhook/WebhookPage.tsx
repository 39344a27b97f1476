import { useQuery } from '@connectrpc/connect-query';
import { Group, PasswordInput, Skeleton, Text } from '@mantine/core';
import { IconRefresh, IconSend } from '@tabler/icons-react';
import { AccountService, type Delivery, type Webhook } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { ActionButton, ConfirmButton } from '../ui/actions/ActionButton.tsx';
import { CopyTextButton } from '../ui/CodeBlock.tsx';
import { DeliveriesTable } from '../ui/DeliveriesTable.tsx';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { Section } from '../ui/layout/Section.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { useList } from '../ui/list/useList.ts';
import { Moment } from '../ui/time/Moment.tsx';
import { WebhookForm } from './WebhookForm.tsx';

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

/** Signing secret of the webhook, with copy and rotation. */
export function WebhookSecret({ webhook }: { webhook: Webhook }) {
  return (
    <Section
      title="Signing secret"
      description="Verify the signature of each message with this secret (Standard Webhooks)."
    >
      <Group align="flex-end">
        <PasswordInput
          label="Secret"
          value={webhook.secret}
          readOnly
          autoComplete="off"
          style={{ flex: '1 1 16rem' }}
        />
        <CopyTextButton text={webhook.secret} />
        <ConfirmButton
          call={AccountService.method.rotateWebhookSecret}
          request={{}}
          question={{
            title: 'Rotate the signing secret?',
            text: 'Messages are signed with both secrets for 24 hours, so that you can update your program.',
            confirm: 'Rotate secret',
            isHarmless: true,
          }}
          done="Signing secret rotated."
          icon={IconRefresh}
        >
          Rotate secret
        </ConfirmButton>
      </Group>
      <Text size="xs" c="dimmed" mt="xs">
        Last changed <Moment at={webhook.updatedAt} />
      </Text>
    </Section>
  );
}

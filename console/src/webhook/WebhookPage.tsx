import { useQuery } from '@connectrpc/connect-query';
import { Group, PasswordInput, Skeleton, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconRefresh, IconSend } from '@tabler/icons-react';
import {
  AccountService,
  type Delivery,
  type Webhook,
} from '../../../gen/gleaner/account/v1/account_pb.ts';
import { ActionButton, ConfirmButton, useAction } from '../ui/actions/ActionButton.tsx';
import { CopyTextButton } from '../ui/CodeBlock.tsx';
import { DeliveriesTable } from '../ui/DeliveriesTable.tsx';
import { describeError } from '../ui/errors/describe.ts';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { Section } from '../ui/layout/Section.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { useList } from '../ui/list/useList.ts';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { Moment } from '../ui/time/Moment.tsx';

/** Webhook of the caller: endpoint, signing secret and messages. */
export function WebhookPage() {
  const webhook = useQuery(AccountService.method.getWebhook, {});
  const { query, rows } = useList(
    AccountService.method.listDeliveries,
    {},
    (page) => page.deliveries,
  );
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
      description="Receive an HTTP request when one of your jobs ends or is rejected, or a rule fires."
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
            text:
              'Messages are signed with both secrets for 24 hours, ' +
              'so that you can update your program.',
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

/** Form for the webhook's address. */
function WebhookForm({ webhook }: { webhook: Webhook }) {
  const form = useForm({
    initialValues: { url: webhook.url, enabled: webhook.url === '' || webhook.enabled },
    validate: {
      url: (value) =>
        (value.trim() === '' && webhook.url !== '') || /^https?:\/\/[^/]/.test(value.trim())
          ? null
          : 'Enter an http or https URL.',
    },
  });
  const { run, busy } = useAction(
    AccountService.method.setWebhook,
    ({ url }) => (url === '' ? 'Webhook removed.' : 'Webhook saved.'),
    (error) => {
      const { detail, problems } = describeError(error);
      form.setFieldError('url', problems[0]?.message ?? detail);
    },
  );
  const submit = form.onSubmit(
    ({ url, enabled }) => void run({ url: url.trim(), disabled: !enabled }),
  );
  return (
    <Section title="Endpoint">
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label="Endpoint URL"
            description="A public http or https URL. Leave empty to remove the webhook."
            placeholder="https://example.com/hooks/gleaner"
            inputMode="url"
            {...form.getInputProps('url')}
          />
          <Switch label="Enabled" {...form.getInputProps('enabled', { type: 'checkbox' })} />
          <Group>
            <CallButton call={AccountService.method.setWebhook} type="submit" loading={busy}>
              Save
            </CallButton>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

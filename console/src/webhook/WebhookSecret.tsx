import { useMutation } from '@connectrpc/connect-query';
import { Button, CopyButton, Group, PasswordInput, Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { IconCopy, IconRefresh } from '@tabler/icons-react';
import { AccountService, type Webhook } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { useAttempt } from '../errors/useAttempt.ts';
import { Section } from '../layout/Section.tsx';
import { CallButton } from '../permission/CallButton.tsx';
import { Moment } from '../time/Moment.tsx';

/** Signing secret of the webhook, with copy and rotation. */
export function WebhookSecret({ webhook }: { webhook: Webhook }) {
  const rotation = useMutation(AccountService.method.rotateWebhookSecret);
  const attempt = useAttempt();
  const rotate = () =>
    modals.openConfirmModal({
      title: 'Rotate the signing secret?',
      children: 'Messages are signed with both secrets for 24 hours, so that you can update your program.',
      labels: { confirm: 'Rotate secret', cancel: 'Back' },
      onConfirm: () => void attempt(rotation.mutateAsync({}), 'Signing secret rotated.'),
    });
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
        <CopyButton value={webhook.secret}>
          {({ copied, copy }) => (
            <Button variant="default" leftSection={<IconCopy size={16} aria-hidden />} onClick={copy}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
        <CallButton
          call={AccountService.method.rotateWebhookSecret}
          variant="default"
          leftSection={<IconRefresh size={16} aria-hidden />}
          onClick={rotate}
        >
          Rotate secret
        </CallButton>
      </Group>
      <Text size="xs" c="dimmed" mt="xs">
        Last changed <Moment at={webhook.updatedAt} />
      </Text>
    </Section>
  );
}

import { useMutation } from '@connectrpc/connect-query';
import { Button, CopyButton, Group, PasswordInput, Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { IconCopy, IconRefresh } from '@tabler/icons-react';
import { AccountService, type Webhook } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { tellDone, tellFault } from '../fault/tell.ts';
import { Section } from '../layout/Section.tsx';
import { useRefresh } from '../list/useRefresh.ts';
import { Moment } from '../time/Moment.tsx';

/** The secret that messages are signed with: to copy, and to make anew. */
export function WebhookSecret({ webhook }: { webhook: Webhook }) {
  const rotation = useMutation(AccountService.method.rotateWebhookSecret);
  const refresh = useRefresh();
  const rotate = () =>
    modals.openConfirmModal({
      title: 'Make a new secret?',
      children:
        'For a day messages are signed with the old one, too, so that your program can be changed in peace.',
      labels: { confirm: 'Make a new one', cancel: 'Not now' },
      onConfirm: () =>
        void rotation
          .mutateAsync({})
          .then(() => tellDone('There is a new secret.'))
          .then(refresh)
          .catch(tellFault),
    });
  return (
    <Section
      title="Secret"
      about="Your program checks with it that a message is from here (Standard Webhooks)."
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
        <Button variant="default" leftSection={<IconRefresh size={16} aria-hidden />} onClick={rotate}>
          New secret
        </Button>
      </Group>
      <Text size="xs" c="dimmed" mt="xs">
        Last changed: <Moment at={webhook.updatedAt} />
      </Text>
    </Section>
  );
}

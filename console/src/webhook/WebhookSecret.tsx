import { Group, PasswordInput, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { AccountService, type Webhook } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { ConfirmButton } from '../ui/actions/ActionButton.tsx';
import { CopyTextButton } from '../ui/CodeBlock.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { Moment } from '../ui/time/Moment.tsx';

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

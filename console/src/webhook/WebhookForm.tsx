import { Group, Stack, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { AccountService, type Webhook } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { useAction } from '../ui/actions/ActionButton.tsx';
import { describeError } from '../ui/errors/describe.ts';
import { Section } from '../ui/layout/Section.tsx';
import { CallButton } from '../ui/permission/CallButton.tsx';

/** Form for the webhook's address. */
export function WebhookForm({ webhook }: { webhook: Webhook }) {
  const form = useForm({
    initialValues: { url: webhook.url, enabled: webhook.url === '' || webhook.enabled },
    validate: {
      url: (value) =>
        value.trim() === '' || /^https?:\/\/[^/]/.test(value.trim()) ? null : 'Enter an http or https URL.',
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
  const submit = form.onSubmit(({ url, enabled }) => void run({ url: url.trim(), disabled: !enabled }));
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

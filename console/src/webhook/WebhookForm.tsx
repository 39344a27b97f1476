import { useMutation } from '@connectrpc/connect-query';
import { Button, Group, Stack, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { AccountService, type Webhook } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { describeFault } from '../fault/describe.ts';
import { tellDone } from '../fault/tell.ts';
import { Section } from '../layout/Section.tsx';
import { useRefresh } from '../list/useRefresh.ts';

/** Says where messages go, and whether. */
export function WebhookForm({ webhook }: { webhook: Webhook }) {
  const saving = useMutation(AccountService.method.setWebhook);
  const refresh = useRefresh();
  const form = useForm({
    initialValues: { url: webhook.url, enabled: webhook.url === '' || webhook.enabled },
    validate: {
      url: (value) =>
        value.trim() === '' || /^https?:\/\/[^/]/.test(value.trim())
          ? null
          : 'Enter an http or https address.',
    },
  });
  const submit = form.onSubmit(async ({ url, enabled }) => {
    try {
      await saving.mutateAsync({ url: url.trim(), disabled: !enabled });
      tellDone(url.trim() === '' ? 'There is no webhook any more.' : 'The webhook is saved.');
      await refresh();
    } catch (error) {
      const { detail, problems } = describeFault(error);
      form.setFieldError('url', problems[0]?.message ?? detail);
    }
  });
  return (
    <Section title="Address">
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label="Address"
            description="http or https, on the public internet. Empty removes the webhook."
            placeholder="https://example.com/hooks/gleaner"
            inputMode="url"
            {...form.getInputProps('url')}
          />
          <Switch label="Send messages" {...form.getInputProps('enabled', { type: 'checkbox' })} />
          <Group>
            <Button type="submit" loading={saving.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

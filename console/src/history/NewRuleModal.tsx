import { useMutation } from '@connectrpc/connect-query';
import { Alert, Button, Group, Modal, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { HistoryService } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { describeError } from '../errors/describe.ts';
import { useRefresh } from '../list/useRefresh.ts';
import { conditions, ruleFields } from './rule-text.ts';

const channels = [
  { value: 'webhook', label: 'Webhook' },
  { value: 'email', label: 'E-mail' },
];

/** Dialog that creates a rule. */
export function NewRuleModal({ close }: { close: () => void }) {
  const creation = useMutation(HistoryService.method.createRule);
  const refresh = useRefresh();
  const [problem, setProblem] = useState('');
  const form = useForm({
    initialValues: {
      name: '',
      condition: conditions[0]!.value,
      threshold: '',
      field: ruleFields[0]!,
      market: '',
      region: '',
      key: '',
      series: '',
      channel: 'webhook',
    },
  });
  const choice = conditions.find(({ value }) => value === form.values.condition)!;
  const submit = form.onSubmit(async ({ threshold, field, ...values }) => {
    try {
      await creation.mutateAsync({
        ...values,
        field: choice.field ? field : '',
        ...(choice.threshold ? { threshold: Number(threshold) } : {}),
      });
      await refresh();
      close();
    } catch (error) {
      setProblem(describeError(error).detail);
    }
  });
  return (
    <Modal opened onClose={close} title="Create rule" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit} noValidate>
        <Stack>
          {problem !== '' && <Alert color="red">{problem}</Alert>}
          <TextInput label="Name" maxLength={200} data-autofocus {...form.getInputProps('name')} />
          <NativeSelect
            label="Condition"
            data={conditions.map(({ value, label }) => ({ value, label }))}
            {...form.getInputProps('condition')}
          />
          {choice.threshold && (
            <TextInput
              label={choice.threshold}
              required
              inputMode="decimal"
              {...form.getInputProps('threshold')}
            />
          )}
          {choice.field && <NativeSelect label="Field" data={ruleFields} {...form.getInputProps('field')} />}
          <TextInput label="Marketplace" description="All if empty" {...form.getInputProps('market')} />
          <TextInput label="Region" description="All if empty" {...form.getInputProps('region')} />
          <TextInput label="Item ID" description="All if empty" {...form.getInputProps('key')} />
          <TextInput
            label="Series"
            description="All tracked jobs if empty"
            {...form.getInputProps('series')}
          />
          <NativeSelect label="Message" data={channels} {...form.getInputProps('channel')} />
          <Group justify="flex-end">
            <Button type="submit" loading={creation.isPending}>
              Create
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

import { useMutation, useQuery } from '@connectrpc/connect-query';
import { NativeSelect, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { HistoryService, type Rule } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { PriceService } from '../../../gen/gleaner/price/v1/price_pb.ts';
import { ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { seriesOf } from '../../../src/contract/track.ts';
import { trackedValues, valueName } from '../../../src/present/item.ts';
import { marketTitle } from '../../../src/present/names.ts';
import { conditions } from '../../../src/present/rule.ts';
import { capitalize, regionText } from '../../../src/present/text.ts';
import { FormModal } from '../ui/actions/FormModal.tsx';
import { fieldErrors } from '../ui/errors/describe.ts';
import { useRefresh } from '../ui/list/useList.ts';

const channels = [
  { value: 'webhook', label: 'Webhook' },
  { value: 'email', label: 'Email' },
];

const initialValues = (rule: Rule | null) => ({
  name: rule?.name ?? '',
  condition: rule?.condition ?? conditions[0]!.value,
  threshold: String(rule?.threshold ?? ''),
  field: rule?.field || trackedValues[0]!,
  market: rule?.market ?? '',
  region: rule?.region ?? '',
  key: rule?.key ?? '',
  series: rule?.series ?? '',
  channel: rule?.channel || 'webhook',
  disabled: rule ? !rule.enabled : false,
});

/** Returns the number in the input of a percentage or a price. NaN for other text. */
const parseThreshold = (text: string): number => Number(text.replace(/%\s*$/, ''));

/** Form of a rule; null for a new one. */
function useRuleForm(rule: Rule | null, close: () => void) {
  const creation = useMutation(HistoryService.method.createRule);
  const update = useMutation(HistoryService.method.updateRule);
  const refresh = useRefresh();
  const form = useForm({
    initialValues: initialValues(rule),
    validate: {
      threshold: (text) =>
        Number.isNaN(parseThreshold(text)) ? 'Enter a number, such as 5 or 2.5.' : null,
    },
  });
  const choice = conditions.find(({ value }) => value === form.values.condition)!;
  const submit = form.onSubmit(async ({ threshold, field, disabled, ...values }) => {
    const request = {
      ...values,
      field: choice.field ? field : '',
      ...(choice.threshold && threshold !== '' ? { threshold: parseThreshold(threshold) } : {}),
    };
    try {
      await (rule
        ? update.mutateAsync({ ...request, disabled, ruleId: rule.ruleId })
        : creation.mutateAsync(request));
      await refresh();
      close();
    } catch (error) {
      form.setErrors(fieldErrors(error, Object.keys(form.values), 'name'));
    }
  });
  return {
    form,
    choice,
    submit,
    busy: creation.isPending || update.isPending,
  };
}

/** Dialog that creates a rule, or changes one. */
export function RuleModal({ rule, close }: { rule: Rule | null; close: () => void }) {
  const { form, choice, submit, busy } = useRuleForm(rule, close);
  return (
    <FormModal
      close={close}
      title={rule ? 'Edit rule' : 'Create rule'}
      onSubmit={submit}
      submit={rule ? 'Save' : 'Create'}
      call={rule ? HistoryService.method.updateRule : HistoryService.method.createRule}
      busy={busy}
    >
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
      {choice.field && (
        <NativeSelect
          label="Value"
          data={trackedValues.map((value) => ({ value, label: capitalize(valueName(value)) }))}
          {...form.getInputProps('field')}
        />
      )}
      <ScopeInputs form={form} />
      <NativeSelect label="Message" data={channels} {...form.getInputProps('channel')} />
      {rule && (
        <Switch label="Disabled" {...form.getInputProps('disabled', { type: 'checkbox' })} />
      )}
    </FormModal>
  );
}

/** Selections of the items that a rule is about. */
function ScopeInputs({ form }: Pick<ReturnType<typeof useRuleForm>, 'form'>) {
  const { data } = useQuery(PriceService.method.getPriceList, {});
  const { market, region, series } = form.values;
  const prices = data?.prices ?? [];
  const markets = new Set(prices.map((price) => price.market));
  if (market !== '') markets.add(market);
  const ofMarket = prices.filter((price) => price.market === market);
  const regions = new Set(ofMarket.flatMap((price) => price.regions));
  if (region !== '') regions.add(region);
  const regionChoices = [...regions].toSorted();
  const allSeries = useSeries(series);
  return (
    <>
      <NativeSelect
        label="Marketplace"
        data={[
          { value: '', label: 'All marketplaces' },
          ...Array.from(markets, (value) => ({ value, label: marketTitle(value) })),
        ]}
        {...form.getInputProps('market')}
        onChange={({ currentTarget: { value } }) => form.setValues({ market: value, region: '' })}
      />
      {regionChoices.length > 0 && (
        <NativeSelect
          label="Region"
          data={[
            { value: '', label: 'All regions' },
            ...regionChoices.map((value) => ({ value, label: regionText(value) })),
          ]}
          {...form.getInputProps('region')}
        />
      )}
      <TextInput label="Item ID" description="All if empty" {...form.getInputProps('key')} />
      <NativeSelect
        label="Series"
        data={[{ value: '', label: 'All tracked jobs' }, ...allSeries]}
        {...form.getInputProps('series')}
      />
    </>
  );
}

/** Jobs and schedules whose series are offered. */
const pageSize = 100;

/**
 * Returns the series of the caller's latest jobs and schedules with their labels, and `chosen` if
 * it is not empty.
 */
function useSeries(chosen: string): { value: string; label: string }[] {
  const jobs = useQuery(JobService.method.listJobs, { pageSize }).data?.jobs ?? [];
  const schedules =
    useQuery(ScheduleService.method.listSchedules, { pageSize }).data?.schedules ?? [];
  const labels = new Map<string, string>();
  for (const { scheduleId, name, options } of schedules) {
    const series = seriesOf(options?.track);
    if (series === '') labels.set(`schedule-${scheduleId}`, `Schedule “${name}”`);
    else if (series !== null) labels.set(series, series);
  }
  for (const series of [...jobs.map(({ options }) => seriesOf(options?.track)), chosen])
    if (series && !labels.has(series)) labels.set(series, series);
  return [...labels].map(([value, label]) => ({ value, label }));
}

import { useQuery } from '@connectrpc/connect-query';
import { NativeSelect, NumberInput, Switch, TextInput } from '@mantine/core';
import { PriceService } from '../../../gen/gleaner/price/v1/price_pb.ts';
import { jobTypes } from '../../../src/contract/job-types.ts';
import { regionText } from '../../../src/present/text.ts';
import { InlineCode } from '../ui/layout/InlineCode.tsx';
import type { FieldTexts } from '../ui/request/body.ts';
import type { FieldShape } from '../ui/request/fields.ts';

interface FieldProps {
  field: FieldShape;
  value: string;
  change: (value: string) => void;
  error?: React.ReactNode;
  /** Handles a pasted text; returns whether the input should ignore it. */
  paste?: (text: string) => boolean;
  /** Omits the description. */
  brief?: boolean;
}

/** Returns the label of a choice: "Indonesia (id)" for a country. */
function choiceLabel(name: string, choice: string): string {
  if (name === 'country' || name === 'region') return regionText(choice);
  return choice;
}

/** Input for one field of a request. */
export function Field({ field, value, change, paste, error, brief = false }: FieldProps) {
  const { name, label, help, type, choices, required, defaultText, min, max } = field;
  const common = {
    label,
    description: brief || help === '' ? undefined : <InlineCode text={help} />,
    error,
    withAsterisk: required,
    maw: 480,
  };
  if (type === 'choice') {
    const unset = required ? 'Select…' : 'None';
    const none = defaultText === '' ? unset : `${defaultText} (default)`;
    return (
      <NativeSelect
        {...common}
        value={value}
        onChange={(event) => change(event.currentTarget.value)}
        data={[
          { value: '', label: none },
          ...choices.map((choice) => ({ value: choice, label: choiceLabel(name, choice) })),
        ]}
      />
    );
  }
  if (type === 'flag') {
    return (
      <Switch
        label={label}
        description={common.description}
        checked={value === 'true'}
        onChange={(event) => change(event.currentTarget.checked ? 'true' : '')}
      />
    );
  }
  if (type === 'integer') {
    return (
      <NumberInput
        {...common}
        placeholder={defaultText}
        min={min ?? undefined}
        max={max ?? undefined}
        value={value}
        onChange={(next) => change(String(next))}
      />
    );
  }
  return (
    <TextInput
      {...common}
      onPaste={(event) => {
        if (paste?.(event.clipboardData.getData('text'))) event.preventDefault();
      }}
      placeholder={defaultText}
      value={value}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

/** Marketplaces whose regions are declared shops. */
const siteMarkets = new Set(
  jobTypes.filter(({ method }) => 'site' in method.input.field).map(({ market }) => market),
);

/** Selection of a shop that the operators declare, whose names the contract does not have. */
function SiteField(props: FieldProps) {
  const { field, value } = props;
  const { data } = useQuery(PriceService.method.getPriceList, {});
  const ofSites = data?.prices.filter(({ market }) => siteMarkets.has(market)) ?? [];
  const names = new Set(ofSites.flatMap(({ regions }) => regions));
  if (value !== '') names.add(value);
  return <Field {...props} field={{ ...field, type: 'choice', choices: [...names] }} />;
}

interface FieldsProps {
  fields: readonly FieldShape[];
  texts: FieldTexts;
  change: (name: string, value: string) => void;
  errorOf?: (name: string) => React.ReactNode;
}

/** Inputs for fields of a request, one below the other. */
export const Fields = ({ fields, texts, change, errorOf }: FieldsProps) =>
  fields.map((field) => {
    const Input = field.name === 'site' ? SiteField : Field;
    return (
      <Input
        key={field.name}
        field={field}
        value={texts[field.name] ?? ''}
        change={(value) => change(field.name, value)}
        error={errorOf?.(field.name)}
      />
    );
  });

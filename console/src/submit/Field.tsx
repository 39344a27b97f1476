import { NativeSelect, NumberInput, Switch, TextInput } from '@mantine/core';
import type { FieldShape } from './fields.ts';
import { fieldLabel } from './form-layout.ts';
import { InlineCode } from './InlineCode.tsx';

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

/** Input for one field of a request. */
export function Field({ field, value, change, paste, error, brief = false }: FieldProps) {
  const { name, description, type, choices, required, defaultText, min, max } = field;
  const common = {
    label: fieldLabel(name),
    description: brief || description === '' ? undefined : <InlineCode text={description} />,
    error,
    withAsterisk: required,
  };
  if (type === 'choice') {
    const none = defaultText === '' ? (required ? 'Select…' : 'None') : `${defaultText} (default)`;
    return (
      <NativeSelect
        {...common}
        value={value}
        onChange={(event) => change(event.currentTarget.value)}
        data={[{ value: '', label: none }, ...choices.map((choice) => ({ value: choice, label: choice }))]}
      />
    );
  }
  if (type === 'flag') {
    return (
      <Switch
        label={fieldLabel(name)}
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
        allowDecimal={false}
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

import { NativeSelect, NumberInput, Switch, TextInput } from '@mantine/core';
import { About } from './About.tsx';
import type { FieldShape } from './fields.ts';

interface FieldProps {
  field: FieldShape;
  value: string;
  change: (value: string) => void;
  error?: React.ReactNode;
  /** Leaves out what the field is about: it stands above already. */
  brief?: boolean;
}

/** Asks for one field of a request. */
export function Field({ field, value, change, error, brief = false }: FieldProps) {
  const { name, about, sort, choices, required, fallback, least, most } = field;
  const shown = {
    label: name,
    description: brief || about === '' ? undefined : <About text={about} />,
    error,
    withAsterisk: required,
  };
  if (sort === 'choice') {
    const none = fallback === '' ? (required ? 'Choose one' : 'None') : `${fallback} (usual)`;
    return (
      <NativeSelect
        {...shown}
        value={value}
        onChange={(event) => change(event.currentTarget.value)}
        data={[{ value: '', label: none }, ...choices.map((choice) => ({ value: choice, label: choice }))]}
      />
    );
  }
  if (sort === 'flag') {
    return (
      <Switch
        label={name}
        description={shown.description}
        checked={value === 'true'}
        onChange={(event) => change(event.currentTarget.checked ? 'true' : '')}
      />
    );
  }
  if (sort === 'integer') {
    return (
      <NumberInput
        {...shown}
        allowDecimal={false}
        placeholder={fallback}
        min={least ?? undefined}
        max={most ?? undefined}
        value={value}
        onChange={(next) => change(String(next))}
      />
    );
  }
  return (
    <TextInput
      {...shown}
      placeholder={fallback}
      value={value}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

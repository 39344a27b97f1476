import { Accordion, Stack } from '@mantine/core';
import { validateField } from '../ui/request/body.ts';
import { optionFields, optionValues } from '../ui/request/options.ts';
import { OptionInput } from './OptionInputs.tsx';
import { useOptionTexts } from './option-texts.ts';

/** Collapsed inputs for the options of a submit. */
export function Options() {
  const { texts, change, query } = useOptionTexts();
  const count = Object.keys(optionValues(texts)).length;
  const state = query === null ? ' (fix the highlighted values)' : count === 0 ? '' : ` (${count} set)`;
  return (
    <Accordion variant="contained">
      <Accordion.Item value="options">
        <Accordion.Control>{`Options${state}`}</Accordion.Control>
        <Accordion.Panel>
          <Stack>
            {optionFields.map((field) => (
              <OptionInput
                key={field.name}
                field={field}
                value={texts[field.name] ?? ''}
                texts={texts}
                change={(text) => change(field.name, text)}
                error={validateField(field, texts[field.name] ?? '')}
              />
            ))}
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}

import { Group, Paper, SimpleGrid, Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { randomId } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { AddButton, RemoveButton } from '../ui/actions/RowButtons.tsx';
import { showError } from '../ui/errors/describe.ts';
import { buildBody, type FieldTexts, splitLines, validateField } from '../ui/request/body.ts';
import { type Draft, sharedTexts } from '../ui/request/draft.ts';
import type { FieldShape, RequestShape } from '../ui/request/fields.ts';
import { expandRows, formLayout, maxRows, pastedRows } from '../ui/request/form-layout.ts';
import { Field, Fields } from './Field.tsx';
import { InlineCode } from './InlineCode.tsx';
import { type ModeProps, SubmitBar } from './SubmitBar.tsx';

interface FormModeProps extends ModeProps {
  /** Problems of the last submit by field path: "items.0.country". */
  problems: Record<string, string>;
  /** For a single unit: shows what submits the form, given the body, which is null while it is incomplete. */
  single?: (body: string | null) => ReactNode;
}

type Values = { own: Record<string, string>; units: Record<string, string>[]; lines: string };

/** Property with the React key of a row; no field has this name. */
const rowKey = '#';

const blank = (fields: readonly FieldShape[]) => Object.fromEntries(fields.map(({ name }) => [name, '']));
const blankRow = (fields: readonly FieldShape[]) => ({ ...blank(fields), [rowKey]: randomId() });

const namesOf = (fields: readonly FieldShape[]) => fields.map(({ name }) => name);

/** Returns whether a path is that of a unit's field: "items.0.country". */
const isUnitField = (path: string, list: string, name: string) => {
  const parts = path.split('.');
  return parts.length === 3 && parts[0] === list && parts[2] === name;
};

const validateFields = (fields: readonly FieldShape[], texts: FieldTexts, path: string) =>
  fields.flatMap((field) => {
    const problem = validateField(field, texts[field.name] ?? '');
    return problem ? [[`${path}.${field.name}`, problem]] : [];
  });

/** Returns the problem of a text with one unit per line, or '' if there is none. */
function validateLines(lines: string, max: number): string {
  const count = splitLines(lines).length;
  if (count === 0) return 'Enter at least one line.';
  return count > max ? `Enter at most ${max} lines (now ${count}).` : '';
}

/** Returns the problems of the values of the form by their paths. */
function validateValues(shape: RequestShape, { own, units, lines }: Values) {
  const { shared, row } = formLayout(shape);
  const linesError = shape.list && !row ? validateLines(lines, shape.list.max) : '';
  return Object.fromEntries([
    ...validateFields(shared, own, 'own'),
    ...units.flatMap((unit, index) => validateFields(row ?? [], unit, `units.${index}`)),
    ...(linesError === '' ? [] : [['lines', linesError]]),
  ]);
}

/** Returns the values of a draft; for one without units, a blank row. */
function initialValues(shape: RequestShape, draft: Draft): Values {
  const { row } = formLayout(shape);
  const rows = row === null ? [] : draft.units.map((unit) => ({ ...blankRow(row), ...valuesIn(row, unit) }));
  return {
    own: sharedTexts(shape, draft),
    units: row !== null && rows.length === 0 ? [blankRow(row)] : rows,
    lines: row === null ? draft.units.filter((unit) => typeof unit === 'string').join('\n') : '',
  };
}

const valuesIn = (fields: readonly FieldShape[], unit: FieldTexts | string): FieldTexts =>
  typeof unit === 'string' ? {} : Object.fromEntries(fields.map(({ name }) => [name, unit[name] ?? '']));

/** Form for the fields of a request and its units. */
export function FormMode({ jobType, shape, draft, busy, submit, problems, single }: FormModeProps) {
  const { list } = shape;
  const { shared, row: fields } = formLayout(shape);
  const form = useForm<Values>({
    initialValues: initialValues(shape, draft),
    validate: (values) => validateValues(shape, values),
  });
  const { own, units, lines } = form.values;
  const errorOf = (path: string, name: string) => form.errors[path] ?? problems[name];
  const sharedError = (name: string) =>
    errorOf(`own.${name}`, name) ??
    Object.entries(problems).find(([path]) => list && isUnitField(path, list.name, name))?.[1];
  const body = form.isValid()
    ? JSON.stringify(buildBody(shape, own, fields ? expandRows(shape, own, units) : splitLines(lines)))
    : null;
  const paste = (index: number, name: string, text: string) => {
    const pasted = fields && pastedRows(text, namesOf(fields), name);
    if (!fields || !pasted || single) return false;
    const rows = [...units];
    for (const [offset, values] of pasted.slice(0, maxRows - index).entries())
      rows[index + offset] = { ...(rows[index + offset] ?? blankRow(fields)), ...values };
    form.setFieldValue('units', rows);
    if (index + pasted.length > maxRows)
      showError(new Error(`The form takes ${maxRows} items. Use the CSV file tab for longer lists.`));
    return true;
  };
  return (
    <form noValidate onSubmit={form.onSubmit(() => void (body !== null && submit(body).catch(() => {})))}>
      <Stack>
        <Fields
          fields={shared}
          texts={own}
          change={(name, value) => form.setFieldValue(`own.${name}`, value)}
          errorOf={sharedError}
        />
        {list && !fields && (
          <Textarea
            label={list.label}
            description={<InlineCode text={list.help} />}
            autosize
            minRows={4}
            maxRows={16}
            withAsterisk
            {...form.getInputProps('lines')}
          />
        )}
        {list && fields && (
          <>
            {!single && <RowsHelp text={list.help} />}
            {units.map((unit, index) => (
              <Paper
                withBorder
                p="sm"
                radius="md"
                key={unit[rowKey]}
                component="fieldset"
                aria-label={`Item ${index + 1}`}
              >
                <Group align="flex-start" wrap="nowrap">
                  <SimpleGrid cols={{ base: 1, xs: 2, md: Math.min(fields.length, 4) }} style={{ flex: 1 }}>
                    {fields.map((field) => (
                      <Field
                        key={field.name}
                        field={field}
                        brief={index > 0}
                        value={unit[field.name] ?? ''}
                        change={(value) => form.setFieldValue(`units.${index}.${field.name}`, value)}
                        paste={(text) => paste(index, field.name, text)}
                        error={errorOf(`units.${index}.${field.name}`, `${list.name}.${index}.${field.name}`)}
                      />
                    ))}
                  </SimpleGrid>
                  {!single && (
                    <RemoveButton
                      label={`Remove item ${index + 1}`}
                      disabled={units.length === 1}
                      onClick={() => form.removeListItem('units', index)}
                    />
                  )}
                </Group>
              </Paper>
            ))}
          </>
        )}
        {single?.(body) ?? (
          <SubmitBar jobType={jobType} busy={busy} units={countUnits(shape, form.values)} body={body}>
            {fields && (
              <AddButton
                label="Add item"
                disabled={units.length >= Math.min(maxRows, list?.max ?? 1)}
                onClick={() => form.insertListItem('units', nextRow(units, fields))}
              />
            )}
          </SubmitBar>
        )}
      </Stack>
    </form>
  );
}

/** Returns a new row, with the choices of the last one, such as its country. */
function nextRow(units: readonly FieldTexts[], fields: readonly FieldShape[]): Record<string, string> {
  const last = units.at(-1) ?? {};
  const choices = fields.filter(({ type }) => type === 'choice').map(({ name }) => [name, last[name] ?? '']);
  return { ...blankRow(fields), ...Object.fromEntries(choices) };
}

function countUnits({ list }: RequestShape, { units, lines }: Values): number {
  if (!list) return 1;
  return list.fields ? units.length : splitLines(lines).length;
}

function RowsHelp({ text }: { text: string }) {
  return (
    <Text size="sm" c="dimmed">
      <InlineCode text={text} /> Paste a list to fill several rows.
    </Text>
  );
}

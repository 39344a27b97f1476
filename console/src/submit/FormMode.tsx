import { Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { randomId } from '@mantine/hooks';
import type { KeyboardEvent, ReactNode } from 'react';
import { flushSync } from 'react-dom';
import type { JobType } from '../../../src/contract/job-types.ts';
import { columnsOf } from '../../../src/contract/units/columns.ts';
import { AddButton, RemoveButton } from '../ui/actions/RowButtons.tsx';
import { InlineCode } from '../ui/layout/InlineCode.tsx';
import { buildBody, type FieldTexts, lackingLabels, validateField } from '../ui/request/body.ts';
import { type Draft, emptyDraft, fitsForm, sharedTexts } from '../ui/request/draft.ts';
import type { FieldShape, RequestShape } from '../ui/request/fields.ts';
import { expandRows, formLayout, maxRows, pastedRows } from '../ui/request/form-layout.ts';
import { pastedUnits, readAddress } from '../ui/request/table.ts';
import { Field, Fields } from './Field.tsx';
import { type ModeProps, SubmitBar } from './SubmitBar.tsx';
import { keptInput, useKeepInput } from './unsent.ts';

interface FormModeProps extends ModeProps {
  /** Name under which inputs are kept; none are by default. */
  form?: string;
  /** Problems of the last submit by field path: "items.0.country". */
  problems: Record<string, string>;
  /**
   * For a single unit: shows what submits the form, given the body, which is null while it is
   * incomplete.
   */
  single?: (body: string | null) => ReactNode;
  /** Shows a list that the form cannot show in another way. */
  showLong?: (draft: Draft) => void;
}

type Values = { own: Record<string, string>; units: Record<string, string>[] };

/** Property with the React key of a row; no field has this name. */
const rowKey = '#';

const blank = (fields: readonly FieldShape[]) =>
  Object.fromEntries(fields.map(({ name }) => [name, '']));
const blankRow = (fields: readonly FieldShape[]) => ({ ...blank(fields), [rowKey]: randomId() });

const namesOf = (fields: readonly FieldShape[]) => fields.map(({ name }) => name);

/** Returns whether a path leads to a field of a unit: "items.0.country". */
const isUnitField = (path: string, list: string, name: string) => {
  const parts = path.split('.');
  return parts.length === 3 && parts[0] === list && parts[2] === name;
};

const validateFields = (fields: readonly FieldShape[], texts: FieldTexts, path: string) =>
  fields.flatMap((field) => {
    const problem = validateField(field, texts[field.name] ?? '');
    return problem ? [[`${path}.${field.name}`, problem]] : [];
  });

/** Returns the problems of the values of the form by their paths. */
function validateValues(shape: RequestShape, { own, units }: Values) {
  const { shared, row } = formLayout(shape);
  return Object.fromEntries([
    ...validateFields(shared, own, 'own'),
    ...units.flatMap((unit, index) => validateFields(row ?? [], unit, `units.${index}`)),
  ]);
}

/** Returns the labels of the fields that are not filled in rightly. */
function lackingIn(shape: RequestShape, { own, units }: Values): string[] {
  const { shared, row } = formLayout(shape);
  const ofUnits = units.flatMap((unit) => lackingLabels(row ?? [], unit));
  return [...new Set([...lackingLabels(shared, own), ...ofUnits])];
}

/** Returns the values of a draft; for one without units that the form can show, a blank row. */
function initialValues(shape: RequestShape, draft: Draft): Values {
  const { row } = formLayout(shape);
  const own = sharedTexts(shape, draft);
  if (row === null) return { own, units: [] };
  if (draft.units.length === 0 || !fitsForm(shape, draft)) return { own, units: [blankRow(row)] };
  const units = draft.units.map((unit) => ({ ...blankRow(row), ...valuesIn(row, unit) }));
  return { own, units };
}

function valuesIn(fields: readonly FieldShape[], unit: FieldTexts | string): FieldTexts {
  if (typeof unit === 'string') return {};
  return Object.fromEntries(fields.map(({ name }) => [name, unit[name] ?? '']));
}

const bodyText = (shape: RequestShape, own: FieldTexts, units: readonly FieldTexts[]): string =>
  JSON.stringify(buildBody(shape, own, expandRows(shape, own, units)));

/** Returns the rows with those from an index on filled with pasted ones. */
function replaceRows<Row extends FieldTexts>(
  units: readonly Row[],
  index: number,
  rows: readonly FieldTexts[],
): FieldTexts[] {
  const pasted = rows.map((row, offset) => ({ ...units[index + offset], ...row }));
  return [...units.slice(0, index), ...pasted, ...units.slice(index + rows.length)];
}

/** Values of the form, which are kept under its name. */
function useValues(shape: RequestShape, draft: Draft, formName: string) {
  const form = useForm<Values>({
    initialValues: keptInput<Values>(formName, 'rows') ?? initialValues(shape, draft),
    validate: (values) => validateValues(shape, values),
  });
  useKeepInput(formName, 'rows', form.values);
  return form;
}

/** Form for the fields of a request and its units. */
export function FormMode({
  jobType,
  shape,
  draft,
  busy,
  submit,
  problems,
  single,
  showLong,
  form: formName = '',
}: FormModeProps) {
  const { list } = shape;
  const { shared, row: fields } = formLayout(shape);
  const form = useValues(shape, draft, formName);
  const { own, units } = form.values;
  const errorOf = (path: string, name: string) => form.errors[path] ?? problems[name];
  const sharedError = (name: string) => {
    const error = errorOf(`own.${name}`, name);
    if (error !== undefined || !list) return error;
    const unitProblem = Object.entries(problems).find(([path]) =>
      isUnitField(path, list.name, name),
    );
    return unitProblem?.[1];
  };
  const body = form.isValid() ? bodyText(shape, own, units) : null;
  const isFull = units.length >= Math.min(maxRows, list?.max ?? 1);
  const addRow = () => {
    if (fields && !isFull) form.insertListItem('units', nextRow(units, fields));
  };
  const paste = (index: number, name: string, text: string) => {
    if (!list || !fields || single) return false;
    const rows =
      pastedUnits(text, jobType) ??
      pastedRows(text, namesOf(fields), name)?.map((row) => readAddress(row, jobType));
    if (rows === undefined) return false;
    const filled = draftOfRows(shape, own, replaceRows(units, index, rows));
    if (fitsForm(shape, filled)) form.setValues(initialValues(shape, filled));
    else showLong?.(filled);
    return true;
  };
  return (
    <form
      noValidate
      onKeyDown={(event) => !single && moveOrSubmit(event, fields ? addRow : undefined)}
      onSubmit={form.onSubmit(() => void (body !== null && submit(body).catch(() => {})))}
    >
      <Stack>
        <Fields
          fields={shared}
          texts={own}
          change={(name, value) => form.setFieldValue(`own.${name}`, value)}
          errorOf={sharedError}
        />
        {list && fields && (
          <>
            {!single && <RowsHelp text={list.help} jobType={jobType} />}
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
                  <SimpleGrid
                    cols={{ base: 1, xs: 2, md: Math.min(fields.length, 4) }}
                    style={{ flex: 1 }}
                  >
                    {fields.map((field) => (
                      <Field
                        key={field.name}
                        field={field}
                        brief={index > 0}
                        value={unit[field.name] ?? ''}
                        change={(value) =>
                          form.setFieldValue(`units.${index}.${field.name}`, value)
                        }
                        paste={(text) => paste(index, field.name, text)}
                        error={errorOf(
                          `units.${index}.${field.name}`,
                          `${list.name}.${index}.${field.name}`,
                        )}
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
          <SubmitBar
            jobType={jobType}
            busy={busy}
            units={countUnits(shape, form.values)}
            body={body}
            lacking={lackingIn(shape, form.values)}
          >
            {fields && <AddButton label="Add item" disabled={isFull} onClick={addRow} />}
          </SubmitBar>
        )}
      </Stack>
    </form>
  );
}

/**
 * Handles the Enter key in a form: with Ctrl it submits; else it moves to the next row, and adds
 * one below the last. It never submits by itself, because a submit is charged.
 */
function moveOrSubmit(
  event: KeyboardEvent<HTMLFormElement>,
  addRow: (() => void) | undefined,
): void {
  const { currentTarget: form, target, key } = event;
  // Events of a dialog that the form opened arrive here, too.
  if (key !== 'Enter' || !(target instanceof HTMLElement) || !form.contains(target)) return;
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    form.requestSubmit();
    return;
  }
  if (!(target instanceof HTMLInputElement)) return;
  event.preventDefault();
  const row = target.closest('fieldset');
  if (row === null || addRow === undefined) return;
  if (row.nextElementSibling?.tagName !== 'FIELDSET') flushSync(addRow);
  const column = [...row.querySelectorAll('input, select')].indexOf(target);
  const next = row.nextElementSibling?.querySelectorAll<HTMLElement>('input, select')[column];
  next?.focus();
}

/**
 * Returns the request of the rows that are not blank, each with the shared values that it lacks.
 */
function draftOfRows({ list }: RequestShape, own: FieldTexts, rows: readonly FieldTexts[]): Draft {
  const names = namesOf(list?.fields ?? []);
  const ofUnits: Record<string, string> = {};
  const shared: Record<string, string> = {};
  for (const [name, text] of Object.entries(own)) {
    if (names.includes(name)) ofUnits[name] = text;
    else shared[name] = text;
  }
  const units: FieldTexts[] = [];
  for (const row of rows) {
    const setNames = names.filter((name) => row[name]);
    const texts = Object.fromEntries(setNames.map((name) => [name, row[name]!]));
    if (setNames.length > 0) units.push({ ...ofUnits, ...texts });
  }
  return { ...emptyDraft, own: shared, units };
}

/** Returns a new row, with the choices of the last one, such as its country. */
function nextRow(
  units: readonly FieldTexts[],
  fields: readonly FieldShape[],
): Record<string, string> {
  const last = units.at(-1) ?? {};
  const choices = fields
    .filter(({ type }) => type === 'choice')
    .map(({ name }) => [name, last[name] ?? '']);
  return { ...blankRow(fields), ...Object.fromEntries(choices) };
}

const countUnits = ({ list }: RequestShape, { units }: Values): number => (list ? units.length : 1);

const sourceList = new Intl.ListFormat('en', { type: 'disjunction' });

function RowsHelp({ text, jobType }: { text: string; jobType: JobType }) {
  // Addresses of products stand for no search.
  const sources = ['a list', 'product addresses', 'cells of a spreadsheet'].filter(
    (source) => source !== 'product addresses' || columnsOf(jobType).addressFields.length > 0,
  );
  return (
    <Text size="sm" c="dimmed">
      <InlineCode text={text} /> Paste {sourceList.format(sources)} to fill several rows.{' '}
      <Text span inherit visibleFrom="sm">
        Enter moves to the next row, Ctrl+Enter submits.
      </Text>
    </Text>
  );
}

import { ActionIcon, Button, Group, Paper, SimpleGrid, Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { randomId } from '@mantine/hooks';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { countText } from '../number/text.ts';
import { About } from './About.tsx';
import { bodyOf, linesOf, problemOf, type Texts } from './body.ts';
import { Field } from './Field.tsx';
import type { FieldShape, RequestShape } from './fields.ts';

/** More than these are for a file. */
const mostRows = 50;

interface FormModeProps {
  shape: RequestShape;
  busy: boolean;
  submit: (body: string) => Promise<void>;
  /** Problems of the last try, by field: "items.0.country". */
  problems: Record<string, string>;
}

type Values = { own: Record<string, string>; units: Record<string, string>[]; lines: string };

/** Where a row keeps what tells it from the others; no field is called that. */
const rowKey = '#';

const blank = (fields: readonly FieldShape[]) => Object.fromEntries(fields.map(({ name }) => [name, '']));
const blankRow = (fields: readonly FieldShape[]) => ({ ...blank(fields), [rowKey]: randomId() });

const problemsOf = (fields: readonly FieldShape[], texts: Texts, path: string) =>
  fields.flatMap((field) => {
    const problem = problemOf(field, texts[field.name] ?? '');
    return problem ? [[`${path}.${field.name}`, problem]] : [];
  });

/** Submits what a form asks for: the request's own fields and its units, one by one. */
export function FormMode({ shape, busy, submit, problems }: FormModeProps) {
  const { list } = shape;
  const fields = list?.fields ?? null;
  const form = useForm<Values>({
    initialValues: { own: blank(shape.fields), units: fields ? [blankRow(fields)] : [], lines: '' },
    validate: ({ own, units, lines }) => {
      const count = linesOf(lines).length;
      const of =
        list && !fields
          ? count === 0
            ? 'Enter at least one.'
            : count > list.most
              ? `At most ${list.most}; these are ${count}.`
              : ''
          : '';
      return Object.fromEntries([
        ...problemsOf(shape.fields, own, 'own'),
        ...units.flatMap((unit, at) => problemsOf(fields ?? [], unit, `units.${at}`)),
        ...(of === '' ? [] : [['lines', of]]),
      ]);
    },
  });
  const { own, units, lines } = form.values;
  const errorOf = (path: string, name: string) => form.errors[path] ?? problems[name];
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(() =>
        submit(JSON.stringify(bodyOf(shape, own, fields ? units : linesOf(lines)))).catch(() => {}),
      )}
    >
      <Stack>
        {shape.fields.map((field) => (
          <Field
            key={field.name}
            field={field}
            value={own[field.name] ?? ''}
            change={(value) => form.setFieldValue(`own.${field.name}`, value)}
            error={errorOf(`own.${field.name}`, field.name)}
          />
        ))}
        {list && !fields && (
          <Textarea
            label={list.name}
            description={<About text={`${list.about} One a line.`} />}
            autosize
            minRows={4}
            maxRows={16}
            withAsterisk
            {...form.getInputProps('lines')}
          />
        )}
        {list && fields && (
          <>
            <Text size="sm" c="dimmed">
              <About text={list.about} />
            </Text>
            {units.map((unit, at) => (
              <Paper
                withBorder
                p="sm"
                radius="md"
                key={unit[rowKey]}
                component="fieldset"
                aria-label={`Unit ${at + 1}`}
              >
                <Group align="flex-start" wrap="nowrap">
                  <SimpleGrid cols={{ base: 1, xs: 2, md: Math.min(fields.length, 4) }} style={{ flex: 1 }}>
                    {fields.map((field) => (
                      <Field
                        key={field.name}
                        field={field}
                        brief={at > 0}
                        value={unit[field.name] ?? ''}
                        change={(value) => form.setFieldValue(`units.${at}.${field.name}`, value)}
                        error={errorOf(`units.${at}.${field.name}`, `${list.name}.${at}.${field.name}`)}
                      />
                    ))}
                  </SimpleGrid>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    disabled={units.length === 1}
                    onClick={() => form.removeListItem('units', at)}
                    aria-label={`Remove unit ${at + 1}`}
                  >
                    <IconTrash size={18} aria-hidden />
                  </ActionIcon>
                </Group>
              </Paper>
            ))}
          </>
        )}
        <Group>
          <Button type="submit" loading={busy}>
            Submit{list && fields && units.length > 1 ? ` ${countText(units.length)}` : ''}
          </Button>
          {fields && (
            <Button
              variant="default"
              leftSection={<IconPlus size={16} aria-hidden />}
              disabled={units.length >= Math.min(mostRows, list?.most ?? 1)}
              onClick={() => form.insertListItem('units', { ...blankRow(fields), ...lastOf(units, fields) })}
            >
              One more
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

/** What a new row takes over from the last: its choices, such as the country. */
function lastOf(units: readonly Texts[], fields: readonly FieldShape[]): Record<string, string> {
  const last = units.at(-1) ?? {};
  return Object.fromEntries(
    fields.filter(({ sort }) => sort === 'choice').map(({ name }) => [name, last[name] ?? '']),
  );
}

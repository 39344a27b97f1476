import { Stack, Text } from '@mantine/core';
import { type KeyboardEvent, useMemo, useRef, useState } from 'react';
import { formatUnits } from '../../../src/present/text.ts';
import { InlineCode } from '../ui/layout/InlineCode.tsx';
import { lackingLabels, validateField } from '../ui/request/body.ts';
import { sharedTexts } from '../ui/request/draft.ts';
import type { ListShape } from '../ui/request/fields.ts';
import { formLayout } from '../ui/request/form-layout.ts';
import { type ParsedList, parseList } from '../ui/request/table.ts';
import { Fields } from './Field.tsx';
import { LineEditor } from './LineEditor.tsx';
import {
  bodyOf,
  linesOf,
  locateUnit,
  problemOfAll,
  problemsOfLines,
  readerOptions,
  sharedFields,
} from './list-request.ts';
import { type ModeProps, SubmitBar } from './SubmitBar.tsx';
import { useKeptState } from './unsent.ts';

interface ListModeProps extends ModeProps {
  list: ListShape;
  /** Name under which inputs are kept; '' if they are not. */
  form: string;
  /** Problems of the last submit by field path: "items.0.asin". */
  problems: Record<string, string>;
}

/** Fields that all units share, and a text with one unit per line. */
export function ListMode({
  jobType,
  shape,
  list,
  form,
  draft,
  busy,
  submit,
  problems,
}: ListModeProps) {
  const lineField = formLayout(shape).row?.[0];
  const [text, setText] = useKeptState(form, 'text', () => linesOf(shape, list, draft));
  const [own, setOwn] = useKeptState(form, 'shared', () => sharedTexts(shape, draft));
  const [isTried, setTried] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const options = useMemo(() => readerOptions(shape, list), [shape, list]);
  const parsed = useMemo(
    () => parseList(text, jobType, list, options),
    [text, jobType, list, options],
  );
  const body = useMemo(() => bodyOf(shape, own, parsed), [shape, own, parsed]);
  const isEmpty = text.trim() === '';
  const shared = sharedFields(shape, parsed.units);
  const errorOf = (name: string) => {
    const field = shared.find((each) => each.name === name);
    const problem = isTried && field ? validateField(field, own[name] ?? '') : null;
    return problems[name] ?? problemOfAll(problems, list, name) ?? problem;
  };
  const send = () => {
    setTried(true);
    const current = bodyOf(
      shape,
      own,
      parseList(area.current?.value ?? text, jobType, list, options),
    );
    if (current !== null && !busy) submit(current).catch(() => {});
  };
  return (
    <Stack onKeyDown={(event) => isSubmitKey(event) && send()}>
      <Fields
        fields={shared}
        texts={own}
        change={(name, value) => setOwn({ ...own, [name]: value })}
        errorOf={errorOf}
      />
      <LineEditor
        label={list.label}
        description={<InlineCode text={helpText(list, lineField?.label)} />}
        error={isTried && isEmpty ? 'Enter at least one line.' : ''}
        text={text}
        area={area}
        change={setText}
        problems={[...(isEmpty ? [] : parsed.problems), ...problemsOfLines(problems, list, parsed)]}
        summary={isEmpty ? emptySummary : summaryText(parsed)}
      />
      <SubmitBar
        jobType={jobType}
        busy={busy}
        units={parsed.units.length}
        body={body}
        // A list with problems may have the fields itself.
        locate={(path) => locateUnit(path, list, parsed)}
        lacking={isEmpty || parsed.problems.length > 0 ? [] : lackingLabels(shared, own)}
        onSubmit={send}
      />
    </Stack>
  );
}

const isSubmitKey = ({ key, ctrlKey, metaKey }: KeyboardEvent) =>
  key === 'Enter' && (ctrlKey || metaKey);

const helpText = ({ help }: ListShape, label: string | undefined): string =>
  label === undefined
    ? help
    : `One ${label} or address per line, or cells of a spreadsheet. ${help}`;

const emptySummary = (
  <Text span inherit visibleFrom="sm">
    Ctrl+Enter submits.
  </Text>
);

/** Describes what was read: "3 units. Columns not used: note." */
function summaryText({ units, problems, ignored }: ParsedList): string {
  if (problems.length > 0) return 'Correct the problems to submit the list.';
  const rest = ignored.length > 0 ? ` Columns not used: ${ignored.join(', ')}.` : '';
  return `${formatUnits(units.length)} in the list.${rest}`;
}

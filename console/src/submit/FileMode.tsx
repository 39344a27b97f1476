import { Code, Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { buildBody, type FieldTexts, validateField } from '../ui/request/body.ts';
import { fileOf, sharedTexts } from '../ui/request/draft.ts';
import type { ListShape, RequestShape } from '../ui/request/fields.ts';
import { expandRows, sharedOfFile, unitFills } from '../ui/request/form-layout.ts';
import { csvColumns, type ParsedCsv, parseCsv, templateColumns } from '../ui/request/table.ts';
import { Fields } from './Field.tsx';
import { FileDrop, FileProblems, TemplateButton } from './FileDrop.tsx';
import { type ModeProps, SubmitBar } from './SubmitBar.tsx';
import { useFileBytes } from './useFileBytes.ts';

const noTable: ParsedCsv = { units: [], problems: [], ignored: [] };

/** Returns the fields of units that the page asks for, without their values. */
const fillsOf = (shape: RequestShape) => unitFills(shape, {});

/** Returns units with the values that the page asks for, where they lack them. */
function filledUnits(
  shape: RequestShape,
  own: FieldTexts,
  units: readonly (FieldTexts | string)[],
): (FieldTexts | string)[] {
  return units.map((unit) =>
    typeof unit === 'string' ? unit : expandRows(shape, unitFills(shape, own), [unit])[0]!,
  );
}

/** Submits each row of a CSV file as a unit. */
export function FileMode({
  jobType,
  shape,
  list,
  draft,
  busy,
  submit,
}: ModeProps & { list: ListShape }) {
  const [file, setFile] = useState(() => fileOf(shape, draft));
  const [own, setOwn] = useState<FieldTexts>(() => sharedTexts(shape, draft));
  const [rejection, setRejection] = useState('');
  const chooseFile = (chosen: File) => {
    setRejection('');
    setFile(chosen);
  };
  const bytes = useFileBytes(file);
  const table = useMemo(
    () => (bytes === null ? noTable : parseCsv(bytes, jobType, list, fillsOf(shape))),
    [bytes, jobType, list, shape],
  );
  const problems = rejection === '' ? table.problems : [rejection, ...table.problems];
  const { units } = table;
  const shared = sharedOfFile(shape, units);
  const ready =
    units.length > 0 && shared.every((field) => !validateField(field, own[field.name] ?? ''));
  const body = useMemo(
    () => (ready ? JSON.stringify(buildBody(shape, own, filledUnits(shape, own, units))) : null),
    [ready, shape, own, units],
  );
  return (
    <Stack>
      <Text size="sm">
        The first row is the header. Columns: <Code>{csvColumns(list).join(', ')}</Code>
        {list.fields ? ' (* required)' : ''}
      </Text>
      <TemplateButton columns={templateColumns(list)} />
      <Fields
        fields={shared}
        texts={own}
        change={(name, value) => setOwn({ ...own, [name]: value })}
      />
      <FileDrop file={file} onFile={chooseFile} onReject={setRejection} />
      {table.ignored.length > 0 && (
        <Text size="sm" c="dimmed">
          Columns not used: {table.ignored.join(', ')}
        </Text>
      )}
      <FileProblems problems={problems} />
      <SubmitBar
        jobType={jobType}
        units={units.length}
        busy={busy}
        body={body}
        disabled={body === null}
        onSubmit={() => body !== null && submit(body).catch(() => {})}
      />
    </Stack>
  );
}

import {
  Button,
  FileButton,
  Flex,
  Group,
  Stack,
  Text,
  Textarea,
  UnstyledButton,
} from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconFileImport } from '@tabler/icons-react';
import { type ReactNode, type RefObject, useState } from 'react';
import { maxProblems } from '../../../src/contract/problem-texts.ts';
import { UnitsError } from '../../../src/contract/units/problem.ts';
import { decodeText } from '../../../src/contract/units/text.ts';
import { formatCount } from '../../../src/present/text.ts';
import type { ListProblem } from '../ui/request/table.ts';

/** Largest file that is read into the text. */
const maxBytes = 8 * 1024 * 1024;

/** Maximum problems that are listed. */
const maxShown = 50;

interface LineEditorProps {
  label: string;
  description: ReactNode;
  /** Problem of the whole input; '' if there is none. */
  error: string;
  /** Text at first. */
  text: string;
  area: RefObject<HTMLTextAreaElement | null>;
  /** Called when the input pauses. */
  change: (text: string) => void;
  problems: readonly ListProblem[];
  /** What was read from the text. */
  summary: ReactNode;
}

/** Time without a change after which the text is read, in milliseconds. */
const settleMs = 200;

/** Text with one unit per line, beside the problems of its lines. It takes files, too. */
export function LineEditor({
  label,
  description,
  error,
  text,
  area,
  change,
  problems,
  summary,
}: LineEditorProps) {
  // Not controlled: a key renders nothing, so that long lists stay quick to type in.
  const changeLater = useDebouncedCallback(change, settleMs);
  const replace = (content: string) => {
    if (area.current) area.current.value = content;
    change(content);
  };
  const [fileProblem, setFileProblem] = useState('');
  const open = (file: File | null | undefined) => {
    if (!file) return;
    setFileProblem('');
    readFile(file).then(replace, (problem: Error) => setFileProblem(problem.message));
  };
  const listed = [...(fileProblem === '' ? [] : [{ message: fileProblem }]), ...problems];
  return (
    <>
      <Flex gap="md" wrap="wrap" align="stretch">
        <Textarea
          ref={area}
          label={label}
          description={description}
          error={error}
          rows={12}
          resize="vertical"
          spellCheck={false}
          withAsterisk
          flex="1 1 420px"
          maw={720}
          styles={{
            input: { fontFamily: 'var(--mantine-font-family-monospace)', whiteSpace: 'pre' },
          }}
          defaultValue={text}
          onChange={({ currentTarget }) => changeLater(currentTarget.value)}
          onBlur={({ currentTarget }) => change(currentTarget.value)}
          onDrop={(event) => {
            if (event.dataTransfer.files.length === 0) return;
            event.preventDefault();
            open(event.dataTransfer.files[0]);
          }}
        />
        {listed.length > 0 && (
          <Problems
            problems={listed}
            select={(line) => area.current && selectLine(area.current, line)}
          />
        )}
      </Flex>
      <Group gap="sm">
        <FileButton accept=".csv,.tsv,.txt,text/plain,text/csv" onChange={open}>
          {(props) => (
            <Button
              {...props}
              size="xs"
              variant="default"
              leftSection={<IconFileImport size={16} aria-hidden />}
            >
              Open a file
            </Button>
          )}
        </FileButton>
        <Text size="sm" c="dimmed" role="status" aria-label="List">
          {summary}
        </Text>
      </Group>
    </>
  );
}

/** Returns the text of a file. Throws an error with the reason for other files. */
async function readFile(file: File): Promise<string> {
  if (file.size > maxBytes) throw new Error(`${file.name} is larger than 8 MiB.`);
  try {
    return decodeText(new Uint8Array(await file.arrayBuffer()));
  } catch (error) {
    if (error instanceof UnitsError) throw new Error(`${file.name}: ${error.message}.`);
    throw error;
  }
}

/** Selects a line of a text area, and scrolls to it. */
function selectLine(area: HTMLTextAreaElement, line: number): void {
  const lines = area.value.split('\n');
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  area.scrollTop = (area.scrollHeight / Math.max(1, lines.length)) * Math.max(0, line - 4);
}

interface ProblemsProps {
  problems: readonly ListProblem[];
  select: (line: number) => void;
}

/** Problems of a text, each with its line, which a click selects. */
function Problems({ problems, select }: ProblemsProps) {
  const more = problems.length - maxShown;
  return (
    <Stack
      gap={2}
      flex="1 1 260px"
      mah={320}
      role="alert"
      aria-label="Problems"
      style={{ overflow: 'auto' }}
    >
      {problems.slice(0, maxShown).map(({ line, message }) => (
        <Text size="sm" c="var(--mantine-color-error)" key={`${line} ${message}`}>
          {line !== undefined && (
            <UnstyledButton fz="inherit" td="underline" onClick={() => select(line)}>
              Line {line}
            </UnstyledButton>
          )}
          {line !== undefined && ': '}
          {message}
        </Text>
      ))}
      {more > 0 && (
        <Text size="sm" c="dimmed">
          {problems.length < maxProblems ? `And ${formatCount(more)} more.` : 'And more.'}
        </Text>
      )}
    </Stack>
  );
}

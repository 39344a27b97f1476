import { stripVTControlCharacters, styleText } from 'node:util';
import type { DescMessage, Message } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { messageWriter } from '../../contract/json/message-writer.ts';

/** Writes text to standard output; resolves once it may go on. */
export type Write = (text: string) => Promise<void>;

/** A column of a table. */
export interface Column<Row> {
  name: string;
  text(row: Row): string;
  /** Colours the text. */
  paint?(text: string): string;
  /** Numbers stand at the right. */
  isNumber?: boolean;
}

/** One message as a line of JSON, in its REST form. */
export const jsonLine = (schema: DescMessage, message: Message): string =>
  `${messageWriter(schema)(message)}\n`;

/** Rows in columns as wide as they need to be, under their names; '' for no rows. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const cells = rows.map((row) =>
    columns.map(({ text, paint }) => {
      const shown = plain(text(row));
      return paint === undefined ? shown : paint(shown);
    }),
  );
  const widths = columns.map(({ name }, at) =>
    Math.max(name.length, ...cells.map((row) => stripVTControlCharacters(row[at]!).length)),
  );
  const line = (texts: readonly string[]) =>
    texts
      .map((text, at) => {
        const fill = ' '.repeat(Math.max(0, widths[at]! - stripVTControlCharacters(text).length));
        return columns[at]!.isNumber ? fill + text : text + fill;
      })
      .join('  ')
      .trimEnd();
  const head = styleText('dim', line(columns.map(({ name }) => name)), { stream: process.stdout });
  return `${[head, ...cells.map(line)].join('\n')}\n`;
}

/** Names and values, one a line, a value coloured where that is said; empty values are left out. */
export function pairs(
  values: readonly (readonly [name: string, value: string, paint?: (text: string) => string])[],
): string {
  const shown = values.filter(([, value]) => value !== '');
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown
    .map(([name, value, paint = (text: string) => text]) => {
      const head = styleText('dim', name.padEnd(width), { stream: process.stdout });
      return `${head}  ${paint(plain(value))}\n`;
    })
    .join('');
}

/** A count as people read it: "12,345". */
export const count = (value: number | bigint): string => value.toLocaleString('en-US');

/** Formats a count with its noun: "1 unit", "2,000 units". */
export const counted = (value: number, noun: string, plural = `${noun}s`): string =>
  `${count(value)} ${value === 1 ? noun : plural}`;

/** A time to the second, UTC; '' for none. */
export const time = (timestamp: Timestamp | undefined): string =>
  timestamp === undefined ? '' : timestampDate(timestamp).toISOString().replace('T', ' ').slice(0, 19);

const styles: Readonly<Record<string, 'green' | 'yellow' | 'red'>> = {
  completed: 'green',
  delivered: 'green',
  partial_complete: 'yellow',
  awaiting_approval: 'yellow',
  failed: 'red',
  rejected: 'red',
  terminated: 'red',
};

/** A state, in colour where a terminal has some and NO_COLOR is not set. */
export function state(word: string): string {
  const style = styles[word];
  return style === undefined ? word : styleText(style, word, { stream: process.stdout });
}

/** A span as people say it: "1:05:09", "5:09"; "?" where it is not known. */
export function span(seconds: number | undefined): string {
  if (seconds === undefined || !Number.isFinite(seconds)) return '?';
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const tail = `${hours > 0 ? String(minutes).padStart(2, '0') : minutes}:${String(rest).padStart(2, '0')}`;
  return hours > 0 ? `${hours}:${tail}` : tail;
}

/** Text from outside on one line, without what a terminal would obey. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is taken out.
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
}

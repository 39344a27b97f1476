import { styleText } from 'node:util';
import type { DescMessage, Message } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import stringWidth from 'string-width';
import { messageWriter } from '../../contract/json/message-writer.ts';
import { plain } from '../../contract/plain.ts';
import { statusTone, type Tone } from '../../present/status.ts';
import { formatRelativeTime } from '../../present/time.ts';

export { plain } from '../../contract/plain.ts';
export { counted, formatCount as count } from '../../present/text.ts';

export interface PrintedColumn<Row> {
  name: string;
  text(row: Row, display: Display): string;
  paint?(text: string, display: Display): string;
  /** Whether the column is right-aligned. */
  isNumber?: boolean;
}

/** Formats for one output. Its functions need no receiver. */
export interface Display {
  /**
   * Formats rows as a table with a header, aligned by the columns that a terminal shows. Returns ''
   * without rows.
   */
  table<Row>(columns: readonly PrintedColumn<Row>[], rows: readonly Row[]): string;
  /** Formats names and values, one per line, without empty values. */
  pairs(
    values: readonly (readonly [name: string, value: string, paint?: (text: string) => string])[],
  ): string;
  /**
   * Formats a time: relative to now on a terminal, else in ISO 8601 to the second. Returns ''
   * without a time.
   */
  time(timestamp: Timestamp | undefined): string;
  /** Formats a status, in color if the output has colors. */
  state(word: string): string;
  /** Colors a text if the output has colors. */
  paint(color: Color, text: string): string;
}

type Color = 'dim' | 'green' | 'yellow' | 'red';

/** Properties of an output. */
export interface DisplayOptions {
  isTerminal: boolean;
  hasColors: boolean;
}

/** Formats a message as a line of JSON in its REST form. */
export const jsonLine = (schema: DescMessage, message: Message): string =>
  `${messageWriter(schema)(message)}\n`;

/** Creates the formats of an output. */
export function createDisplay({ isTerminal, hasColors }: DisplayOptions): Display {
  const paint: Display['paint'] = (color, text) =>
    hasColors ? styleText(color, text, { validateStream: false }) : text;
  const display: Display = {
    table: (columns, rows) => table(columns, rows, display),
    pairs(values) {
      const cellText = values.filter(([, value]) => value !== '');
      const width = Math.max(0, ...cellText.map(([name]) => name.length));
      return cellText
        .map(
          ([name, value, color = String]) =>
            `${paint('dim', name.padEnd(width))}  ${color(plain(value))}\n`,
        )
        .join('');
    },
    time(timestamp) {
      if (timestamp === undefined) return '';
      const date = timestampDate(timestamp);
      return isTerminal ? formatRelativeTime(date, Date.now()) : isoTime(date);
    },
    state(word) {
      const color = colors[statusTone(word)];
      return color === undefined ? word : paint(color, word);
    },
    paint,
  };
  return display;
}

function table<Row>(
  columns: readonly PrintedColumn<Row>[],
  rows: readonly Row[],
  display: Display,
): string {
  if (rows.length === 0) return '';
  const cells = rows.map((row) =>
    columns.map(({ text, paint }) => {
      const cellText = plain(text(row, display));
      return paint === undefined ? cellText : paint(cellText, display);
    }),
  );
  const widths = columns.map(({ name }, at) =>
    Math.max(name.length, ...cells.map((row) => stringWidth(row[at]!))),
  );
  const line = (texts: readonly string[]) =>
    texts
      .map((text, at) => {
        const fill = ' '.repeat(widths[at]! - stringWidth(text));
        return columns[at]!.isNumber ? fill + text : text + fill;
      })
      .join('  ')
      .trimEnd();
  const head = display.paint('dim', line(columns.map(({ name }) => name)));
  return `${[head, ...cells.map(line)].join('\n')}\n`;
}

const isoTime = (date: Date) => `${date.toISOString().slice(0, 19)}Z`;

const colors: Readonly<Partial<Record<Tone, Color>>> = {
  good: 'green',
  warning: 'yellow',
  bad: 'red',
};

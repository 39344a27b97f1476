import { csvField } from '../../../base/csv.ts';
import { isObject, type Json } from '../../../base/json.ts';
import type { TextLine } from '../../../contract/units/lines.ts';
import { UsageError } from '../exit.ts';

export const formats = ['csv', 'json', 'jsonl', 'lines'] as const;

export type UnitFileFormat = (typeof formats)[number];

/** Parsed content of a file. */
export type Content =
  /** Read as the units of its job type, or by the service. */
  | { format: 'csv'; text: string }
  | { format: 'json'; value: Json }
  | { format: 'jsonl'; values: { line: number; value: Json }[] }
  | { format: 'lines'; lines: TextLine[] };

/** Detects the format of a file by its extension, or else by its first characters. */
export function formatOf(name: string, text: string): UnitFileFormat {
  const ending = /\.(csv|json|jsonl|ndjson|txt)$/i.exec(name)?.[1]?.toLowerCase();
  if (ending === 'csv' || ending === 'json' || ending === 'jsonl') return ending;
  if (ending === 'ndjson') return 'jsonl';
  if (ending === 'txt') return 'lines';
  const start = text.trimStart();
  if (start.startsWith('[')) return 'json';
  // One object on several lines is JSON; one object per line is JSON Lines.
  if (start.startsWith('{')) return parses(text) ? 'json' : 'jsonl';
  return /^(?:https?:)?\/\//.test(start) ? 'lines' : 'csv';
}

/** Parses a file. Throws a UsageError that names the file and line. */
export function parseContent(name: string, text: string, format: UnitFileFormat): Content {
  const clean = text.replace(/^\uFEFF/, '');
  switch (format) {
    case 'csv':
      return { format, text: clean };
    case 'json':
      return { format, value: parseJson(name, clean) };
    case 'jsonl':
      return {
        format,
        values: numbered(clean).map(({ line, text: json }) => ({
          line,
          value: parseJson(`${name}:${line}`, json),
        })),
      };
    case 'lines':
      return { format, lines: numbered(clean) };
  }
}

/**
 * Formats objects as CSV with the union of their field names, for the service: the values are
 * exact.
 */
export function toCsv(name: string, values: readonly Json[]): string {
  const rows = values.map((value, at) => {
    if (!isObject(value)) throw new UsageError(`${name}: entry ${at + 1} is not an object`);
    return value;
  });
  const header = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cell = (value: unknown) => {
    if (value === undefined || value === null) return '';
    return csvField(typeof value === 'object' ? JSON.stringify(value) : String(value));
  };
  return [header, ...rows.map((row) => header.map((column) => row[column]))]
    .map((cells) => `${cells.map(cell).join(',')}\n`)
    .join('');
}

/** Returns the lines of a text that are not blank. */
function numbered(text: string): TextLine[] {
  return text
    .split(/\r?\n/)
    .map((line, at) => ({ line: at + 1, text: line.trim() }))
    .filter((line) => line.text !== '');
}

function parseJson(name: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new UsageError(`${name} is not valid JSON: ${(error as Error).message}`);
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

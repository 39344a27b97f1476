import { csvField } from '../contract/units/csv-field.ts';

export { csvField };

/** Returns the text of a field written by csvField(). */
export function readCsvField(field: string): string {
  if (field.startsWith('"')) return field.slice(1, -1).replaceAll('""', '"');
  return field;
}

/** Characters with which a formula starts. Full-width forms count, too. */
const sign = '[=+\\-@＝＋－＠]';

/**
 * Position at which a spreadsheet would start a formula: at the start, and after a character that
 * separates cells in some language or ends a line. A tab or line end at the start would be part of
 * the previous cell.
 */
const formula = new RegExp(`(?<=^|[;|\\t\\r\\n])(?=${sign})|^(?=[\\t\\r\\n])`, 'g');

const signAlone = new RegExp(`^${sign}$`);
const nestedSign = new RegExp(`(?<=[;|])${sign}`, 'g');

/**
 * Returns user-supplied text that a spreadsheet does not evaluate as a formula: inserts an
 * apostrophe, which most spreadsheets hide, before what looks like one.
 */
export function plainText(text: string): string {
  // A sign alone, such as the dash for no region, is nothing to evaluate.
  if (signAlone.test(text)) return text;
  return text.replace(formula, "'");
}

/**
 * Returns JSON of the same value that a spreadsheet does not evaluate as a formula: escapes the
 * sign of a formula within strings. JSON has semicolons and bars in strings only.
 */
export function plainJson(json: string): string {
  return json.replace(
    nestedSign,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Value of a cell. Objects and lists are written as JSON. Null is an empty field, and the empty
 * string is `""`.
 */
export type CsvValue = string | number | bigint | boolean | object | null;

/**
 * Formats a line of a CSV file. Escapes texts that a spreadsheet would evaluate; numbers stay
 * unchanged.
 */
export function csvLine(values: readonly CsvValue[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

/** Formats a cell of csvLine(). */
export function csvCell(value: CsvValue): string {
  if (value === null) return '';
  if (typeof value === 'string') return value === '' ? '""' : csvField(plainText(value));
  if (typeof value === 'object') return csvField(plainJson(JSON.stringify(value)));
  return String(value);
}

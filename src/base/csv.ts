/** Formats a field of a CSV file (RFC 4180); quotes it only if necessary. */
export function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns the text of a field written by csvField(). */
export function readCsvField(field: string): string {
  return field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field;
}

/** Text that a spreadsheet would treat as a formula or as part of the previous cell. */
const formula = /^[=+\-@\t\r\n]/;

/**
 * Returns user-supplied text that a spreadsheet does not evaluate as a formula: prepends an apostrophe, which most
 * spreadsheets hide, to text that looks like one.
 */
export function plainText(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

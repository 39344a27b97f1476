/** A field of a CSV file as RFC 4180 has it: in quotes where it needs them. */
export function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns the text of a field that csvField() wrote. */
export function readCsvField(field: string): string {
  return field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field;
}

/** Text that a spreadsheet takes for a formula, or for the rest of the cell before. */
const formula = /^[=+\-@\t\r\n]/;

/**
 * Text that people wrote, for a file that others open: a spreadsheet does not reckon with it. What it would
 * take for a formula has an apostrophe before it, which most of them do not show.
 */
export function plainText(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

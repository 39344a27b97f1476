/** Formats a field of a CSV file (RFC 4180); quotes it only if necessary. */
export function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Selection and order of records. */
export interface RecordFilter {
  search: string;
  /** Conditions, as the service reads them: `item.price>=10`. */
  conditions: readonly string[];
  status: '' | 'SUCCESS' | 'FAILED';
  /** Column to sort by, with `-` before it for descending order; '' for the order submitted. */
  sort: string;
}

/** Selects everything. */
export const emptyRecordFilter: RecordFilter = { search: '', conditions: [], status: '', sort: '' };

/** Formats that records are exported in, with their names and extensions. */
export const exportFormats = [
  { format: 'csv', label: 'CSV', extension: '.csv' },
  { format: 'csv-bom', label: 'CSV for Excel', extension: '.csv' },
  { format: 'parquet', label: 'Parquet', extension: '.parquet' },
  { format: 'jsonl', label: 'JSON Lines', extension: '.jsonl' },
  { format: 'json', label: 'JSON', extension: '.json' },
] as const;

/** Returns the value at a dotted path of a record as text; '' if it has none. */
export function valueText(record: unknown, path: string): string {
  let value = record;
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return '';
    value = (value as Record<string, unknown>)[step];
  }
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Formats a price with its currency; an unknown currency is shown as it is. */
export function formatPrice(price: number, currency: string): string {
  try {
    return new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(price);
  } catch {
    return `${price} ${currency}`.trim();
  }
}

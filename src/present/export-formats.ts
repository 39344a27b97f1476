/** Formats that records are exported in, with their names and extensions. */
export const exportFormats = [
  { format: 'csv', label: 'CSV', extension: '.csv' },
  { format: 'csv-bom', label: 'CSV for Excel', extension: '.csv' },
  { format: 'parquet', label: 'Parquet', extension: '.parquet' },
  { format: 'jsonl', label: 'JSON Lines', extension: '.jsonl' },
  { format: 'json', label: 'JSON', extension: '.json' },
] as const;

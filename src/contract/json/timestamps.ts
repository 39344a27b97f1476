import { type Timestamp, timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { quote } from '../problem-texts.ts';
import { type Reading, refuse } from './reading.ts';

const form = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)$/;

/**
 * Reads a Timestamp from ISO 8601 with an offset, to the millisecond; returns `refused` after recording a
 * problem.
 */
export function readTimestamp(value: unknown, reading: Reading): unknown {
  if (typeof value !== 'string')
    return refuse(reading, { type: 'datetime_type', msg: 'Input should be a date and time in ISO 8601' });
  const date = new Date(form.test(value) ? value.replace(/([+-]\d\d)(\d\d)$/, '$1:$2') : Number.NaN);
  if (Number.isNaN(date.getTime())) {
    return refuse(reading, {
      type: 'datetime_from_date_parsing',
      msg: `Input should be a date and time in ISO 8601 with an offset, not ${quote(value)}`,
    });
  }
  return timestampFromDate(date);
}

/** Formats a Timestamp as ISO 8601 in UTC, to the millisecond. */
export function showTimestamp(timestamp: Timestamp): string {
  return timestampDate(timestamp).toISOString();
}

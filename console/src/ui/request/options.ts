import { fromJson, getOption } from '@bufbuild/protobuf';
import {
  type SubmitOptions,
  SubmitOptionsSchema,
} from '../../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { form as formOption } from '../../../../gen/gleaner/options/v1/options_pb.ts';
import { type FieldTexts, parseValues, validateField } from './body.ts';
import { type FieldShape, readField } from './fields.ts';

/** Options of a submit that forms show. The console requests quotes itself. */
export const optionFields: readonly FieldShape[] = SubmitOptionsSchema.fields
  .filter((field) => field !== SubmitOptionsSchema.field.validateOnly)
  .filter((field) => getOption(field, formOption).label !== '')
  .map(readField);

/** Returns the options that have a value, by name. */
export const optionValues = (texts: FieldTexts) => parseValues(optionFields, texts);

/**
 * Returns the query of a submit with the options, without a question mark; null if one of them is
 * invalid.
 */
export function optionQuery(texts: FieldTexts): string | null {
  if (optionFields.some((field) => validateField(field, texts[field.name] ?? '') !== null))
    return null;
  const values = Object.entries(optionValues(texts));
  return new URLSearchParams(values.map(([name, value]) => [name, String(value)])).toString();
}

/** Returns the message of valid options; undefined if there are none. */
export function optionMessage(texts: FieldTexts): SubmitOptions | undefined {
  const values = optionValues(texts);
  if (Object.keys(values).length === 0) return undefined;
  return fromJson(SubmitOptionsSchema, values);
}

/** Returns a path with the queries that are not empty. */
export const withQuery = (path: string, ...queries: string[]): string =>
  [path, queries.filter(Boolean).join('&')].filter(Boolean).join('?');

/** Minimum fill of a field in percent, as texts of a form. */
export interface HoldRow {
  field: string;
  percent: string;
}

/** Reads the rows of the option `hold`: "price.amount:95,title:99". */
export const readHold = (text: string): HoldRow[] =>
  text === ''
    ? []
    : text.split(',').map((part) => {
        const end = part.lastIndexOf(':');
        return end < 0
          ? { field: part, percent: '' }
          : { field: part.slice(0, end), percent: part.slice(end + 1) };
      });

export const writeHold = (rows: readonly HoldRow[]): string =>
  rows.map(({ field, percent }) => `${field.trim()}:${percent}`).join(',');

import { toJson } from '@bufbuild/protobuf';
import { base64Decode, base64Encode } from '@bufbuild/protobuf/wire';
import type { Job, Unit } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import {
  type SubmitOptions,
  SubmitOptionsSchema,
} from '../../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { buildBody, type FieldTexts } from './body.ts';
import type { RequestShape } from './fields.ts';
import { formLayout, hasLines, maxRows } from './form-layout.ts';
import { csvText } from './table.ts';

/** Request with which the submit page starts. */
export interface Draft {
  /** Texts of the request's own fields. */
  own: FieldTexts;
  /** Units of the request: texts by field, or one text each; for a file, its rows. */
  units: readonly (FieldTexts | string)[];
  /** File of the request, if it is known as it was sent. */
  file?: Uint8Array<ArrayBuffer>;
  options: FieldTexts;
}

/** Draft without values. */
export const emptyDraft: Draft = { own: {}, units: [], options: {} };

const textsOf = (values: object): FieldTexts =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== null && typeof value !== 'object')
      .map(([name, value]) => [name, String(value)]),
  );

const fileField = ({ fields }: RequestShape) => fields.find(({ type }) => type === 'file');

/** Returns the request of a job from its units. */
export function draftOf(
  shape: RequestShape,
  { region, options }: Pick<Job, 'region' | 'options'>,
  units: readonly Pick<Unit, 'input' | 'key' | 'region'>[],
): Draft {
  // Requests name the region `country`, `region`, or `site`. Fields that a request lacks are left
  // out later.
  const placeTexts = (code: string): FieldTexts => {
    if (code === '') return {};
    return { country: code, region: code, site: code };
  };
  const inputs = units.map((unit) => ({
    ...placeTexts(unit.region || region),
    ...textsOf(JSON.parse(unit.input) as object),
  }));
  return {
    own: shape.list || fileField(shape) ? placeTexts(region) : (inputs[0] ?? {}),
    units: shape.list && !shape.list.fields ? units.map(({ key }) => key) : inputs,
    options: optionTexts(options),
  };
}

function optionTexts(options: SubmitOptions | undefined): FieldTexts {
  if (options === undefined) return {};
  const values = toJson(SubmitOptionsSchema, options, { useProtoFieldName: true });
  return textsOf(values as object);
}

/** Returns the draft of the JSON text of a schedule's request, the reverse of requestTextOf(). */
export function draftOfRequest(
  shape: RequestShape,
  request: string,
  options: SubmitOptions | undefined,
): Draft {
  const body = JSON.parse(request) as Record<string, unknown>;
  const file = fileField(shape);
  const { [file?.name ?? '']: content, ...own } = body;
  const units = shape.list ? ((body[shape.list.name] ?? []) as (object | string)[]) : [];
  return {
    own: textsOf(own),
    units: units.map((unit) => (typeof unit === 'string' ? unit : textsOf(unit))),
    ...(typeof content === 'string' ? { file: base64Decode(content) } : {}),
    options: optionTexts(options),
  };
}

/** Returns the text of a unit's field; '' for a unit that is a string. */
const textIn = (unit: FieldTexts | string, name: string): string =>
  typeof unit === 'string' ? '' : (unit[name] ?? '');

/**
 * Returns the value that all units have in a field, or that of the request; null if the units
 * differ.
 */
export function sharedText(name: string, { own, units }: Draft): string | null {
  const [first = '', ...otherValues] = new Set(units.map((unit) => textIn(unit, name)));
  if (otherValues.length > 0) return null;
  return own[name] || first;
}

/**
 * Returns whether the form can show a draft: lines, or few rows that agree on the values that the
 * form asks for once.
 */
export function fitsForm(shape: RequestShape, draft: Draft): boolean {
  const { shared, row } = formLayout(shape);
  return (
    row === null ||
    hasLines(shape) ||
    (draft.units.length <= maxRows && shared.every(({ name }) => sharedText(name, draft) !== null))
  );
}

/** Returns the texts of the fields that the form asks for once. */
export const sharedTexts = (shape: RequestShape, draft: Draft): Record<string, string> =>
  Object.fromEntries(
    formLayout(shape).shared.map(({ name }) => [name, sharedText(name, draft) ?? '']),
  );

export const bodyOf = (shape: RequestShape, draft: Draft): Record<string, unknown> =>
  buildBody(shape, { ...draft.own, ...sharedTexts(shape, draft) }, draft.units);

/** Returns the units of a draft as a CSV file; null for a draft without units. */
export function fileOf(shape: RequestShape, { units, file }: Draft): File | null {
  if (file) return new File([file], 'items.csv', { type: 'text/csv' });
  if (units.length === 0) return null;
  const columns = fileField(shape)?.columns ??
    shape.list?.fields?.map(({ name }) => name) ?? ['url'];
  const rows = units.map((unit) =>
    columns.map((name) => (typeof unit === 'string' ? unit : (unit[name] ?? ''))),
  );
  const isUsed = columns.map((_name, index) => rows.some((row) => row[index] !== ''));
  const used = (row: readonly string[]) => row.filter((_text, index) => isUsed[index]);
  return new File([csvText([columns, ...rows].map(used))], 'items.csv', { type: 'text/csv' });
}

/**
 * Returns a body as the JSON text of a schedule's request: files in base64, and the texts of a form
 * as their values.
 */
export async function requestTextOf(body: string | FormData): Promise<string> {
  if (typeof body === 'string') return body;
  const request: Record<string, string | boolean> = {};
  for (const [name, value] of body.entries())
    request[name] =
      typeof value === 'string'
        ? textValue(value)
        : base64Encode(new Uint8Array(await value.arrayBuffer()));
  return JSON.stringify(request);
}

function textValue(text: string): string | boolean {
  if (['true', 'false'].includes(text)) return text === 'true';
  return text;
}

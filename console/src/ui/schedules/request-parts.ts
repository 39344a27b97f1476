import { toJson } from '@bufbuild/protobuf';
import {
  type SubmitOptions,
  SubmitOptionsSchema,
} from '../../../../gen/gleaner/job/v1/submit_options_pb.ts';
import type { JobType } from '../../../../src/contract/job-types.ts';
import { regionText } from '../../../../src/present/text.ts';
import { readRequestShape } from '../request/fields.ts';
import { optionFields } from '../request/options.ts';

/** What a request collects, in words. */
export interface RequestWords {
  /** Fields of the whole request with their labels. */
  fields: readonly (readonly [label: string, text: string])[];
  /** First units, each in words. */
  units: readonly string[];
  /** Units of the request. */
  total: number;
}

/** Maximum units that are listed. */
const maxListed = 5;

const isPlain = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

/** Longest text of a field; files are longer. */
const maxText = 200;

const placeNames = new Set(['country', 'region']);

function unitText(unit: unknown): string {
  if (isPlain(unit)) return String(unit);
  if (typeof unit !== 'object' || unit === null) return '';
  return Object.values(unit).filter(isPlain).map(String).join(' · ');
}

/** Describes the JSON text of a request. */
export function requestParts({ method }: JobType, request: string): RequestWords {
  const { fields, list } = readRequestShape(method.input);
  const body = JSON.parse(request) as Record<string, unknown>;
  const units = list && Array.isArray(body[list.name]) ? (body[list.name] as unknown[]) : [];
  return {
    fields: fields.flatMap(({ name, label }) => {
      const value = body[name];
      if (!isPlain(value) || value === '') return [];
      const text = placeNames.has(name) ? regionText(String(value)) : String(value);
      return [[label, text.length > maxText ? 'A file' : text] as const];
    }),
    units: units.slice(0, maxListed).map(unitText),
    total: units.length,
  };
}

/** Returns the options of a submit with their labels. */
export function optionParts(options: SubmitOptions | undefined): [label: string, text: string][] {
  if (!options) return [];
  const values = toJson(SubmitOptionsSchema, options, { useProtoFieldName: true }) as Record<
    string,
    unknown
  >;
  return optionFields.flatMap(({ name, label }): [string, string][] => {
    const value = values[name];
    if (!isPlain(value) || value === '' || value === false) return [];
    return [[label, String(value) === 'true' ? 'Yes' : String(value)]];
  });
}

import { createHash } from 'node:crypto';
import type { HoldReason, JobHold, QualityCounts } from '../store/documents.ts';
import {
  compileFields,
  createRecordCheck,
  type Field,
  type RecordCheck,
  type RecordFields,
} from './record-schema.ts';

/** Counts the values of the listed fields in records. */
export interface QualityCounter {
  add(record: unknown): void;
  /** Returns the counts so far. */
  counts(): QualityCounts;
}

/** Listed fields of records, compiled once. */
interface Shape {
  digest: string;
  fields: readonly Field[];
  checker: RecordCheck;
}

const shapes = new WeakMap<RecordFields, Shape>();

function shapeOf(listed: RecordFields): Shape {
  let shape = shapes.get(listed);
  if (shape === undefined) {
    const digest = createHash('sha256').update(JSON.stringify(listed)).digest('hex').slice(0, 16);
    const fields = compileFields(listed);
    shape = { digest, fields, checker: createRecordCheck(fields) };
    shapes.set(listed, shape);
  }
  return shape;
}

/**
 * Creates a counter of records with these listed fields. A field is filled if at least one of its
 * places in the record has a value; it does not apply to a record without a place for it, because
 * its list is empty. A record is invalid if a listed field is missing or has another type. Starts
 * from a copy of `counted`, which has the same fields.
 */
export function createQualityCounter(
  listed: RecordFields,
  counted?: QualityCounts,
): QualityCounter {
  const { digest, fields, checker } = shapeOf(listed);
  const { places, lacking } = checker.found;
  const counts: QualityCounts = {
    shape: digest,
    records: counted?.records ?? 0,
    invalid: counted?.invalid ?? 0,
    applicable: counted?.applicable.slice() ?? fields.map(() => 0),
    filled: counted?.filled.slice() ?? fields.map(() => 0),
  };
  return {
    add(record) {
      counts.records += 1;
      if (!checker.check(record)) counts.invalid += 1;
      for (let index = 0; index < places.length; index++) {
        if (places[index]! > 0) counts.applicable[index]! += 1;
        if (lacking[index]! < places[index]!) counts.filled[index]! += 1;
      }
    },
    counts: () => counts,
  };
}

/** Counts serialized records. */
export function countRecords(listed: RecordFields, records: Iterable<Uint8Array>): QualityCounts {
  const counter = createQualityCounter(listed);
  for (const record of records) counter.add(parseRecord(record));
  return counter.counts();
}

/** Parses a serialized record. */
export const parseRecord = (record: Uint8Array): unknown =>
  JSON.parse(Buffer.from(record).toString());

/** Fill of one listed field. */
export interface FieldFill {
  name: string;
  type: string;
  /** Records that have a place for the field. */
  records: number;
  /** Records that have a value for the field. */
  filled: number;
  /** Share of `filled` in `records` in percent; 0 without records. */
  percent: number;
}

/** Fill of the listed fields in the records of a job. */
export interface Quality {
  /** Counted records. */
  records: number;
  /** Records that violate the listed fields. */
  invalid: number;
  fields: FieldFill[];
}

/**
 * Sums counts. Skips counts with other listed fields, which another version of the program counted.
 */
export function sumQualityCounts(listed: RecordFields, counts: Iterable<QualityCounts>): Quality {
  const { digest, fields } = shapeOf(listed);
  const sum: Quality = {
    records: 0,
    invalid: 0,
    fields: fields.map(({ path, notation }) => ({
      name: path,
      type: notation,
      records: 0,
      filled: 0,
      percent: 0,
    })),
  };
  for (const { shape, records, invalid, applicable, filled } of counts) {
    if (shape !== digest) continue;
    sum.records += records;
    sum.invalid += invalid;
    for (const [index, field] of sum.fields.entries()) {
      field.records += applicable[index] ?? 0;
      field.filled += filled[index] ?? 0;
    }
  }
  for (const field of sum.fields)
    field.percent = field.records === 0 ? 0 : (100 * field.filled) / field.records;
  return sum;
}

/** A rule of the option `hold`: the job is held if the field is filled in fewer records. */
export interface HoldRule {
  field: string;
  /** Minimum fill in percent. */
  minimum: number;
}

/** Parses the option `hold`, which has the form that the contract requires: `price:95,title:99`. */
export function parseHold(text: string): HoldRule[] {
  return text
    .split(',')
    .filter((rule) => rule !== '')
    .map((rule) => {
      const at = rule.lastIndexOf(':');
      return { field: rule.slice(0, at), minimum: Number(rule.slice(at + 1)) };
    });
}

/** Returns the problems of rules for records with these listed fields. */
export function problemsOfHold(rules: readonly HoldRule[], listed: RecordFields): string[] {
  const fieldPaths = Object.keys(listed);
  return rules.flatMap(({ field, minimum }) => {
    if (!fieldPaths.includes(field))
      return [`'${field}' is not a field of the records. Use ${fieldPaths.join(', ')}`];
    if (minimum > 100) return [`'${field}': the minimum ${minimum} is more than 100 percent`];
    return [];
  });
}

/**
 * Returns the hold of a job that ended at `at` with records of this quality, or null if it meets
 * its rules.
 */
export function holdOf(
  rules: readonly HoldRule[],
  { fields }: Quality,
  at: number,
): JobHold | null {
  const reasons = rules.flatMap(({ field, minimum }): HoldReason[] => {
    const percent = fields.find(({ name }) => name === field)?.percent ?? 0;
    return percent < minimum ? [{ field, minimum, percent }] : [];
  });
  return reasons.length === 0
    ? null
    : {
        state: 'held',
        reasons,
        heldAt: at,
        decidedAt: null,
      };
}

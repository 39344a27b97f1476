import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { Fault, type Problem } from '../../contract/fault.ts';
import { integerBounds } from '../../contract/json/values.ts';
import { quote } from '../../contract/problem-texts.ts';

/** A text that JavaScript reads as a number that is not decimal: "0x10" is 16. */
const otherNumeral = /^[+-]?0[box]/i;
/** May also match other text, which only costs a second read. */
const mayContain = /"[+-]?0[box]/i;

/**
 * Throws `invalid` if an integer in a JSON body is a text that is not decimal. ProtoJSON has
 * decimal integers only, but its reader accepts hexadecimal ones, so that an amount of "0x10" would
 * be 16. Ignores what is no JSON, or of another shape.
 */
export function requireDecimals(body: Uint8Array, type: DescMessage): void {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  if (!mayContain.test(text)) return;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return;
  }
  const problems = [...problemsIn(value, type, ['body'])];
  if (problems.length > 0)
    throw new Fault('invalid', 'An integer is not written in decimal.', { problems });
}

function* problemsIn(value: unknown, type: DescMessage, path: Problem['loc']): Generator<Problem> {
  if (typeof value !== 'object' || value === null) return;
  const fields = new Map(
    type.fields.flatMap((field) => [field.name, field.jsonName].map((name) => [name, field])),
  );
  for (const [name, member] of Object.entries(value)) {
    const field = fields.get(name);
    if (field === undefined) continue;
    yield* problemsOfField(member, field, [...path, field.name]);
  }
}

function* problemsOfField(
  value: unknown,
  field: DescField,
  path: Problem['loc'],
): Generator<Problem> {
  if (!Array.isArray(value) && field.fieldKind !== 'map')
    return yield* problemsOfValue(value, field, path);
  for (const [key, element] of Object.entries(value ?? {}))
    yield* problemsOfValue(element, field, [...path, Array.isArray(value) ? Number(key) : key]);
}

function* problemsOfValue(
  value: unknown,
  field: DescField,
  loc: Problem['loc'],
): Generator<Problem> {
  if (field.message) return yield* problemsIn(value, field.message, loc);
  const isInteger = field.scalar !== undefined && integerBounds(field.scalar) !== undefined;
  if (!isInteger || typeof value !== 'string' || !otherNumeral.test(value)) return;
  yield { loc, type: 'int_parsing', msg: `Input should be a valid integer, not ${quote(value)}` };
}

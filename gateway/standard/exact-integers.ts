import { type DescField, type DescMessage, type JsonValue, ScalarType } from '@bufbuild/protobuf';

const big = new Set([
  ...[ScalarType.INT64, ScalarType.SINT64, ScalarType.SFIXED64],
  ...[ScalarType.UINT64, ScalarType.FIXED64],
]);

/** Integer that a double cannot represent, as it is written. */
class Literal {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** Returns true if a text may contain such integers. */
export function mayHoldBigIntegers(text: string): boolean {
  return /\d{16}/.test(text);
}

/**
 * Parses JSON of a message type, with integers of 64-bit fields that a double cannot represent as strings.
 */
export function parseExact(schema: DescMessage, text: string): JsonValue {
  const parsed: unknown = JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
      ? new Literal(context!.source!)
      : value,
  );
  return ofMessage(schema, parsed, 0) as JsonValue;
}

/** Levels that are searched: a deeper value is refused when it is decoded. */
const maxDepth = 110;

function ofMessage(schema: DescMessage, value: unknown, depth: number): unknown {
  if (/^google\.protobuf\.U?Int64Value$/.test(schema.typeName) && value instanceof Literal)
    return value.source;
  if (typeof value !== 'object' || value === null || value instanceof Literal || Array.isArray(value))
    return asNumbers(value, depth);
  return mapValues(value, (name, each) => {
    const field = schema.fields.find((known) => known.name === name || known.jsonName === name);
    return field === undefined ? asNumbers(each, depth + 1) : ofField(field, each, depth + 1);
  });
}

function ofField(field: DescField, value: unknown, depth: number): unknown {
  const element = (each: unknown) => {
    if (field.message !== undefined && depth < maxDepth) return ofMessage(field.message, each, depth);
    if (each instanceof Literal && field.scalar !== undefined && big.has(field.scalar)) return each.source;
    return asNumbers(each, depth);
  };
  if (field.fieldKind === 'list' && Array.isArray(value)) return value.map(element);
  if (field.fieldKind === 'map' && typeof value === 'object' && value !== null && !(value instanceof Literal))
    return mapValues(value, (_name, each) => element(each));
  return element(value);
}

/** Returns a value with doubles for its literals. */
function asNumbers(value: unknown, depth: number): unknown {
  if (value instanceof Literal) return Number(value.source);
  if (typeof value !== 'object' || value === null || depth > 2 * maxDepth) return value;
  if (Array.isArray(value)) return value.map((each) => asNumbers(each, depth + 1));
  return mapValues(value, (_name, each) => asNumbers(each, depth + 1));
}

function mapValues(value: object, map: (name: string, each: unknown) => unknown): object {
  // A member may be called `__proto__`, which fromEntries() defines like any other.
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, map(name, each)]));
}

import type { Document, Filter } from 'mongodb';
import { type FindOptions, hiddenFrom, partsOf, type Search, type Where } from '../collection.ts';
import { type Declaration, typeOf } from '../declaration.ts';
import { idText, nameIn, type StoredDocument } from './documents.ts';

const operators: Readonly<Record<string, string>> = {
  is: '$eq',
  not: '$ne',
  in: '$in',
  above: '$gt',
  atLeast: '$gte',
  below: '$lt',
  atMost: '$lte',
};

function conditionOf(declaration: Declaration, field: string, condition: unknown): unknown {
  const parts = partsOf(condition);
  if (parts.length === 1 && parts[0]![0] === 'is') return parts[0]![1];
  const { type, isNullable } = typeOf(declaration, field);
  const isSet = parts.some(([operator, value]) => {
    if (operator === 'not') return value === null;
    return operator === 'below' || operator === 'atMost';
  });
  const comparison: Document = {};
  // Required for the partial indexes of times.
  if (isSet && isNullable && type === 'number') comparison.$gt = 0;
  for (const [operator, value] of parts) comparison[operators[operator]!] = value;
  return comparison;
}

/** Values of the first fields of a compound id that the conditions name. */
function idPrefix({ id }: Declaration, where: Record<string, unknown>): unknown[] {
  const values: unknown[] = [];
  for (const field of id.length === 1 ? [] : id) {
    const [[operator, value] = ['', null]] = partsOf(where[field]);
    if (operator !== 'is' || value === null || value === undefined) break;
    values.push(value);
  }
  return values;
}

/**
 * Returns the filter of conditions. The first fields of a compound id become a range of ids, whose
 * index is used.
 */
export function filterOf(declaration: Declaration, where: Where<never>): Filter<StoredDocument> {
  const conditions = Object.fromEntries(
    Object.entries(where).filter(([, condition]) => condition !== undefined),
  );
  const { filter, fields: idFields } = idFilter(declaration, conditions);
  for (const [field, condition] of Object.entries(conditions)) {
    if (!idFields.has(field))
      filter[nameIn(declaration, field)] = conditionOf(declaration, field, condition);
  }
  const hidden = hiddenFrom(declaration, conditions);
  if (hidden !== undefined)
    filter[hidden.field] = { ...filter[hidden.field], $nin: [...hidden.values] };
  return filter as Filter<StoredDocument>;
}

/** Returns the filter of a compound id, and the fields of the conditions that it covers. */
function idFilter(
  declaration: Declaration,
  conditions: Record<string, unknown>,
): { filter: Document; fields: ReadonlySet<string> } {
  const { id } = declaration;
  if (id.length === 1) return { filter: {}, fields: new Set() };
  const prefix = idPrefix(declaration, conditions);
  const fields = new Set<string>(id.slice(0, prefix.length));
  const next = id[prefix.length];
  if (next === undefined) return { filter: { _id: idText(prefix) }, fields };
  const parts = partsOf(conditions[next]);
  const { atLeast, below } = Object.fromEntries(parts) as { atLeast?: unknown; below?: unknown };
  const isRange = atLeast !== undefined || below !== undefined;
  if (prefix.length === 0 && !isRange) return { filter: {}, fields };
  if (isRange) fields.add(next);
  return { filter: { _id: idRange(prefix, atLeast, below) }, fields };
}

/** Returns the range of compound ids that begin with values, and whose next field is in a range. */
function idRange(prefix: readonly unknown[], atLeast: unknown, below: unknown): Document {
  const start = prefix.length === 0 ? '' : `${idText(prefix)}/`;
  const range: Document = { $gte: atLeast === undefined ? start : `${start}${idText([atLeast])}` };
  if (below !== undefined) range.$lt = `${start}${idText([below])}`;
  // '0' is the character after '/'.
  else if (start !== '') range.$lt = `${start.slice(0, -1)}0`;
  return range;
}

/**
 * Returns a filter that compares fields, in their order, with values. `last` compares the last
 * field.
 */
export function comparing(
  fields: readonly string[],
  values: readonly unknown[],
  operator: '$lt' | '$gt',
  last: '$lt' | '$lte' | '$gt' = operator,
): Document {
  const alternatives = fields.map((field, index) => {
    const alternative: Document = {};
    for (const [position, equalField] of fields.slice(0, index).entries())
      alternative[equalField] = values[position];
    alternative[field] = { [index === fields.length - 1 ? last : operator]: values[index] };
    return alternative;
  });
  if (alternatives.length > 1) return { $or: alternatives };
  return alternatives[0] ?? {};
}

/**
 * Returns the keys to sort by, and the values of `after` in them. The rest of a compound id whose
 * first fields are given is sorted by the id, whose index is used.
 */
function sortKeys(
  declaration: Declaration,
  where: object,
  order: readonly string[],
  after: readonly unknown[] | null,
): { keys: readonly string[]; position: readonly unknown[] | null } {
  const prefix = idPrefix(declaration, where as Record<string, unknown>);
  const isById =
    prefix.length > 0 &&
    order.every((field, index) => declaration.id[prefix.length + index] === field);
  if (!isById) return { keys: order.map((field) => nameIn(declaration, field)), position: after };
  return { keys: ['_id'], position: after === null ? null : [idText([...prefix, ...after])] };
}

/** A query for documents in an order. */
interface OrderedQuery {
  filter: Filter<StoredDocument>;
  sort: Record<string, 1 | -1>;
}

/** Returns the query of find(). */
export function queryOf(
  declaration: Declaration,
  where: object,
  options: Pick<FindOptions<object>, 'newestFirst' | 'after' | 'search'> & {
    order: readonly string[];
  },
): OrderedQuery {
  const { order, newestFirst = false, after = null, search } = options;
  const { keys, position } = sortKeys(declaration, where, order, after);
  const terms: Document[] = [filterOf(declaration, where as Where<never>)];
  if (position !== null) terms.push(comparing(keys, position, newestFirst ? '$lt' : '$gt'));
  if (search !== undefined) terms.push(containing(declaration, search));
  return {
    filter: (terms.length > 1 ? { $and: terms } : terms[0]!) as Filter<StoredDocument>,
    sort: sortBy(keys, newestFirst),
  };
}

/** Returns the sort of these keys, ascending or descending. */
export const sortBy = (keys: readonly string[], newestFirst: boolean): Record<string, 1 | -1> =>
  Object.fromEntries(keys.map((key) => [key, newestFirst ? -1 : 1]));

/** Returns the filter of documents whose fields contain the text. */
function containing(declaration: Declaration, { fields, text }: Search): Document {
  const pattern = createSubstringPattern(text);
  return { $or: fields.map((field) => ({ [nameIn(declaration, field)]: pattern })) };
}

/**
 * Creates a pattern for texts that contain `search`, ignoring case. It spells out the cases, since
 * servers do not agree on the letters that their case-insensitive option covers.
 */
function createSubstringPattern(search: string): RegExp {
  return new RegExp(Array.from(search, anyCase).join(''));
}

function anyCase(letter: string): string {
  const cases = new Set([letter, letter.toLowerCase(), letter.toUpperCase()]);
  const alternatives = [...cases].map(escapeLiteral);
  if (alternatives.length === 1) return alternatives[0]!;
  return `(?:${alternatives.join('|')})`;
}

/** Escapes text for the regular expressions of PCRE, Java, and JavaScript. */
const escapeLiteral = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

import {
  type DescField,
  type DescMessage,
  getOption,
  hasOption,
  type Message,
} from '@bufbuild/protobuf';
import {
  default_json as defaultOption,
  identity as identityOption,
  numbered as numberedOption,
} from '../../gen/gleaner/options/v1/options_pb.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { Fault, type Problem } from '../contract/fault.ts';
import { quote } from '../contract/problem-texts.ts';
import { restName } from '../contract/rest-form.ts';
import { rulesOf } from '../contract/rules.ts';
import { didYouMean } from '../contract/suggest.ts';
import type { Market } from '../markets/market.ts';
import type { Unit } from '../store/batches.ts';
import type { Plan, PlannedGroup } from './kind.ts';

/**
 * Fields that identify an item in responses and result files: the name there, and the input field
 * of the value.
 */
export type Identity = { name: string; from: string; numbered: boolean }[];

/** A request with one unit per element of `items`. */
interface Items {
  items: (Message & Record<string, unknown>)[];
  /** Region of all items, for markets whose regions are sites. */
  site?: string;
}

const maxProblems = 100;

/**
 * Plans one unit per item. The unit's key is the item's subject, such as its id or keyword. Its
 * input has the request's field names, and the contract's defaults for absent fields. The identity
 * of the items is stored with the job, so that views and files need no descriptor. Throws `invalid`
 * for an unknown site, a blank string, a missing `category`, an input that the market refuses, or a
 * URL that it cannot parse.
 */
export function planItems(
  request: Message,
  description: DescMessage,
  market: Market,
  group: Grouping,
): Plan {
  const fields = itemFields(description);
  const subject = subjectOf(fields);
  const problems: Problem[] = [];
  const units: { unit: Unit; region: string }[] = [];
  const { items, site } = request as unknown as Items;
  if (site !== undefined) requireRegion(site, market);
  for (const [index, item] of items.entries()) {
    const input = inputOf(item, fields);
    const region = site ?? regionOf(input, market);
    for (const { name, msg, type } of problemsOf(input, fields, market, region)) {
      problems.push({ loc: ['body', 'items', index, name], msg, type });
    }
    if (problems.length >= maxProblems) break;
    units.push({ unit: { key: String(input[subject]), input }, region });
  }
  if (problems.length > 0) throw new Fault('invalid', 'Some items are not valid.', { problems });
  const identity = identityOf(fields) as unknown as Json;
  return { groups: group(units), region: site ?? '', params: { identity } };
}

/** Returns the fields of the message in a request's `items`. */
export const itemFields = (request: DescMessage): readonly DescField[] =>
  request.fields.find((field) => field.name === 'items')!.message!.fields;

/** Returns the name of the first field that is free text, unlike a choice such as `list_type`. */
function subjectOf(fields: readonly DescField[]): string {
  const isChoice = (field: DescField) => {
    const { type } = rulesOf(field);
    return type.case === 'string' && type.value.in.length > 0;
  };
  return restName(fields.find((field) => !isChoice(field))!);
}

export type Grouping = (units: readonly { unit: Unit; region: string }[]) => PlannedGroup[];

/** Groups all units of a region, in the order of the regions' first units. */
export const byRegion: Grouping = (units) => {
  const groups = new Map<string, Unit[]>();
  for (const { unit, region } of units) {
    const members = groups.get(region);
    if (members) members.push(unit);
    else groups.set(region, [unit]);
  }
  return [...groups].map(([region, members]) => ({ region, units: members }));
};

/** Groups adjacent units of a region, which keeps the order of the request. */
export const inOrder: Grouping = (units) => {
  const groups: PlannedGroup[] = [];
  for (const { unit, region } of units) {
    const last = groups.at(-1);
    if (last?.region === region) last.units.push(unit);
    else groups.push({ region, units: [unit] });
  }
  return groups;
};

function inputOf(item: Record<string, unknown>, fields: readonly DescField[]): JsonObject {
  const input: JsonObject = {};
  for (const field of fields) {
    const fallback = hasOption(field, defaultOption)
      ? (JSON.parse(getOption(field, defaultOption)) as Json)
      : undefined;
    const value = (item[field.localName] as Json | undefined) ?? fallback;
    if (value !== undefined) input[restName(field)] = value;
  }
  return input;
}

/** Throws `invalid` for a site that is not declared. */
function requireRegion(site: string, { regions }: Market): void {
  if (regions.includes(site)) return;
  const msg = `There is no site ${quote(site)}.${didYouMean(site, regions)}`;
  throw Fault.invalid(['body', 'site'], msg, 'enum');
}

function* problemsOf(
  input: JsonObject,
  fields: readonly DescField[],
  market: Market,
  region: string,
) {
  const blank = new Set<string>();
  for (const field of fields) {
    const name = restName(field);
    const value = input[name];
    if (rulesOf(field).required && typeof value === 'string' && value.trim() === '') {
      blank.add(name);
      yield { name, msg: 'String should not be blank', type: 'string_too_short' };
    }
  }
  const asksCategory =
    input.list_type === 'category' && fields.some(({ name }) => name === 'category');
  if (asksCategory && !input.category) {
    yield { name: 'category', msg: 'Field required when list_type is category', type: 'missing' };
  }
  const problem = market.problemOf?.(input, region);
  if (problem && !blank.has(problem.name)) yield { ...problem, type: 'value_error' };
  if (typeof input.url === 'string' && market.parseUrl) {
    try {
      market.parseUrl('search', input.url);
    } catch (error) {
      yield { name: 'url', msg: (error as Error).message, type: 'url_parsing' };
    }
  }
}

function regionOf(input: JsonObject, market: Market): string {
  if (typeof input.country === 'string') return input.country;
  return market.regions.length === 1 ? market.regions[0]! : '';
}

/** Returns the identity that the fields of an item declare. */
export function identityOf(fields: readonly DescField[]): Identity {
  return fields
    .filter((field) => hasOption(field, identityOption))
    .map((field) => ({
      name: getOption(field, identityOption),
      from: restName(field),
      numbered: getOption(field, numberedOption),
    }));
}

/**
 * Returns the identity of a unit as responses show it. `position` is its position in the request,
 * from 1.
 */
export function identify(unit: Unit, identity: Identity, position: number): JsonObject {
  const values: JsonObject = {};
  for (const { name, from, numbered } of identity) {
    const value = unit.input[from] ?? null;
    values[name] = numbered ? `${String(value).trim().split(/\s+/).join('_')}_${position}` : value;
  }
  return values;
}

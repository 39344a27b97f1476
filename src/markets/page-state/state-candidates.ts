import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Candidate } from '../candidates/candidates.ts';
import { text } from '../fields.ts';
import { attribute, type Element, findAll, type HtmlPage, scriptText } from '../html/html.ts';
import type { PageWork } from '../html/page-work.ts';
import { closingBracket } from '../json/json-values.ts';
import { parseJson } from '../json/script-json.ts';
import { plainName } from '../structured-data/plain-name.ts';
import { membersOf, type StateValue } from './state-members.ts';

/** JSON that the scripts and attributes of a page embed, by the names of its places. */
export type EmbeddedStates = ReadonlyMap<string, Json>;

/** Maximum states of a page, places that are tried, and characters of all of them. */
const maxStates = 60;
const maxTries = 120;
const maxCharacters = 8_000_000;
/** Maximum values of states that are visited. */
const maxVisits = 100_000;

const assignment =
  /(?<![\w$.])((?:window\.|self\.)?[\w$.]{2,60})\s{0,9}(?:=|\.push\(|\()\s{0,9}(?=[{[])/g;

/** Collects states up to the limits of a page. */
class StateCollector {
  readonly states = new Map<string, Json>();
  private tries = maxTries;
  private characters = maxCharacters;

  /** Parses JSON and returns its length, or 0 if there is none. */
  add(name: string, source: string, start: number): number {
    if (this.tries <= 0 || this.characters <= 0 || this.states.size >= maxStates) return 0;
    this.tries -= 1;
    const limited = source.slice(start, start + this.characters);
    const end = closingBracket(limited, 0);
    this.characters -= end > 0 ? end : limited.length;
    const value = end > 0 ? parsed(limited.slice(0, end)) : undefined;
    if (value === undefined) return 0;
    const key = this.states.has(name) ? `${name} ${this.states.size}` : name;
    this.states.set(key, value);
    return end;
  }
}

function parsed(json: string): Json | undefined {
  try {
    return parseJson(json);
  } catch {
    // More values than a page may have.
    return undefined;
  }
}

function addScript(collector: StateCollector, script: Element): void {
  const type = attribute(script, 'type') ?? '';
  const source = scriptText(script);
  if (/ld\+json/i.test(type)) return;
  if (/json|x-magento-init/i.test(type)) {
    const start = source.search(/\S/);
    if (/^[{[]/.test(source.slice(start, start + 1)))
      collector.add(attribute(script, 'id') ?? type, source, start);
    return;
  }
  let end = 0;
  for (const match of source.matchAll(assignment)) {
    const start = match.index + match[0].length;
    if (start < end) continue;
    end = start + collector.add(match[1]!.replace(/^(?:window|self)\./, ''), source, start);
  }
}

/**
 * Returns the embedded JSON of a page: in JSON scripts, assignments, calls of `push()`, and
 * attributes.
 */
export function pageStates({ root }: HtmlPage, elements: readonly Element[]): EmbeddedStates {
  const collector = new StateCollector();
  for (const script of findAll(root, 'script:not([src])')) addScript(collector, script);
  for (const { attribs } of elements)
    for (const [name, value] of Object.entries(attribs))
      if (/^\s*(?:\{\s*"|\[\s*\{\s*")/.test(value.slice(0, 20)))
        collector.add(name, value, value.search(/\S/));
  return collector.states;
}

const nameMembers = ['name', 'title', 'productName', 'product_name', 'item_name', 'displayName'];
/** Yields the values of the objects of a state that have the name of the product. */
function* productValues(
  root: Json,
  names: ReadonlySet<string>,
  { budget, work }: { budget: { remaining: number }; work: PageWork },
): Generator<StateValue> {
  const pending: PathValue[] = [{ value: root, path: '' }];
  while (pending.length > 0 && budget.remaining > 0) {
    const { value, path } = pending.pop()!;
    budget.remaining -= 1;
    if (typeof value !== 'object' || value === null) continue;
    if (isObject(value) && isNamed(value, names)) yield* membersOf(value, path, work);
    pending.push(...innerValues(value, path, budget.remaining));
  }
}

/** A value inside a state, and its path. */
interface PathValue {
  value: Json;
  path: string;
}

/** Returns the objects and arrays in the first members of a value. */
function innerValues(value: JsonObject | Json[], path: string, maxMembers: number): PathValue[] {
  const inner: PathValue[] = [];
  for (const [name, member] of Object.entries(value).slice(0, maxMembers))
    if (typeof member === 'object')
      inner.push({ value: member, path: path === '' ? name : `${path}.${name}` });
  return inner;
}

function isNamed(value: JsonObject, names: ReadonlySet<string>): boolean {
  return nameMembers.some((name) => {
    const member = value[name];
    return typeof member === 'string' && names.has(plainName(member));
  });
}

const keyOf = (value: Json): string => String(value).toLowerCase();

/** Returns the only value of each field of a state: a product has several if it has variants. */
function onlyValues(values: readonly StateValue[]): StateValue[] {
  const only: StateValue[] = [];
  for (const group of Map.groupBy(values, ({ field }) => field).values()) {
    const keys = new Set(group.map(({ value }) => keyOf(value)));
    if (keys.size === 1) only.push(group[0]!);
  }
  return only;
}

/**
 * Returns the values that embedded states have for the product of a page. An integer can be a price
 * in cents, so that all integers count as one source.
 */
export function stateCandidates(
  states: EmbeddedStates,
  names: readonly string[],
  url: string,
  work: PageWork,
): Candidate[] {
  const plainNames = new Set(names.map(plainName).filter((name) => name.length > 4));
  const budget = { remaining: maxVisits };
  const candidates: Candidate[] = [];
  for (const [state, root] of states)
    for (const value of onlyValues([...productValues(root, plainNames, { budget, work })])) {
      const candidate = candidateOf(value, state, url.toLowerCase());
      if (candidate !== null) candidates.push(candidate);
    }
  return candidates;
}

/** Returns the candidate of a value, or null for an id that is not in the address. */
function candidateOf(
  { field, value, path }: StateValue,
  state: string,
  address: string,
): Candidate | null {
  const code = String(value);
  if (field === 'id' && (code.length <= 3 || !address.includes(code.toLowerCase()))) return null;
  const isInteger = field === 'price' && Number.isInteger(value);
  return {
    field: field === 'id' ? 'sku' : field,
    value,
    alternatives: [],
    text: text(value),
    rung: 'state',
    source: isInteger ? 'integers' : state,
    path,
    offer: null,
    currency: null,
    isMarked: false,
  };
}

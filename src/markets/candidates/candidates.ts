import type { Json } from '../../base/json.ts';
import { onlyOf } from '../fields.ts';

/** Where candidates come from, the most reliable first. */
export type Rung = 'structured' | 'state' | 'page';

/** A value that a page states for a field. */
export interface Candidate {
  field: string;
  /** Null: it can be read in several ways, or not at all. */
  value: Json;
  /**
   * Other values that the source has for the field: of other offers, or other readings of the same
   * text.
   */
  alternatives: readonly Json[];
  /** The text of the value as the page shows it. */
  text: string | null;
  rung: Rung;
  /** Format of structured data, name of embedded state, or kind of evidence on the page. */
  source: string;
  /** Element or path of the value. */
  path: string;
  /** Kind of the offer that has the value. */
  offer: 'offer' | 'aggregate' | null;
  /** Currency of a price. */
  currency: string | null;
  /** Price of the offer that has a list price. */
  price?: number | null;
  /** True for the only value that the page marks as its product's. */
  isMarked: boolean;
}

/** How candidates of a field are compared. */
export interface CandidateRule {
  /** Returns a key that is the same for values that agree. */
  keyOf: (value: Json) => string;
  /** Effect of a marked value of the page on other values of structured data. */
  marked: 'wins' | 'agrees';
  /** Value if formats of structured data disagree: null, or the value of the first format. */
  disagreement: 'null' | 'first';
}

const plainKey = (value: Json) => JSON.stringify(value);
const codeKey = (value: Json) =>
  String(value)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

const soldOut: ReadonlySet<Json> = new Set(['OutOfStock', 'SoldOut', 'Discontinued', 'Reserved']);
const stockKey = (value: Json) => (soldOut.has(value) ? 'out' : 'in');

/** Rules of fields. Values of others need not agree: each format writes texts in its own way. */
const fieldRules: Readonly<Record<string, CandidateRule>> = {
  price: { keyOf: plainKey, marked: 'wins', disagreement: 'null' },
  availability: { keyOf: stockKey, marked: 'wins', disagreement: 'null' },
  currency: { keyOf: plainKey, marked: 'agrees', disagreement: 'null' },
  sku: { keyOf: codeKey, marked: 'wins', disagreement: 'first' },
  brand: { keyOf: codeKey, marked: 'agrees', disagreement: 'first' },
  title: { keyOf: plainKey, marked: 'agrees', disagreement: 'first' },
  list_price: { keyOf: plainKey, marked: 'agrees', disagreement: 'null' },
};
const defaultRule: CandidateRule = { keyOf: plainKey, marked: 'agrees', disagreement: 'first' };

/**
 * Source of values that the page shows anywhere: no evidence for them, but against values that it
 * lacks.
 */
export const visibleSource = 'shown';

/** Number of sources of a rung below structured data that have to agree. */
const neededSources = 2;

/** The value of a field, and the candidates that contradict it or each other. */
export interface FieldResolution {
  value: Json;
  /** The lowest rung that was needed. */
  rung: Rung;
  /** Sources of the value: "json-ld", "page: heading, control". */
  from: string;
  currency: string | null;
  contradictions: readonly Candidate[];
}

const isEmpty = (value: Json) => value === null || (Array.isArray(value) && value.length === 0);

const nothing: FieldResolution = {
  value: null,
  rung: 'page',
  from: '',
  currency: null,
  contradictions: [],
};

function resolutionOf(
  { value, rung, source, currency }: Candidate,
  contradictions: readonly Candidate[] = [],
): FieldResolution {
  const from = rung === 'structured' ? source : `${rung}: ${source}`;
  return { value, rung, from, currency, contradictions };
}

/**
 * Returns the value that several sources of the lower rungs have, unless others have another one:
 * of several such values the one that the page marks, if that wins.
 */
function agreed(
  candidates: readonly Candidate[],
  { keyOf, marked: effect }: CandidateRule,
): FieldResolution {
  const groups = [...Map.groupBy(candidates, ({ value }) => keyOf(value)).values()];
  const agreeingGroups = groups.filter((group) => sourcesOf(group).size >= neededSources);
  const markedGroups = agreeingGroups.filter((group) => group.some(({ isMarked }) => isMarked));
  const isDecided = effect === 'wins' && markedGroups.length === 1;
  if (agreeingGroups.length > 1 && !isDecided) return { ...nothing, contradictions: candidates };
  const [group] = isDecided ? markedGroups : agreeingGroups;
  if (group === undefined) return nothing;
  const [first] = group as [Candidate];
  const isContradicted = candidates.some(
    ({ isMarked, value }) => isMarked && keyOf(value) !== keyOf(first.value),
  );
  if (isContradicted) return { ...nothing, contradictions: candidates };
  const currency = firstCurrency(group);
  const source = [...sourcesOf(group)].join(', ');
  return {
    ...resolutionOf({ ...first, currency }),
    from: `${first.rung}: ${source}`,
  };
}

const sourcesOf = (candidates: readonly Candidate[]): ReadonlySet<string> =>
  new Set(candidates.map(({ source }) => source));

const firstCurrency = (candidates: readonly Candidate[]): string | null =>
  candidates.find(({ currency }) => currency !== null)?.currency ?? null;

/** Returns the first candidate with a value among its alternatives. */
const findAlternative = (
  candidates: readonly Candidate[],
  key: string,
  { keyOf }: CandidateRule,
): Candidate | undefined =>
  candidates.find(({ alternatives }) => alternatives.some((value) => keyOf(value) === key));

/** Decides between formats of structured data and the value that the page marks. */
function confirmed(
  stated: readonly Candidate[],
  marked: Candidate,
  rule: CandidateRule,
): FieldResolution {
  const key = rule.keyOf(marked.value);
  const readable = stated.filter(({ value }) => !isEmpty(value));
  const different = readable.filter(({ value }) => rule.keyOf(value) !== key);
  const contradictions = different.length > 0 ? [...different, marked] : [];
  const same = readable.find(({ value }) => rule.keyOf(value) === key);
  if (same !== undefined) return resolutionOf(same, contradictions);
  const offered = findAlternative(stated, key, rule);
  const currency = marked.currency ?? firstCurrency(stated);
  if (offered !== undefined) {
    return {
      value: marked.value,
      rung: 'structured',
      from: `${offered.source}, page: ${marked.source}`,
      currency,
      contradictions: [],
    };
  }
  const [first] = readable;
  if (rule.marked === 'agrees' && first !== undefined) return resolutionOf(first);
  return resolutionOf({ ...marked, currency }, contradictions);
}

/** Returns the value of another offer than the first, if two sources of the page have it. */
function otherOffer(
  stated: readonly Candidate[],
  lower: readonly Candidate[],
  rule: CandidateRule,
): FieldResolution | null {
  const { value, from, currency } = agreed(lower, rule);
  if (isEmpty(value)) return null;
  const key = rule.keyOf(value);
  const readable = stated.filter((candidate) => !isEmpty(candidate.value));
  if (readable.some((candidate) => rule.keyOf(candidate.value) === key)) return null;
  const offered = findAlternative(stated, key, rule);
  if (offered === undefined) return null;
  return {
    value,
    rung: 'structured',
    from: `${offered.source}, ${from}`,
    currency: currency ?? offered.currency,
    contradictions: [],
  };
}

/**
 * Returns the candidates of the visible page that contradict a stated value: two sources that agree
 * on another one, of which the page shows at least one, or all prices that it shows beside its
 * control.
 */
function contradicting(
  stated: Candidate,
  { lower, visible }: { lower: readonly Candidate[]; visible: readonly Candidate[] },
  rule: CandidateRule,
): readonly Candidate[] {
  const supported = agreed(lower, rule);
  const key = rule.keyOf(supported.value);
  if (!isEmpty(supported.value) && key !== rule.keyOf(stated.value)) {
    const agreeing = lower.filter(({ value }) => rule.keyOf(value) === key);
    return agreeing.some(({ rung }) => rung === 'page') ? agreeing : [];
  }
  const keys = new Set([stated.value, ...stated.alternatives].map(rule.keyOf));
  if (visible.some(({ value }) => keys.has(rule.keyOf(value)))) return [];
  return visible;
}

/**
 * Resolves the candidates of a field. Structured data states a value alone, unless its formats
 * disagree or the visible page contradicts it. The only value that the page marks decides between
 * formats, and wins over all of them. Below structured data, two sources have to agree. Null: no
 * value, or several that contradict each other.
 */
export function resolve(field: string, candidates: readonly Candidate[]): FieldResolution {
  const rule = fieldRules[field] ?? defaultRule;
  const stated = candidates.filter(({ rung }) => rung === 'structured');
  const lower = candidates.filter(
    ({ rung, source, value }) =>
      rung !== 'structured' && source !== visibleSource && !isEmpty(value),
  );
  const readable = stated.filter(({ value }) => !isEmpty(value));
  const [first] = readable;
  const marked = lower.find(({ isMarked }) => isMarked);
  const hasStatedValue = first !== undefined || stated.some(hasAlternatives);
  if (marked !== undefined && hasStatedValue) return confirmed(stated, marked, rule);
  if (first === undefined) return agreed(lower, rule);
  const supportedOffer = rule.marked === 'wins' ? otherOffer(stated, lower, rule) : null;
  if (supportedOffer !== null) return supportedOffer;
  if (rule.disagreement === 'first') return resolutionOf(first);
  const keys = new Set(readable.map(({ value }) => rule.keyOf(value)));
  if (keys.size > 1) return supportedFormat(readable, lower, rule);
  const visible = candidates.filter(({ source }) => source === visibleSource);
  const contradictions = contradicting(first, { lower, visible }, rule);
  if (contradictions.length > 0) return { ...nothing, contradictions: [first, ...contradictions] };
  const currencies = readable.map(({ currency }) => currency);
  const currency = onlyOf(currencies.filter((code) => code !== null));
  return resolutionOf({ ...first, currency });
}

const hasAlternatives = ({ alternatives }: Candidate) => alternatives.length > 0;

/** Returns the value of formats that disagree with which the page agrees. */
function supportedFormat(
  readable: readonly Candidate[],
  lower: readonly Candidate[],
  rule: CandidateRule,
): FieldResolution {
  const supported = agreed([...lower, ...readable], rule);
  const key = rule.keyOf(supported.value);
  const isOnPage = lower.some(({ value }) => rule.keyOf(value) === key);
  if (supported.value !== null && isOnPage) return supported;
  return { ...nothing, contradictions: readable };
}

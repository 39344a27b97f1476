import { vocabularies } from './vocabularies.ts';
import type { WordKind } from './word-kinds.ts';

export interface Availability {
  /**
   * Name in schema.org: "InStock", "PreOrder"; otherwise the shop's text. Null if it is not stated.
   */
  state: string | null;
  /** True if the offer can be bought. Null if that is not known. */
  available: boolean | null;
}

/** Names of schema.org (ItemAvailability). */
const schemaNames = [
  'InStock',
  'InStoreOnly',
  'OnlineOnly',
  'LimitedAvailability',
  'PreOrder',
  'PreSale',
  'BackOrder',
  'MadeToOrder',
  'OutOfStock',
  'SoldOut',
  'Discontinued',
  'Reserved',
];
/** Names of schema.org and of product feeds, in lower case, with their schema.org name. */
const states: ReadonlyMap<string, string> = new Map([
  ...schemaNames.map((name) => [name.toLowerCase(), name] as const),
  ['available', 'InStock'],
  ['availablefororder', 'BackOrder'],
  ['oos', 'OutOfStock'],
  ['unavailable', 'OutOfStock'],
  ['notavailable', 'OutOfStock'],
]);
const notForSale: ReadonlySet<string> = new Set([
  'OutOfStock',
  'SoldOut',
  'Discontinued',
  'Reserved',
]);

/** Maximum characters of a text about stock. */
const maxLength = 200;

/** Letters that have no decomposition. */
const plainLetters: ReadonlyMap<string, string> = new Map([
  ['ł', 'l'],
  ['đ', 'd'],
  ['ø', 'o'],
  ['æ', 'ae'],
  ['ß', 'ss'],
  ['ı', 'i'],
  ['œ', 'oe'],
]);

/** Returns a text in lower case, with numbers as ASCII digits. */
function plainText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\ufe0f\u064b-\u0652]/g, '')
    .replace(/[٠-٩]/g, (digit) => String(digit.charCodeAt(0) - 0x660));
}

/** Returns a word without accents, as shops leave them out. */
function withoutAccents(word: string): string {
  const letters = word.normalize('NFKD').replace(/[\u0300-\u036f]/g, '');
  return letters.normalize('NFKC').replace(/[łđøæßıœ]/g, (letter) => plainLetters.get(letter)!);
}

/**
 * Numbers, also ranges ("2-3"), words, and single characters of scripts without spaces between
 * words.
 */
const tokenPattern =
  /(?<number>\d+(?:[.,]\d{3})*(?:\s?[-–—~]\s?\d+)?)|(?<sign>[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー\p{sc=Hangul}\p{sc=Thai}])|(?<word>(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}])[\p{L}\p{M}])+)/gu;

const tokensOf = (text: string): string[] =>
  [...text.matchAll(tokenPattern)].map(([token]) => token);

/** Kinds of phrases by their tokens, as written and without accents. */
const kinds = new Map<string, WordKind>();
for (const vocabulary of vocabularies)
  for (const [kind, phrases] of Object.entries(vocabulary))
    for (const phrase of phrases)
      kinds.set(tokensOf(plainText(phrase)).join(' '), kind as WordKind);
for (const [phrase, kind] of [...kinds]) {
  const bare = withoutAccents(phrase);
  if (!kinds.has(bare)) kinds.set(bare, kind);
}
/** Tokens of the longest phrase by the first token of its phrases. */
const maxPhraseTokens = new Map<string, number>();
for (const phrase of kinds.keys()) {
  const tokens = phrase.split(' ');
  const [first = ''] = tokens;
  maxPhraseTokens.set(first, Math.max(maxPhraseTokens.get(first) ?? 0, tokens.length));
}

/** A word or phrase of a clause, or a number. */
interface Term {
  kind: WordKind | 'number' | 'unknown';
  /** Value of a number that counts pieces. */
  value?: number;
}

/**
 * Returns the longest phrase of the vocabulary at a position, and the number of its tokens.
 * `plainTokens`: the tokens without accents.
 */
function phraseAt(
  tokens: readonly string[],
  plainTokens: readonly string[],
  start: number,
): { kind: WordKind; length: number } | null {
  const maxTokens = Math.max(
    maxPhraseTokens.get(tokens[start]!) ?? 0,
    maxPhraseTokens.get(plainTokens[start]!) ?? 0,
  );
  const longest = Math.min(maxTokens, tokens.length - start);
  for (let length = longest; length > 0; length -= 1) {
    const phrase = tokens.slice(start, start + length).join(' ');
    const plainPhrase = plainTokens.slice(start, start + length).join(' ');
    const kind = kinds.get(phrase) ?? kinds.get(plainPhrase);
    if (kind !== undefined) return { kind, length };
  }
  return null;
}

/** Returns the number of pieces of a token: the lower end of a range. */
const countOf = (token: string): number => Number(token.replace(/[.,]|\s?[-–—~].*/g, ''));

function termsOf(clause: string): Term[] {
  const tokens = tokensOf(clause);
  const plainTokens = tokens.map(withoutAccents);
  const terms: Term[] = [];
  for (let index = 0; index < tokens.length; ) {
    const token = tokens[index]!;
    const phrase = phraseAt(tokens, plainTokens, index);
    if (phrase) terms.push({ kind: phrase.kind });
    else if (/^\d/.test(token)) terms.push({ kind: 'number', value: countOf(token) });
    else terms.push({ kind: 'unknown' });
    index += phrase?.length ?? 1;
  }
  return terms.filter(({ kind }) => kind !== 'filler');
}

/** Removes the numbers of dates and periods: "within 2 to 3 days", "5 May". */
function withoutTimes(terms: readonly Term[]): Term[] {
  const isTime = (term: Term | undefined) => term?.kind === 'period' || term?.kind === 'date';
  const result: Term[] = [];
  for (const [index, term] of terms.entries()) {
    const next = terms.slice(index + 1).find(({ kind }) => kind !== 'number');
    const previous = terms.slice(0, index).findLast(({ kind }) => kind !== 'number');
    const isOfTime = isTime(next) || previous?.kind === 'date';
    if (term.kind !== 'number' || !isOfTime) result.push(term);
  }
  return result;
}

/** Meaning of a clause for the offer. */
type Meaning =
  | 'in'
  | 'out'
  | 'future'
  | 'preorder'
  | 'backorder'
  | 'pickup'
  /** Available in shops, which does not imply that it can be ordered. */
  | 'store'
  /** Other sizes, colours or sellers. */
  | 'variant'
  /** Says nothing about stock: "ships within 2 days". */
  | 'neutral'
  | 'unknown';

/** A clause as its terms in order, and as the set of their kinds. */
interface Clause {
  terms: readonly Term[];
  kinds: ReadonlySet<Term['kind']>;
  /** Number of pieces. Undefined if it states none. */
  count?: number | undefined;
}

const hasAny = ({ kinds }: Clause, ...expectedKinds: readonly Term['kind'][]) =>
  expectedKinds.some((kind) => kinds.has(kind));

/** Maximum terms between a negator and the word that it negates. */
const negationReach = 3;

/**
 * Returns true if a negator applies to a word about stock: after it, or in some languages before
 * it.
 */
function isNegated({ terms }: Clause): boolean {
  const isTarget = ({ kind }: Term) => ['stock', 'noun', 'unit', 'left'].includes(kind);
  const before = terms.findIndex(({ kind }) => kind === 'not');
  // "In stock: no"
  if (before === 1 && terms.length === 2) return isTarget(terms[0]!);
  if (before >= 0) return terms.slice(before + 1, before + 1 + negationReach).some(isTarget);
  const after = terms.findIndex(({ kind }) => kind === 'notAfter');
  return after > 0 && terms.slice(Math.max(0, after - negationReach), after).some(isTarget);
}

/** Reads a clause with a negator. */
function readNegation(clause: Clause): Meaning {
  const { terms, kinds, count } = clause;
  const negators = terms.filter(({ kind }) => kind === 'not' || kind === 'notAfter');
  if (negators.length !== 1 || hasAny(clause, 'gone', 'few', 'store', 'preorder', 'backorder'))
    return 'unknown';
  if (count === undefined) return isNegated(clause) ? 'out' : 'unknown';
  // "plus de 10 disponibles": more than 10.
  const negator = terms.findIndex(({ kind }) => kind === 'not');
  const isComparison = terms[negator + 1]?.kind === 'number';
  return isComparison && count > 0 && kinds.has('stock') ? 'in' : 'unknown';
}

function readGone(clause: Clause): Meaning {
  if (clause.count !== undefined || hasAny(clause, 'stock', 'few', 'store')) return 'unknown';
  const isFuture = clause.kinds.has('future') && clause.terms[0]?.kind !== 'gone';
  return isFuture ? 'unknown' : 'out';
}

function readStore(clause: Clause): Meaning {
  if (clause.kinds.has('only')) return clause.kinds.has('online') ? 'unknown' : 'pickup';
  if (!clause.kinds.has('online')) return 'store';
  return clause.kinds.has('stock') ? 'in' : 'unknown';
}

/** Reads a clause that says that there are pieces. */
function readStock(clause: Clause): Meaning {
  const { count, terms } = clause;
  // "Free shipping available"
  if (terms.length === 2 && terms[0]!.kind === 'ship' && terms[1]!.kind === 'stock')
    return 'neutral';
  const isAboutTime = hasAny(clause, 'period', 'date');
  const isAboutDelivery = hasAny(clause, 'ship', 'dispatch');
  if (isAboutTime && !isAboutDelivery && (hasAny(clause, 'stock') || count !== undefined))
    return 'future';
  if (hasAny(clause, 'stock', 'few')) return 'in';
  const isRest =
    hasAny(clause, 'left', 'noun') || (clause.kinds.has('only') && clause.kinds.has('unit'));
  if (count !== undefined) return isRest ? 'in' : 'unknown';
  if (hasAny(clause, 'left', 'unit', 'quantity', 'only')) return 'unknown';
  return hasAny(clause, 'dispatch') && isAboutTime ? 'in' : 'neutral';
}

function readClause(clause: Clause): Meaning {
  const { kinds, count } = clause;
  if (kinds.has('unknown') || clause.terms.filter(({ kind }) => kind === 'number').length > 1)
    return 'unknown';
  if (kinds.has('variant')) return 'variant';
  if (count === 0) {
    const isOfStock = hasAny(clause, 'stock', 'noun', 'unit', 'left', 'quantity', 'gone');
    if (isOfStock && !hasAny(clause, 'not', 'notAfter', 'preorder', 'store')) return 'out';
    return 'unknown';
  }
  if (hasAny(clause, 'not', 'notAfter')) return readNegation(clause);
  if (kinds.has('gone')) return readGone(clause);
  if (kinds.has('future')) return 'future';
  if (kinds.has('preorder')) return 'preorder';
  if (kinds.has('backorder')) return 'backorder';
  return kinds.has('store') ? readStore(clause) : readStock(clause);
}

/** A sentence as its clauses with their meanings. */
type Sentence = readonly { clause: Clause; meaning: Meaning }[];

const isCount = (terms: readonly Term[]) =>
  terms.length > 0 && terms.every(({ kind }) => kind === 'number' || kind === 'unit');

function readSentence(text: string): Sentence {
  const clauses: Term[][] = [];
  for (const piece of text.split(/,(?!\d)|(?<!\d),|\s[-–—]\s|\/(?!\d)|[、()[\]]/)) {
    const terms = withoutTimes(termsOf(piece));
    // "In stock (5 pieces)"
    if (isCount(terms) && clauses.length > 0) clauses.at(-1)!.push(...terms);
    else clauses.push(terms);
  }
  return clauses.map((terms) => {
    const count = terms.find(({ kind }) => kind === 'number')?.value;
    const clause = { terms, kinds: new Set(terms.map(({ kind }) => kind)), count };
    return { clause, meaning: readClause(clause) };
  });
}

/** Returns true for a sentence that changes nothing about a stated end of the stock. */
function isBesideSoldOut(sentence: Sentence): boolean {
  const isAside = (clause: Clause) =>
    clause.kinds.has('future') || !hasAny(clause, 'stock', 'few', 'gone', 'variant');
  return sentence.every(
    ({ clause, meaning }) => meaning !== 'in' && (meaning !== 'unknown' || isAside(clause)),
  );
}

/** A name of schema.org, the meaning that it needs, and those that may stand beside it. */
interface StateRule {
  name: string;
  needs: Meaning;
  allows: readonly Meaning[];
}

const stateRules: readonly StateRule[] = [
  { name: 'OutOfStock', needs: 'out', allows: ['future', 'neutral'] },
  { name: 'PreOrder', needs: 'preorder', allows: ['in', 'neutral', 'future'] },
  { name: 'BackOrder', needs: 'backorder', allows: ['in', 'neutral'] },
  { name: 'InStoreOnly', needs: 'pickup', allows: ['in', 'store', 'neutral'] },
  { name: 'InStock', needs: 'in', allows: ['store', 'neutral'] },
];

/** Returns the name of schema.org for the meanings of a text. Null if they fit none. */
function stateOf(meanings: ReadonlySet<Meaning>): string | null {
  const rule = stateRules.find(({ needs, allows }) => {
    const isAllowed = (meaning: Meaning) => meaning === needs || allows.includes(meaning);
    return meanings.has(needs) && [...meanings].every(isAllowed);
  });
  return rule?.name ?? null;
}

/** Returns true for a text that says only how soon an item is sent: "Ships within 2 days". */
export function isDispatchTime(text: string): boolean {
  const clauses = sentencesOf(text).flatMap((sentence) => sentence.map(({ clause }) => clause));
  const isAboutStock = (clause: Clause) => hasAny(clause, 'stock', 'noun', 'few', 'left', 'gone');
  return clauses.some((clause) => hasAny(clause, 'dispatch')) && !clauses.some(isAboutStock);
}

/** Label of the number of an item, not a negation: "Item No. 12". */
const itemNumber = /(?<!in )\b(?:item|product|article|stock|part|model) no\./i;

/**
 * Returns the schema.org name of a text in a language of the vocabulary, if the whole text fits.
 */
function readText(text: string): string | null {
  if (text.length > maxLength || unclearText.test(text) || itemNumber.test(text)) return null;
  const sentences = sentencesOf(text);
  const isSoldOut = sentences.some(saysSoldOut);
  const meanings = new Set<Meaning>();
  for (const sentence of sentences) {
    if (isSoldOut && !saysSoldOut(sentence) && isBesideSoldOut(sentence)) continue;
    for (const { meaning } of sentence) meanings.add(meaning);
  }
  return stateOf(meanings);
}

/** A question, a cross, a negative number, or a cut text. */
const unclearText = /[?？…✗✘❌🚫]|\.\.|(?<!\S)[-−]\d/u;

const saysSoldOut = (sentence: Sentence) => sentence.some(({ meaning }) => meaning === 'out');

function sentencesOf(text: string): Sentence[] {
  const texts = plainText(text)
    // "queda(n)"
    .replace(/(?<=\p{L})\(\p{L}{1,2}\)/gu, '')
    // "0 szt. na stanie"
    .replace(/(?<=\d\s?\p{L}{2,3})\.(?=\s)/gu, '')
    .split(/[.](?!\d)|[!;|•·。！；\n]/);
  return texts.map(readSentence);
}

/**
 * Reads an address or name of schema.org, a name of a product feed, or a shop's text in many
 * languages. A text is understood as a whole: negators, counts, and words for the future count as
 * well as those for stock, and any other word leaves `available` null with the text as the state.
 * So do texts about other sizes.
 */
export function readAvailability(text: string | null): Availability {
  const line = text?.replace(/\s+/g, ' ').trim() ?? '';
  if (line === '') return { state: null, available: null };
  const name = line
    .replace(/^(?:(?:(?:https?:)?\/\/|schema\.org\/)(?:\S*[/#])?|\w+:)(?=[\w -]+\/?$)/i, '')
    .replace(/[\s_-]|\/$/g, '')
    .toLowerCase();
  const state = states.get(name) ?? readText(line);
  if (state === null) return { state: line.slice(0, maxLength), available: null };
  return { state, available: !notForSale.has(state) };
}

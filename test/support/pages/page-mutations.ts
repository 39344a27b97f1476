import type { Random } from '../../../sandbox/random.ts';
import type { Json } from '../../../src/base/json.ts';

/** Nests a text in arrays and objects. */
const nest = (levels: number): Json => (levels === 0 ? 'odd' : [{ text: nest(levels - 1) }]);

/** Values that no page is expected to have. */
export const oddValues: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  '',
  ' ',
  'odd',
  '12',
  '1729000000000000123',
  '1.234,56',
  [],
  [null],
  ['odd'],
  [{}],
  {},
  { odd: 1 },
  '{"odd":1}',
  '<b>&amp;\u0000</b>',
  'odd '.repeat(500),
  nest(60),
];

/** Names that objects of JavaScript have. */
const oddNames = ['__proto__', 'constructor', 'toString', 'length', '', '0'];

const oddCharacters = [
  ...'<>&"\'=/\\{}[],.:-%$€09 \n\u0000\u00a0\u200f\ufffd\ud83d٣',
  '&#0;',
  '&#x110000;',
  '\\u0000',
];

/** Parts of pages that are closed too early, never, or twice. */
const oddParts = [
  '<!--',
  '-->',
  '<script>',
  '</script>',
  '</div>',
  '</html>',
  '<div>',
  '<table><tr>',
  '<![CDATA[',
  '<template>',
  '<select>',
  '<title>',
  '<base href="https://other.example/">',
  '<a href="//[">',
];

/** Replaces up to eight characters of a text by unexpected ones. */
function changeCharacters(text: string, random: Random): string {
  const start = random.integer(0, text.length);
  const removed = random.integer(0, 8);
  const added = Array.from({ length: random.integer(0, 4) }, () => random.pick(oddCharacters));
  return text.slice(0, start) + added.join('') + text.slice(start + removed);
}

type Container = Json[] | Record<string, Json>;

const isContainer = (value: Json): value is Container =>
  typeof value === 'object' && value !== null;

/** A member of an object, or an element of an array. */
interface Position {
  container: Container;
  key: string;
}

const get = ({ container, key }: Position): Json => (container as Record<string, Json>)[key]!;

function set({ container, key }: Position, value: Json): void {
  // An assignment to `__proto__` would change the prototype.
  Object.defineProperty(container, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

function remove({ container, key }: Position): void {
  if (Array.isArray(container)) container.splice(Number(key), 1);
  else delete container[key];
}

/** Chooses a position of a page at any depth, or null if the page is empty. */
function pickPosition(page: Json, random: Random): Position | null {
  let position: Position | null = null;
  let value = page;
  while (isContainer(value)) {
    const keys = Object.keys(value);
    if (keys.length === 0 || (position !== null && random.once(8))) break;
    position = { container: value, key: random.pick(keys) };
    value = get(position);
  }
  return position;
}

/** A change of JSON. `other` is another position of the page. */
type JsonChange = (position: Position, other: Position, random: Random) => void;

const jsonChanges: readonly JsonChange[] = [
  (position, _other, random) => set(position, structuredClone(random.pick(oddValues))),
  (position) => remove(position),
  (position, other) => set(position, structuredClone(get(other))),
  function swap(position, other) {
    const [one, two] = [get(position), get(other)].map((value) => structuredClone(value)) as [
      Json,
      Json,
    ];
    set(position, two);
    set(other, one);
  },
  function duplicate(position) {
    const { container, key } = position;
    const copy = structuredClone(get(position));
    if (Array.isArray(container)) container.splice(Number(key), 0, copy);
    else set({ container, key: `${key}_2` }, copy);
  },
  function rename(position, _other, random) {
    const { container } = position;
    const value = get(position);
    remove(position);
    set({ container, key: Array.isArray(container) ? '0' : random.pick(oddNames) }, value);
  },
  function convert(position, _other, random) {
    const value = get(position);
    const texts = [
      JSON.stringify(value),
      changeCharacters(typeof value === 'string' ? value : 'odd', random),
    ];
    const wrapped = [[value], { value }, { 0: value, length: 1 }];
    set(
      position,
      random.pick<Json>([
        ...texts,
        ...wrapped,
        typeof value === 'string' ? Number.parseFloat(value) : -0.5,
      ]),
    );
  },
];

/** Returns a copy of the data of a page with two to six random changes. */
export function changeJson(page: Json, random: Random): Json {
  const changed = structuredClone(page);
  for (let left = random.integer(2, 6); left > 0; left -= 1) {
    const [position, other] = [pickPosition(changed, random), pickPosition(changed, random)];
    if (position !== null && other !== null) random.pick(jsonChanges)(position, other, random);
  }
  return changed;
}

/** Returns a random range of a list: its start, and up to `max` elements. */
function pickRange(length: number, max: number, random: Random): [start: number, count: number] {
  return [random.integer(0, length - 1), random.integer(1, max)];
}

/**
 * Replaces a random piece that matches. Pages have such pieces, unless other changes removed them.
 */
function replacePiece(
  pieces: string[],
  random: Random,
  pattern: RegExp,
  change: (piece: string) => string,
) {
  const places = pieces.flatMap((piece, index) => (pattern.test(piece) ? [index] : []));
  if (places.length === 0) return;
  const place = random.pick(places);
  pieces[place] = change(pieces[place]!);
}

/** A start tag with attributes. */
const startTag = /^<[a-z][^\s>]*\s[^>]*>$/i;

const attributes = /\s+([^\s=>]+)(?:="([^"]*)")?/g;

/** A change of HTML, given as its tags and the texts between them. */
type HtmlChange = (pieces: string[], random: Random) => void;

const htmlChanges: readonly HtmlChange[] = [
  function cut(pieces, random) {
    pieces.splice(...pickRange(pieces.length, random.pick([1, 3, 40]), random));
  },
  function duplicate(pieces, random) {
    const [start, count] = pickRange(pieces.length, random.pick([1, 6, 200]), random);
    pieces.splice(
      random.pick([start, random.integer(0, pieces.length)]),
      0,
      ...pieces.slice(start, start + count),
    );
  },
  function move(pieces, random) {
    const moved = pieces.splice(...pickRange(pieces.length, 20, random));
    pieces.splice(random.integer(0, pieces.length), 0, ...moved);
  },
  function swap(pieces, random) {
    const [one, two] = [random.integer(0, pieces.length - 1), random.integer(0, pieces.length - 1)];
    [pieces[one], pieces[two]] = [pieces[two]!, pieces[one]!];
  },
  function insert(pieces, random) {
    pieces.splice(random.integer(0, pieces.length), 0, random.pick(oddParts));
  },
  function exchangeAttributes(pieces, random) {
    const others = pieces.filter((piece) => startTag.test(piece));
    const rest = (tag: string) => tag.replace(/^<[^\s>]*/, '');
    replacePiece(pieces, random, startTag, (tag) => {
      return tag.slice(0, tag.length - rest(tag).length) + rest(random.pick(others));
    });
  },
  function removeAttribute(pieces, random) {
    replacePiece(pieces, random, startTag, (tag) =>
      tag.replace(random.pick(tag.match(attributes) ?? ['']), ''),
    );
  },
  function exchangeValues(pieces, random) {
    replacePiece(pieces, random, startTag, (tag) => {
      const values = [...tag.matchAll(attributes)].map(([, , value]) => value ?? '');
      return tag.replace(attributes, (_, name: string) => ` ${name}="${random.pick(values)}"`);
    });
  },
  (pieces, random) => replacePiece(pieces, random, /^</, (tag) => changeCharacters(tag, random)),
  (pieces, random) =>
    replacePiece(pieces, random, /^[^<]*[^<\s]/, (text) => changeCharacters(text, random)),
  (pieces, random) =>
    replacePiece(pieces, random, /^[^<]*\d/, (text) =>
      text.replace(/\d+/, random.pick(oddCharacters)),
    ),
  function truncate(pieces, random) {
    if (random.once(10)) pieces.length = random.integer(1, pieces.length);
  },
];

/**
 * Returns a copy of a page of HTML with one to eight random changes, sometimes with invalid UTF-8.
 */
export function changeHtml(html: string, random: Random): Buffer {
  const pieces = html.match(/<[^>]*>|[^<]+|</g) ?? [];
  for (let left = random.integer(1, 8); left > 0 && pieces.length > 0; left -= 1)
    random.pick(htmlChanges)(pieces, random);
  const body = Buffer.from(pieces.join(''));
  if (body.length > 0 && random.once(8)) {
    for (let left = random.integer(1, 4); left > 0; left -= 1)
      body[random.integer(0, body.length - 1)] = random.integer(0, 255);
  }
  return body;
}

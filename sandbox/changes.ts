/**
 * A change of an invented item between two readings of its pages. Absent members keep their values.
 */
export interface PageChange {
  /** Factor of every price of the item: 0.9 lowers the price by 10 %. */
  priceFactor?: number;
  /** Pieces in stock of the item and of each of its variants. */
  stock?: number;
  title?: string;
  /** True if the item is withdrawn: its page is not found, and listings do not contain it. */
  isRemoved?: boolean;
}

/** Changes of items by `market/region/id`. The region is empty for a market with one address. */
export type ItemChanges = ReadonlyMap<string, PageChange>;

const none: PageChange = {};
let current: ItemChanges = new Map();
let currentOfEveryItem = none;

/** Returns the key of an item's change. */
export const changeKey = (market: string, region: string, id: string | number): string =>
  `${market}/${region}/${id}`;

/**
 * Calls a synchronous function while the changes apply. `ofEveryItem` has the members that the
 * change of an item lacks.
 */
export function withChanges<T>(
  changes: ItemChanges,
  call: () => T,
  ofEveryItem: PageChange = none,
): T {
  const [outer, outerOfEveryItem] = [current, currentOfEveryItem];
  current = changes;
  currentOfEveryItem = ofEveryItem;
  try {
    return call();
  } finally {
    current = outer;
    currentOfEveryItem = outerOfEveryItem;
  }
}

/** Returns the current change of an item, which may be known by several ids. */
export function getChange(
  market: string,
  region: string,
  ...ids: readonly (string | number)[]
): PageChange {
  if (current.size === 0) return currentOfEveryItem;
  const changes = ids.map((id) => current.get(changeKey(market, region, id)));
  return Object.assign({}, currentOfEveryItem, ...changes);
}

/** Returns an amount after a change, with up to `decimals` digits after the point. */
export function changedPrice(
  amount: number,
  { priceFactor = 1 }: PageChange,
  decimals = 2,
): number {
  return priceFactor === 1 ? amount : Number((amount * priceFactor).toFixed(decimals));
}

/**
 * Parses the JSON body of a request that changes an item. Throws an Error that names the wrong
 * member.
 */
export function parseChange(body: string): PageChange {
  const change = JSON.parse(body) as Record<string, unknown>;
  const { priceFactor, stock, title, isRemoved, ...unknownMembers } = change;
  const [unknownName] = Object.keys(unknownMembers);
  if (unknownName !== undefined) throw new Error(`"${unknownName}" is not a change of an item`);
  const isNumber = (value: unknown) =>
    value === undefined || (typeof value === 'number' && value >= 0);
  if (!isNumber(priceFactor)) throw new Error('"priceFactor" must be a number of at least 0');
  if (!isNumber(stock)) throw new Error('"stock" must be a number of at least 0');
  if (title !== undefined && typeof title !== 'string') throw new Error('"title" must be a string');
  if (isRemoved !== undefined && typeof isRemoved !== 'boolean')
    throw new Error('"isRemoved" must be a boolean');
  return change as PageChange;
}

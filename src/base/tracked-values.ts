/** A variant of a tracked item. Null: the page does not state it. */
export interface TrackedVariant {
  id: string | null;
  name: string | null;
  price: number | null;
  stock: number | null;
}

/**
 * Values of an item whose history is kept. Null: not stated, and not compared. Prices are in
 * currency units.
 */
export interface TrackedValues {
  title: string | null;
  /** Lowest price of the item's variants. */
  price: number | null;
  currency: string | null;
  /** Pieces in stock of all variants. */
  stock: number | null;
  /** True if the item can be bought. Follows from `stock` where that is known. */
  available: boolean | null;
  /** Pieces sold ever. */
  sold: number | null;
  /** Mean number of stars. */
  rating: number | null;
  variants: readonly TrackedVariant[] | null;
}

export type TrackedField = keyof TrackedValues;

/** Names of the tracked values, in the order of the documentation. */
export const trackedFields = [
  'title',
  'price',
  'currency',
  'stock',
  'available',
  'sold',
  'rating',
  'variants',
] as const satisfies readonly TrackedField[];

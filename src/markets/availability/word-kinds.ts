/**
 * Kinds of words in a text about stock. A word has one kind in all languages.
 *
 * - stock: the offer can be bought ("in stock", "add to cart"); gone: it cannot ("sold out")
 * - noun: what there may be some of ("stock"); not: negates a stock word after it; notAfter: one
 *   before it
 * - future: not yet, or on request ("soon", "notify me"); preorder, backorder
 * - store: a shop in a street; only; online
 * - few: some are left ("low stock"); left: beside a count; unit; quantity: a label of a count
 * - variant: other sizes or colours; ship: delivery; dispatch: is sent; period: unit of time; date
 * - filler: changes nothing
 */
export type WordKind =
  | 'stock'
  | 'gone'
  | 'noun'
  | 'not'
  | 'notAfter'
  | 'future'
  | 'preorder'
  | 'backorder'
  | 'store'
  | 'only'
  | 'online'
  | 'few'
  | 'left'
  | 'unit'
  | 'quantity'
  | 'variant'
  | 'ship'
  | 'dispatch'
  | 'period'
  | 'date'
  | 'filler';

/** Phrases of a language, or of related ones, by kind. */
export type Vocabulary = Readonly<Partial<Record<WordKind, readonly string[]>>>;

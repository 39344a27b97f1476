export interface Availability {
  /** Name in schema.org: "InStock", "PreOrder"; otherwise the shop's text. Null if it is not stated. */
  state: string | null;
  /** True if the offer can be bought. Null if that is not known. */
  available: boolean | null;
}

/** Names of schema.org (ItemAvailability) and of product feeds, in lower case, with their schema.org name. */
const states: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    `InStock InStoreOnly OnlineOnly LimitedAvailability PreOrder PreSale BackOrder MadeToOrder OutOfStock SoldOut
    Discontinued Reserved`
      .split(/\s+/)
      .map((name) => [name.toLowerCase(), name]),
  ),
  ...{ available: 'InStock', availablefororder: 'BackOrder' },
  ...{ oos: 'OutOfStock', unavailable: 'OutOfStock', notavailable: 'OutOfStock' },
};
const notForSale: ReadonlySet<string> = new Set(['OutOfStock', 'SoldOut', 'Discontinued', 'Reserved']);

/** Wording of offers that cannot be bought, and of those that can. The first is checked first. */
const goneWords =
  /out of stock|sold ?out|unavailable|not available|no longer|discontinued|nicht (?:verfügbar|lieferbar|auf lager|vorrätig)|ausverkauft|vergriffen|agotado|no disponible|sin existencias|épuisé|indisponible|rupture|esaurito|non disponibile|uitverkocht|niet (?:op voorraad|leverbaar)|esgotado|indisponível|habis|stok kosong|tidak tersedia|hết hàng|สินค้าหมด|売り切れ|在庫切れ|品切れ|缺貨|售罄|brak w magazynie|niedostępny|slutsåld/i;
const stockWords =
  /in stock|available|only \d+ left|add to (?:cart|basket|bag)|auf lager|verfügbar|lieferbar|vorrätig|en stock|disponible|hay existencias|disponibile|op voorraad|leverbaar|em estoque|disponível|tersedia|ready stock|còn hàng|มีสินค้า|在庫あり|有貨|有货|现货|dostępny|w magazynie|i lager/i;

/** Reads an address or name of schema.org, a name of a product feed, or a shop's text in many languages. */
export function readAvailability(said: string | null): Availability {
  const line = said?.replace(/\s+/g, ' ').trim().slice(0, 200) ?? '';
  if (line === '') return { state: null, available: null };
  const name = line
    .replace(/^.*[/#:](?=\w+$)/, '')
    .replace(/[\s_-]/g, '')
    .toLowerCase();
  const known = Object.hasOwn(states, name) ? states[name]! : null;
  if (known !== null) return { state: known, available: !notForSale.has(known) };
  if (goneWords.test(line)) return { state: 'OutOfStock', available: false };
  return stockWords.test(line) ? { state: 'InStock', available: true } : { state: line, available: null };
}

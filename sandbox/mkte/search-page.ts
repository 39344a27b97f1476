import { getChange } from '../changes.ts';
import { hash } from '../random.ts';
import { fakeProduct } from './products.ts';
import { decimal, escaped, type FakeMkteStore, formatInteger, money, stores } from './stores.ts';

/** A result of a search. */
export interface FakeResult {
  asin: string;
  ad: boolean;
}

const perPage = 16;

function asinAt(query: string, index: number): string {
  const text = `${hash(query).toString(36)}${index.toString(36)}`.toUpperCase();
  return `B0${text.slice(-7).padStart(7, '0')}${index % 10}`;
}

/** Returns the number of pages of a search, by the last digits of its keyword (README.md). */
export function countPages(query: string): number {
  const form = query.slice(-3);
  const fixed: Record<string, number> = {
    '700': 0,
    '701': 1,
    '702': 12,
    '703': Number.POSITIVE_INFINITY,
    '707': 2,
    '708': 1,
    '820': 3,
  };
  return fixed[form] ?? 2 + (hash(query) % 4);
}

/**
 * Returns the results of a page. The first two are sponsored, and the first of them is also a
 * regular result.
 */
export function fakeSearchResults(query: string, page: number): FakeResult[] {
  const start = query.endsWith('703') ? 0 : (page - 1) * perPage;
  const regular = Array.from({ length: perPage }, (_, at) => ({
    asin: asinAt(query, start + at),
    ad: false,
  }));
  return [
    { asin: regular[3]!.asin, ad: true },
    { asin: asinAt(`${query}/ad`, page), ad: true },
    ...regular,
  ];
}

function path(asin: string): string {
  return `/A-Slug-%C3%A9/dp/${asin}/ref=sr_1_1?qid=1&sr=8-1`;
}

/** Returns the offers of a title with a trial, another format and a purchase. */
function trialOffers(store: FakeMkteStore, asin: string, price: number): string {
  const offer = (to: string, label: string, price: string) =>
    `<div class="a-row"><a class="a-text-bold" href="/dp/${to}">${label}</a></div><div class="a-row"><a href="/dp/${to}"><span class="a-price"><span class="a-offscreen">${price}</span></span></a></div>`;
  const trial = `${offer(asin, 'Audio', money(store, 0))}<div class="a-row">Free with a trial</div>`;
  const other = offer(`${asin.slice(0, -1)}Z`, 'Paperback', money(store, price * 2));
  return `<div data-cy="price-recipe">${trial}${other}${offer(asin, 'Audio', money(store, price))}</div>`;
}

function card(
  store: FakeMkteStore,
  region: string,
  query: string,
  { asin, ad }: FakeResult,
): string {
  const product = fakeProduct(region, asin);
  const bare = query.endsWith('705');
  const href = ad
    ? `/sspa/click?ie=UTF8&spc=abc&url=${encodeURIComponent(path(asin))}`
    : path(asin);
  const heading = `<a class="a-link-normal" href="${escaped(href)}"><h2 aria-label="${ad ? store.adPrefix : ''}${escaped(product.title)}" class="a-size-medium"><span>${escaped(product.title)}</span></h2></a>`;
  const brand = query.endsWith('704')
    ? `<div class="a-row a-color-secondary"><h2 class="a-size-mini s-line-clamp-1"><span>${escaped(product.brand)}</span></h2></div>`
    : '';
  const short =
    product.ratings >= 1000 ? `${(product.ratings / 1000).toFixed(1)}K` : String(product.ratings);
  const text = store.rating(decimal(store, product.rating));
  const reviews = bare
    ? ''
    : `<div data-cy="reviews-block"><div class="a-row a-size-small"><span aria-hidden="true">${decimal(store, product.rating)}</span><a aria-label="${text}, details"><i class="a-icon a-icon-star-small"><span class="a-icon-alt">${text}</span></i></a> <a aria-label="${store.ratings(formatInteger(store, product.ratings))}" class="a-link-normal s-underline-text" href="#customerReviews"><span aria-hidden="true">(${short})</span></a></div></div>`;
  const before =
    product.before === null
      ? ''
      : `<span class="a-price a-text-price" data-a-strike="true"><span class="a-offscreen">${money(store, product.before)}</span></span>`;
  const single = bare
    ? ''
    : `<div data-cy="price-recipe"><span class="a-price" data-a-size="xl"><span class="a-offscreen">${money(store, product.price)}</span></span><span class="a-price a-text-price" data-a-size="b"><span class="a-offscreen">${money(store, 1)}</span></span>${before}</div>`;
  const price = query.endsWith('708') ? trialOffers(store, asin, product.price) : single;
  const prime =
    hash(asin) % 3 === 0
      ? '<i class="a-icon a-icon-prime a-icon-medium" role="img" aria-label="Amazon Prime"></i>'
      : '';
  const other = `<div data-cy="secondary-offer-recipe"><span class="a-price"><span class="a-offscreen">${money(store, 2)}</span></span></div><h2>Climate certified</h2>`;
  const label = ad
    ? `<a class="puis-sponsored-label-text"><span>${store.sponsored}</span></a>`
    : '';
  return `<div data-asin="${asin}" data-component-type="s-search-result" class="s-result-item s-asin${ad ? ' AdHolder' : ''}"><img class="s-image" src="https://m.example-cdn.test/images/I/${product.images[0]}._AC_UL320_.jpg" alt="${escaped(product.title)}">
<div data-cy="title-recipe">${label}${brand}${heading}</div>${reviews}${price}${prime}${other}</div>`;
}

/** Returns a result in the form of about 2017. */
function olderCard(store: FakeMkteStore, region: string, { asin }: FakeResult): string {
  const product = fakeProduct(region, asin);
  return `<li id="result_0" data-asin="${asin}" class="s-result-item celwidget"><img class="s-access-image" src="https://m.example-cdn.test/images/I/${product.images[0]}.jpg"><a class="a-link-normal s-access-detail-page" title="x" href="https://${store.host}/A-Slug/dp/${asin}/ref=sr_1_1"><h2 class="s-access-title">${escaped(product.title)}</h2></a>
<span class="a-size-base a-color-price s-price a-text-bold">${money(store, product.price)}</span><div class="a-row a-spacing-none"><i class="a-icon a-icon-prime"><span class="a-icon-alt">Prime</span></i><i class="a-icon a-icon-star"><span class="a-icon-alt">${store.rating(decimal(store, product.rating))}</span></i><a class="a-size-small a-link-normal" href="/A-Slug/dp/${asin}#customerReviews">${formatInteger(store, product.ratings)}</a></div></li>`;
}

function pagination(store: FakeMkteStore, query: string, page: number, last: number): string {
  if (query.endsWith('706'))
    return page < last ? `<a id="pagnNextLink" href="/s?page=${page + 1}">${store.next}</a>` : '';
  if (last === 1) return '';
  const next =
    page < last
      ? `<a href="/s?k=x&amp;page=${page + 1}" class="s-pagination-item s-pagination-next s-pagination-button">${store.next}</a>`
      : `<span class="s-pagination-item s-pagination-next s-pagination-disabled " aria-disabled="true">${store.next}</span>`;
  return `<span class="s-pagination-strip"><span class="s-pagination-item s-pagination-selected">${page}</span>${next}</span>`;
}

/** Returns a page of a search or category; beyond the end, an empty one. */
export function searchPage(region: string, query: string, requestedPage: number): string {
  const store = stores[region]!;
  const last = countPages(query);
  const page = query.endsWith('707') && requestedPage > last ? 1 : requestedPage;
  const results = (page > last ? [] : fakeSearchResults(query, page)).filter(
    ({ asin }) => !getChange('mkte', region, asin).isRemoved,
  );
  const cards = results.map((result) =>
    query.endsWith('706') ? olderCard(store, region, result) : card(store, region, query, result),
  );
  const always = query.endsWith('703') || query.endsWith('707') ? Number.POSITIVE_INFINITY : last;
  return `<!doctype html><html lang="${store.language}"><head><title>Store : ${escaped(query)}</title><script>var s = {"totalResultCount":${last === Number.POSITIVE_INFINITY ? 1_000_000 : last * perPage},"x":1};</script></head>
<body><div id="search"><span data-component-type="s-search-results"><div class="s-main-slot">${cards.join('\n')}</div></span>${pagination(store, query, page, always)}</div>
<div class="a-carousel"><div data-asin="B0CAROUSEL" class="a-carousel-card"><h2>RegionCheck</h2></div></div></body></html>`;
}

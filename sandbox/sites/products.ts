import { changedPrice, getChange, type PageChange } from '../changes.ts';
import { hash, random } from '../random.ts';

const things = ['Wool Blanket', 'Brass Hook', 'Oak Stool', 'Clay Mug', 'Linen Apron', 'Copper Pan'];
const makers = ['Hillside', 'North & Daughters', 'Kiln 9'];

/** An invented product in the form of schema.org. */
export interface FakeProduct {
  '@type': 'Product';
  name: string;
  sku: string;
  description: string;
  image: string[];
  brand: { '@type': 'Brand'; name: string };
  aggregateRating?: { '@type': 'AggregateRating'; ratingValue: number; reviewCount: number };
  offers: {
    '@type': 'Offer';
    price: string;
    priceCurrency: 'EUR';
    availability: string;
    itemCondition: string;
    seller: { '@type': 'Organization'; name: string };
  };
}

/** Returns the change of a product, by its id or by the words of its path, as records have it. */
export const changeOf = (id: string): PageChange => getChange('sites', 'example', id, `p-${id}`);

/** Returns the product with an id, after its change if there is one. */
export function fakeProduct(id: string): FakeProduct {
  const draw = random(`sites ${id}`);
  const change = changeOf(id);
  const price = changedPrice(draw.integer(300, 20_000) / 100, change);
  const isStocked = change.stock === undefined ? !draw.once(6) : change.stock > 0;
  return {
    '@type': 'Product',
    name: change.title ?? `${draw.pick(things)} ${id}`,
    sku: `K-${hash(id) % 100_000}`,
    description: 'Made by hand.',
    image: [`https://img.shop.example/${hash(id)}.jpg`],
    brand: { '@type': 'Brand', name: draw.pick(makers) },
    ...(draw.once(4)
      ? {}
      : {
          aggregateRating: {
            '@type': 'AggregateRating',
            ratingValue: draw.integer(30, 50) / 10,
            reviewCount: draw.integer(1, 900),
          },
        }),
    offers: {
      '@type': 'Offer',
      price: price.toFixed(2),
      priceCurrency: 'EUR',
      availability: `https://schema.org/${isStocked ? 'InStock' : 'OutOfStock'}`,
      itemCondition: 'https://schema.org/NewCondition',
      seller: { '@type': 'Organization', name: 'Example Shop' },
    },
  };
}

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** Returns a product page: half of them with JSON-LD, the others with microdata. */
export function productPage(id: string): string {
  const product = fakeProduct(id);
  const { name, offers, brand, sku, image, description, aggregateRating: rating } = product;
  const title = `<title>${escapeHtml(name)} – Example Shop</title>`;
  if (hash(id) % 2 === 0) {
    const data = JSON.stringify({ '@context': 'https://schema.org', ...product }).replaceAll(
      '<',
      '\\u003c',
    );
    return `<head>${title}</head><body><h1>${escapeHtml(name)}</h1><script type="application/ld+json">${data}</script></body>`;
  }
  return `<head>${title}</head><body><div itemscope itemtype="https://schema.org/Product">
<h1 itemprop="name">${escapeHtml(name)}</h1><img itemprop="image" src="${image[0]}" alt=""><span itemprop="sku">${sku}</span>
<p itemprop="description">${description}</p>
<span itemprop="brand" itemscope itemtype="https://schema.org/Brand"><span itemprop="name">${escapeHtml(brand.name)}</span></span>
${rating ? `<p itemprop="aggregateRating" itemscope itemtype="https://schema.org/AggregateRating"><span itemprop="ratingValue">${rating.ratingValue}</span> of 5, <span itemprop="reviewCount">${rating.reviewCount}</span> reviews</p>` : ''}
<div itemprop="offers" itemscope itemtype="https://schema.org/Offer"><meta itemprop="priceCurrency" content="${offers.priceCurrency}">
<span itemprop="price" content="${offers.price}">${offers.price} €</span><link itemprop="availability" href="${offers.availability}">
<link itemprop="itemCondition" href="${offers.itemCondition}"><span itemprop="seller" itemscope itemtype="https://schema.org/Organization"><span itemprop="name">${offers.seller.name}</span></span></div>
</div></body>`;
}

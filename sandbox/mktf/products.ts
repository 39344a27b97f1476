import { changedPrice, getChange, type PageChange } from '../changes.ts';
import { hash, random } from '../random.ts';

const things = ['Wool Socks', 'Trail Cap', 'Linen Apron', 'Oat Soap', 'Clay Mug', 'Cork Mat'];
const vendors = ['Hillside', 'North & Daughters', 'Kiln 9'];

function pad(value: number): string {
  return String(value).padStart(2, '0');
}

/** Formats an amount of euros as the platform does: text with two decimals. */
function price(cents: number): string {
  return (cents / 100).toFixed(2);
}

/** Returns true if a variant can be bought after a change. */
const offered = (isAvailable: boolean, { stock }: PageChange): boolean =>
  stock === undefined ? isAvailable : stock > 0;

/** Returns an invented product as a store's catalogue contains it. */
export function fakeProduct(seed: string, locale: string): Record<string, unknown> {
  const draw = random(`mktf ${seed}`);
  const id = 7_000_000_000_000 + hash(seed) * 100;
  const name = `${draw.pick(things)} ${seed}`;
  const made = `2024-${pad(draw.integer(1, 12))}-${pad(draw.integer(1, 28))}T09:30:00+02:00`;
  const sizes = draw.once(3) ? ['Default Title'] : ['S', 'M', 'L'].slice(0, draw.integer(1, 3));
  const change = getChange('mktf', '', id);
  const cents = changedPrice(draw.integer(300, 20_000), change, 0);
  return {
    id,
    title: change.title ?? (locale === '' ? name : `${name} (${locale})`),
    handle: name.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
    body_html: draw.once(5) ? '' : `<p>${name}, made by hand.</p>`,
    published_at: made,
    created_at: made,
    updated_at: made,
    vendor: draw.pick(vendors),
    product_type: draw.pick(['Clothing', 'Home', '']),
    tags: draw.once(4) ? [] : [draw.pick(['summer', 'winter']), 'Hand Made'],
    variants: sizes.map((size, at) => ({
      id: id + 1 + at,
      title: size,
      option1: size,
      option2: null,
      option3: null,
      sku: draw.once(3) ? '' : `K-${hash(seed) % 1000}-${at}`,
      requires_shipping: true,
      taxable: true,
      featured_image: null,
      available: offered(!draw.once(4), change),
      price: price(cents + at * 100),
      grams: draw.integer(0, 900),
      compare_at_price: draw.pick([null, '0.00', price(cents * 2)]),
      position: at + 1,
      product_id: id,
      created_at: made,
      updated_at: made,
    })),
    images: draw.once(6)
      ? []
      : [
          {
            id: id + 50,
            created_at: made,
            position: 1,
            updated_at: made,
            product_id: id,
            variant_ids: [],
            src: `https://cdn.shopify.com/s/files/fake/${hash(seed)}.jpg?v=1`,
            width: 1200,
            height: 900,
          },
        ],
    options: [
      { name: sizes[0] === 'Default Title' ? 'Title' : 'Size', position: 1, values: sizes },
    ],
  };
}

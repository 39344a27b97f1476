import { describe, expect, test } from 'vitest';
import {
  buyButton as button,
  shopPage as page,
  readShopPage as read,
} from '../../../test/support/pages/shop-page.ts';

const card = `<div class="tile"><a href="/p/bowl">Bowl</a> <b>€ 7,00</b>${button}</div>`;
const offer = `<p>€ 12,50</p>${button}`;

describe('a list of other products', () => {
  test.each([
    'You may also like',
    "You'll also love",
    'Customers who bought this item also bought',
    'People also viewed',
    'Related products',
    'More from this shop',
    'Das könnte Ihnen auch gefallen',
    'Ähnliche Produkte',
    'Vous aimerez aussi',
    'Produits similaires',
    'También te puede gustar',
    'Productos relacionados',
    'Potrebbe interessarti anche',
    'Prodotti correlati',
    'Também pode gostar',
    'Vergelijkbare producten',
    'Podobne produkty',
    'Podobné produkty',
    'Похожие товары',
    'Liknande produkter',
    'この商品を買った人はこんな商品も買っています',
    '관련 상품',
    '猜你喜欢',
    'Produk terkait',
    'Sản phẩm liên quan',
    'สินค้าที่เกี่ยวข้อง',
  ])('under %j has no price of the product', (heading) => {
    for (const other of [
      `<h2>${heading}</h2>${card}`,
      `<section><h3>${heading}</h3>${card}</section>`,
      `<div><div class="row"><h4>${heading}</h4></div><div>${card}</div></div>`,
      `<p class="section-title">${heading}</p>${card}`,
    ]) {
      expect(read(page(`<p>No longer available</p>${other}`))).toBeNull();
      expect(read(page(offer + other))).toMatchObject({ price: 12.5, available: true });
    }
  });

  test('ends at the next heading of its level, and before the heading of the page', () => {
    const others = `<h2>Related products</h2><h3>Bowl</h3>${card}`;
    expect(read(page(`${others}<h2>Offer</h2>${offer}`))).toMatchObject({ price: 12.5 });
    const html = `<title>Oat mug</title><h4>Similar items</h4>${card}<div><h1>Oat mug</h1>${offer}</div>`;
    expect(read(html)).toMatchObject({ price: 12.5 });
  });

  test.each(['Recommended retail price', 'Рекомендуемая цена', 'Recommended use', 'Related'])(
    'does not start at %j',
    (heading) => {
      const body = `<div><span class="price-title">${heading}</span> <b>€ 12,50</b>${button}</div>`;
      expect(read(page(body))?.available).toBe(true);
    },
  );
});

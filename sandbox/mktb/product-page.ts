import { fakeProduct, fakeShop, type MktbGoods, rupiah } from './products.ts';

const noCampaign = {
  campaignID: '0',
  campaignType: '0',
  percentageAmount: 0,
  originalPrice: 0,
  isActive: false,
};

/** Returns the pieces of a variant. A product that is sold out has none of any. */
const piecesOf = ({ stock }: MktbGoods, at: number) => (stock === 0 ? 0 : stock + at);

function variantsOf(goods: MktbGoods) {
  const options = ['S', 'M', 'L'].map((value, at) => ({
    productVariantOptionID: String(7000 + at),
    value,
    hex: '',
    stock: String(piecesOf(goods, at)),
  }));
  return {
    name: 'new_variant_options',
    type: 'variant',
    position: '[1,0,1,1]',
    data: [
      {
        errorCode: 0,
        parentID: `${goods.id}0`,
        defaultChild: goods.id,
        variants: [
          {
            productVariantID: '70',
            variantID: '6',
            name: 'ukuran',
            identifier: 'size',
            option: options,
          },
        ],
        children: options.map((option, at) => ({
          productID: at === 0 ? goods.id : `${goods.id}${at}`,
          price: goods.price + at * 500,
          priceFmt: rupiah(goods.price + at * 500),
          optionID: [7000 + at],
          optionName: [option.value],
          productName: `${goods.name} - ${option.value}`,
          productURL: `https://www.tokopedia.com/${goods.shop.domain}/${goods.key}${at === 0 ? '' : `-${option.value.toLowerCase()}`}`,
          stock: { stock: String(piecesOf(goods, at)), isBuyable: piecesOf(goods, at) > 0 },
          campaignInfo: noCampaign,
        })),
      },
    ],
  };
}

function componentsOf(goods: MktbGoods, variants: boolean) {
  return [
    {
      name: 'product_media',
      type: 'product_media',
      position: '[0,0,1,4]',
      data: [{ media: [{ type: 'image', urlOriginal: goods.image, videoUrl: '' }], videos: [] }],
    },
    { name: 'variant_options', type: 'variant', position: '', data: [] },
    {
      name: 'product_content',
      type: 'product_content',
      position: '[1,0,1,1]',
      data: [
        {
          name: goods.name,
          price: {
            value: goods.price,
            currency: 'IDR',
            priceFmt: rupiah(goods.price),
            slashPriceFmt: rupiah(goods.before),
            discPercentage: goods.discount === 0 ? '' : `${goods.discount}%`,
          },
          campaign: noCampaign,
          stock: {
            useStock: true,
            value: String(goods.stock),
            stockWording: 'Stok <b>terbatas</b>',
          },
          variant: { isVariant: variants, parentID: variants ? `${goods.id}0` : '0' },
          isWishlist: false,
        },
      ],
    },
    ...(variants ? [variantsOf(goods)] : []),
    {
      name: 'product_detail',
      type: 'product_detail',
      position: '[1,1,1,1]',
      data: [
        {
          content: [
            { title: 'Kondisi', subtitle: 'Baru' },
            { title: 'Deskripsi', subtitle: `${goods.name}. Dibuat dengan tangan.` },
          ],
        },
      ],
    },
    {
      name: 'review',
      type: 'review',
      position: '',
      data: [
        { reviews: [{ message: 'Bagus', rating: 5, user: { fullName: 'B*** S***', image: '' } }] },
      ],
    },
  ];
}

/** Returns the counts of sales and reviews in a page layout. */
function countsOf(goods: MktbGoods) {
  return {
    txStats: {
      transactionSuccess: String(goods.sold),
      transactionReject: '0',
      countSold: String(goods.sold),
      paymentVerified: String(goods.sold),
      itemSoldFmt: `${goods.sold}`,
    },
    stats: {
      countView: '0',
      countReview: String(goods.reviews),
      countTalk: '0',
      rating: goods.stars,
    },
  };
}

/** Category of every product. */
const category = {
  id: '903',
  name: 'Dekorasi',
  title: '',
  breadcrumbURL: 'https://www.tokopedia.com/p/rumah/dekorasi',
  detail: [
    { id: '900', name: 'Rumah', breadcrumbURL: 'https://www.tokopedia.com/p/rumah' },
    { id: '903', name: 'Dekorasi', breadcrumbURL: 'https://www.tokopedia.com/p/rumah/dekorasi' },
  ],
};

/** Returns the page layout of a product for `data.pdpGetLayout`. */
export function productPage(shopDomain: string, productKey: string): Record<string, unknown> {
  const digits = productKey.slice(-3);
  const goods = {
    ...fakeProduct(`${shopDomain} ${productKey}`, fakeShop(shopDomain)),
    key: productKey.toLowerCase(),
  };
  if (digits === '701') goods.stock = 0;
  const menu =
    goods.stock % 2 === 0 ? { id: '0', name: '', url: '' } : { id: '81', name: 'Rumah', url: '' };
  const basicInfo = {
    alias: goods.key,
    createdAt: '2024-02-03T04:05:06+07:00',
    isQA: false,
    id: goods.id,
    shopID: goods.shop.id,
    shopName: goods.shop.name,
    minOrder: 1,
    maxOrder: Math.max(goods.stock, 1),
    weight: 250,
    weightUnit: 'GRAM',
    condition: digits === '704' ? 'USED' : 'NEW',
    status: digits === '701' ? 'WAREHOUSE' : 'ACTIVE',
    url: `https://www.tokopedia.com/${goods.shop.domain}/${goods.key}`,
    catalogID: '0',
    isLeasing: false,
    menu,
    category,
    ...countsOf(goods),
    productID: goods.id,
    ttsPID: `17300000${goods.id}`,
  };
  if (digits === '703') {
    return {
      basicInfo: { alias: goods.key, id: goods.id, menu: null, category: null },
      components: [{ name: 'product_content', data: [{ name: goods.name }] }],
    };
  }
  return {
    requestID: 'fake-request',
    name: 'Default Layout Desktop',
    pdpSession: JSON.stringify({ sid: Number(goods.shop.id), pr: goods.price }),
    basicInfo,
    components: componentsOf(goods, digits !== '700' && goods.stock % 3 !== 0),
  };
}

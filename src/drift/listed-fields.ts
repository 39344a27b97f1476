/**
 * The fields that readers' records and listings' entries must have, by market and sort of page: those that
 * the interface lists ("Resources and their fields"), and those of the page's data that decisions ("Records")
 * add. The one source for alarms, the demo and the conformance tests. Each is `path: type`; `[]` in a path
 * goes into every element, `?` behind a type allows null, `any` is any value and null.
 */
const productOfA = `collected_at: integer; bff_meta: any; error: any; error_msg: any;
  data.item: object; data.item.item_id: integer; data.item.shop_id: integer; data.item.item_status: string?;
  data.item.status: integer?; data.item.item_type: integer?; data.item.reference_item_id: string?;
  data.item.title: string?; data.item.image: string?; data.item.label_ids: array; data.item.label_ids[]: integer; data.item.attributes: array; data.item.description: string?;
  data.item.models: array; data.item.models[].model_id: integer; data.item.models[].name: string;
  data.item.models[].price: integer?; data.item.models[].stock: integer?; data.item.models[].sold: integer?`;

const variantsOfA = `collected_at: integer; cbOption: integer?; cmtCount: integer?; condition: integer?;
  createTime: integer?; currency: string?; description: string?; flag: integer?; globalBrandId: integer?;
  images: array; images[]: string; itemCardV2.displayPrice: object; itemCardV2.displayPrice.currency: string?;
  itemCardV2.displayPrice.discount: number?; itemCardV2.displayPrice.discountPrice: string?;
  itemCardV2.displayPrice.discountText: object; itemCardV2.displayPrice.discountText.text: string?;
  itemCardV2.displayPrice.discountText.buyerTranslatedText: object;
  itemCardV2.displayPrice.discountText.buyerTranslatedText.source: string?;
  itemCardV2.displayPrice.discountText.buyerTranslatedText.translatedLanguage: string?;
  itemCardV2.displayPrice.discountText.buyerTranslatedText.translatedText: string?;
  itemCardV2.displayPrice.displayFinalPriceIcon: boolean?; itemCardV2.displayPrice.priceMask: string?;
  itemId: string; likedCount: integer?; localBrand: string?; localCatIds: array; localCatIds[]: integer;
  shopId: string; country: string; title: string?; historicalSold: integer?; rating: number?; models: array;
  models[].modelId: string?; models[].name: string?; models[].price: number?; models[].stock: integer?;
  models[].sold: integer?; models[].tierIndex: array`;

const entryOfA = `itemid: integer; shopid: integer; name: string?; image: string?; images: array; price: integer?;
  price_min: integer?; price_max: integer?; stock: integer?; sold: integer?; historical_sold: integer?;
  liked_count: integer?; cmt_count: integer?; item_rating: object; item_rating.rating_star: number?;
  item_rating.rating_count: array; item_rating.rating_count[]: integer; shop_location: string?; shop_name: string?; is_official_shop: boolean?;
  tier_variations: array; tier_variations[].name: string; tier_variations[].options: array;
  tier_variations[].options[]: string`;

const productOfB = `data.variants.basicInfo.id: string; data.variants.basicInfo.shopID: string?;
  data.variants.basicInfo.alias: string; data.variants.basicInfo.createdAt: string?;
  data.variants.basicInfo.category.detail: array; data.variants.basicInfo.category.detail[].id: string;
  data.variants.basicInfo.category.detail[].name: string;
  data.variants.basicInfo.category.detail[].breadcrumbURL: string?;
  data.variants.basicInfo.stats.countView: string?; data.variants.basicInfo.stats.countReview: string?;
  data.variants.basicInfo.stats.countTalk: string?; data.variants.basicInfo.stats.rating: number?;
  data.variants.basicInfo.txStats.transactionSuccess: string?;
  data.variants.basicInfo.txStats.transactionReject: string?; data.variants.basicInfo.txStats.countSold: string?;
  data.variants.basicInfo.minOrder: integer?; data.variants.basicInfo.maxOrder: integer?;
  data.variants.basicInfo.weight: integer?; data.variants.basicInfo.weightUnit: string?;
  data.variants.basicInfo.url: string?; data.variants.basicInfo.condition: string?;
  data.variants.basicInfo.status: string?; data.variants.basicInfo.isLeasing: boolean?;
  data.variants.basicInfo.catalogID: string?; data.variants.basicInfo.menu: array;
  data.variants.basicInfo.menu[].name: string; data.variants.components: array`;

const entry = `id: string; name: string?; price: number?; original_price: number?; discount_percentage: number?;
  rating: number?; review_count: integer?; sold_count: integer?; url: string?; image_url: string?; condition: string?`;

const productOfC = `status: string?; statusCode: integer?; message: string?; data.summary.id: string;
  data.summary.name: string; data.summary.brand: string?; data.summary.category: string?;
  data.summary.price: object; data.summary.price.price: number?; data.summary.price.originalPrice: number?;
  data.summary.price.discountPercentage: number?; data.summary.price.currency: string; data.summary.stock: integer?;
  data.summary.sold: integer?; data.summary.rating: number?; data.summary.totalReview: integer?;
  data.summary.merchant: object; data.summary.merchant.id: string?; data.summary.merchant.name: string?;
  data.summary.merchant.type: string?; data.summary.url: string?; data.summary.condition: string?;
  data.summary.status: string?; data.items: array; data.items[].id: string?; data.items[].sku: string?`;

const productOfD = `_scraped_at: string; _product_id: string; _country: string; product.id: string;
  product.title: string; product.description: string?; product.category: string?; product.brand: string?;
  product.price: number?; product.stock: integer?; product.sold: integer?; product.rating: number?;
  product.totalReview: integer?; product.seller: object?; product.url: string?; product.condition: string?;
  product.status: any; skus: array; skus[].id: string; skus[].name: string?; skus[].price: number?;
  skus[].stock: integer?`;

const productOfE = `_scraped_at: string; _asin: string; _country: string; title: string; brand: string?;
  price.amount: number?; price.currency: string?; price.original_price: number?; availability: string?;
  rating: number?; review_count: integer?; url: string?; images: array; images[]: string; features: array;
  features[]: string; description: string?; specifications: array; specifications[].name: string;
  specifications[].value: string?; variants: array; variants[].asin: string; variants[].title: string?;
  variants[].price: number?; seller.name: string?; seller.id: string?`;

const productOfF = `id: integer; title: string; handle: string; body_html: string?; vendor: string?;
  product_type: string?; tags: array; variants: array; variants[].id: integer; variants[].title: string;
  variants[].price: string; variants[].available: boolean; images: array; options: array`;

/** Listed fields of a record, or of one entry of a listing, by market and sort of page. */
export const listedFields = {
  mkta: {
    product: productOfA,
    variants: variantsOfA,
    search: entryOfA,
    merchant: `${entryOfA}; images[]: string; label_ids: array?; label_ids[]: integer`,
  },
  mktb: {
    product: productOfB,
    search: `${entry}; shop_id: string?; shop_name: string?; shop_domain: string?; location: string?;
      free_shipping: boolean?`,
    merchant: `${entry}; etalase: string?; stock: integer?`,
  },
  mktc: {
    product: productOfC,
    merchant: `${entry}; brand: string?; category: string?; stock: integer?; merchant: object;
      merchant.id: string?; merchant.name: string?; merchant.type: string?`,
  },
  mktd: { product: productOfD },
  mkte: {
    product: productOfE,
    search: `asin: string; title: string?; price: string?; original_price: string?; currency: string?;
      rating: string?; review_count: string?; thumbnail: string?; url: string; is_prime: boolean;
      is_sponsored: boolean`,
  },
  mktf: { search: productOfF },
} as const;

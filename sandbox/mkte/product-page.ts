import { type MkteProduct, variantAsin } from './products.ts';
import {
  decimal,
  digits,
  escaped,
  type FakeMkteStore,
  formatInteger,
  money,
  stores,
} from './stores.ts';

/** Parts of a page that its layout arranges. */
interface Parts {
  product: MkteProduct;
  store: FakeMkteStore;
}

/** Layouts by the ASIN's last digits (README.md). */
const layouts: Readonly<Record<string, (parts: Parts) => string>> = {
  '700': (parts) => modern(parts),
  '701': (parts) => accordion(parts, ['primeSavingsUpsellAccordionRow', 'newAccordionRow_1']),
  '702': (parts) => usedBook(parts),
  '703': (parts) => eBook(parts),
  '704': (parts) => unavailable(parts),
  '705': (parts) => clothing(parts),
  '706': (parts) => older(parts),
  '707': (parts) => accordion(parts, ['newAccordionRow_0', 'usedAccordionRow']),
  '708': (parts) => notDelivered(parts),
  '709': ({ product }) => title(product),
  '710': (parts) =>
    modern(
      parts,
      '<span class="a-price priceToPay"><span class="a-offscreen">TWD\u00a01,436.12</span></span>',
    ),
  '711': (parts) => accordion(parts, ['snsAccordionRowMiddle', 'newAccordionRow_0']),
  '712': (parts) => modern(parts),
  '713': (parts) => offerLine(parts),
  '714': (parts) => digitalMusic(parts),
};

function shell(product: MkteProduct, store: FakeMkteStore, body: string): string {
  const canonical = product.asin.endsWith('712') ? 'B0PARENT00' : product.asin;
  return `<!doctype html><html class="a-no-js" lang="${store.language}"><head><meta charset="utf-8">
<title>${escaped(product.title)} : Store</title><link rel="canonical" href="https://${store.host}/a-slug/dp/${canonical}">
<script>var ue_furl = "x"; window.t = '</'+'div>';</script></head><body><div id="dp-container">${body}</div>
<div id="sims"><span class="a-price" data-a-size="l"><span class="a-offscreen">${money(store, 3)}</span></span></div></body></html>`;
}

function title({ title }: MkteProduct): string {
  return `<h1 id="title"><span id="productTitle" class="a-size-large">\n ${escaped(title)} \n</span></h1>`;
}

function form({ asin, sellerId }: MkteProduct): string {
  return `<form id="addToCart"><input type="hidden" id="ASIN" name="ASIN" value="${asin}"><input type="hidden" id="merchantID" name="merchantID" value="${sellerId}"><input id="add-to-cart-button" type="submit"></form>`;
}

function byline({ brand }: MkteProduct, store: FakeMkteStore): string {
  return `<a id="bylineInfo" class="a-link-normal" href="/stores/page/1">${escaped(store.visit(brand))}</a>`;
}

function stars({ rating, ratings }: MkteProduct, store: FakeMkteStore): string {
  const text = store.rating(decimal(store, rating));
  return `<div id="averageCustomerReviews"><span id="acrPopover" title="${text}"><i class="a-icon a-icon-star"><span class="a-icon-alt">${text}</span></i></span>
<span id="acrCustomerReviewText" aria-label="${store.ratings(formatInteger(store, ratings))}">(${formatInteger(store, ratings)})</span></div>`;
}

/** Returns a price whose accessible text is empty, as on new pages. */
function splitPrice(store: FakeMkteStore, amount: number, classes: string): string {
  const { units, fraction } = digits(store, amount);
  const sign = store.sign.replace('#', '').trim();
  const cents = fraction === '' ? '' : `<span class="a-price-fraction">${fraction}</span>`;
  const point = fraction === '' ? '' : `<span class="a-price-decimal">${store.point}</span>`;
  return `<span class="a-price ${classes}" data-a-size="xl"><span class="a-offscreen"> </span><span aria-hidden="true"><span class="a-price-symbol">${sign}</span><span class="a-price-whole">${units}${point}</span>${cents}</span></span>`;
}

function plainPrice(store: FakeMkteStore, amount: number, rest = ''): string {
  return `<span class="a-price" data-a-size="l"${rest}><span class="a-offscreen">${money(store, amount)}</span><span aria-hidden="true">${money(store, amount)}</span></span>`;
}

function unitPrice(store: FakeMkteStore): string {
  return `<span class="pricePerUnit">(<span class="a-price a-text-price" data-a-size="mini"><span class="a-offscreen">${money(store, 1)}</span></span> / 2)</span>`;
}

function struck({ before }: MkteProduct, store: FakeMkteStore): string {
  if (before === null) return '';
  return `<span class="basisPrice">${store.listPrice} <span class="a-price a-text-price" data-a-strike="true"><span class="a-offscreen">${money(store, before)}</span></span></span>`;
}

function seller({ seller, sellerId }: MkteProduct, store: FakeMkteStore): string {
  return `<div id="merchantInfoFeature_feature_div"><span>${store.soldBy}</span><a id="sellerProfileTriggerId" class="offer-display-feature-text-message" href="/gp/help/seller/at-a-glance.html?ie=UTF8&amp;seller=${sellerId}&amp;asin=x">${seller.replace(' ', '&nbsp;')}</a></div>`;
}

function availability(text: string): string {
  return `<div id="availability"><script>P.when('A').execute(function(){});</script><span class="a-size-medium a-color-success"> ${text} </span></div>`;
}

function bullets({ features }: MkteProduct): string {
  const notes =
    '<li id="replacementPartsFitmentBullet" class="aok-hidden"><span class="a-list-item">Make sure this fits.</span></li>';
  return `<div id="feature-bullets"><ul>${notes}${features.map((feature) => `<li><span class="a-list-item"> ${escaped(feature)} </span></li>`).join('')}</ul></div>`;
}

function overview({ brand, specifications }: MkteProduct, store: FakeMkteStore): string {
  const rows: [string, string][] = [[store.brandRow, brand], ...specifications];
  return `<div id="productOverview_feature_div"><table>${rows.map(([name, value]) => `<tr><td class="a-span3"><span>${name}</span></td><td class="a-span9"><span>${escaped(value)}</span></td></tr>`).join('')}</table></div>
<table class="prodDetTable"><tr><th> ASIN </th><td> x1 </td></tr><tr><th>Customer Reviews</th><td><div id="averageCustomerReviews"></div>4.2</td></tr></table>`;
}

function detailBullets({ specifications }: MkteProduct): string {
  return `<div id="detailBullets_feature_div"><ul>${specifications.map(([name, value]) => `<li><span class="a-list-item"><span class="a-text-bold">${name}\n &rlm; : &lrm; </span> <span>${value}</span></span></li>`).join('')}</ul></div>`;
}

function imageData({ images }: MkteProduct): string {
  const entries = images.map((name, at) => ({
    hiRes: at === 1 ? null : `https://m.example-cdn.test/images/I/${name}._AC_SL1500_.jpg`,
    thumb: `https://m.example-cdn.test/images/I/${name}._AC_US40_.jpg`,
    large: `https://m.example-cdn.test/images/I/${name}._AC_.jpg`,
    variant: at === 0 ? 'MAIN' : `PT0${at}`,
  }));
  return `<img id="landingImage" data-old-hires="${entries[0]!.hiRes}"><script>P.register('ImageBlockATF', function(){ var data = { 'enabled': true, 'colorImages': { 'initial': ${JSON.stringify(entries)}}, 'colorToAsin': {'initial': {}} }; });</script>`;
}

function variantData({ asin, colours, sizes }: MkteProduct): string {
  const pairs = colours.flatMap((colour, first) =>
    sizes.map((size, second) => ({ key: `${first}_${second}`, values: [colour, size] })),
  );
  const map = Object.fromEntries(pairs.map(({ key }, at) => [key, variantAsin(asin, at)]));
  const valuesByAsin = Object.fromEntries(
    pairs.map(({ values }, at) => [variantAsin(asin, at), values]),
  );
  return `<script>P.register('twister-js-init-dpx-data', function() { var dataToReturn = {
"parentAsin" : "B0PARENT00", "landingAsin": "${asin}", "dimensionToAsinMap" : ${JSON.stringify(map)},
"variationValues" : ${JSON.stringify({ size_name: sizes, color_name: colours })}, "dimensions" : ["color_name","size_name"],
"dimensionValuesDisplayData" : ${JSON.stringify(valuesByAsin)}, "pwASINs" : [], }; return dataToReturn; });</script>`;
}

function crumbs(): string {
  return '<div id="wayfinding-breadcrumbs_feature_div"><ul><li><a>Home</a></li><li>›</li><li><a> Lighting </a></li></ul></div>';
}

function modern(
  { product, store }: Parts,
  mainPrice = splitPrice(store, product.price, 'priceToPay'),
): string {
  const price = `<div id="corePriceDisplay_desktop_feature_div">${mainPrice}${unitPrice(store)}${struck(product, store)}</div>`;
  const box = `<div id="desktop_buybox"><div id="corePrice_feature_div">${plainPrice(store, product.price)}</div>${availability(store.inStock)}${form(product)}${seller(product, store)}</div>`;
  return `${crumbs()}${title(product)}${byline(product, store)}${stars(product, store)}${price}${bullets(product)}${overview(product, store)}${imageData(product)}${variantData(product)}${box}
<div id="productDescription"><p>A <b>plain</b> description.</p><script>var hidden = 1;</script></div>`;
}

/** Offer of a row of the accordion. */
interface RowOffer {
  type: 'NEW' | 'USED' | 'PRIME_SAVINGS_UPSELL';
  amount: number;
  /** The product, with the seller of the offer. */
  product: MkteProduct;
}

function rowOffer(product: MkteProduct, row: string): RowOffer {
  if (row.startsWith('used')) {
    const usedProduct = { ...product, seller: 'Second Hand', sellerId: 'AUSEDSELLER01' };
    return { type: 'USED', amount: product.usedPrice, product: usedProduct };
  }
  if (row.startsWith('prime') || row.startsWith('sns'))
    return { type: 'PRIME_SAVINGS_UPSELL', amount: product.memberPrice, product };
  return { type: 'NEW', amount: product.price, product };
}

function rowPrice(store: FakeMkteStore, row: string, { type, amount, product }: RowOffer): string {
  const price = splitPrice(store, amount, 'priceToPay');
  const before = type === 'PRIME_SAVINGS_UPSELL' ? '' : struck(product, store);
  return `<div id="ppd_${row.replace(/_\d$/, '')}"><div id="corePriceDisplay_desktop_feature_div">${price}${unitPrice(store)}${before}</div></div>`;
}

function rowBox(store: FakeMkteStore, row: string, { type, amount, product }: RowOffer): string {
  const stock = availability(type === 'USED' ? 'Only 1 left.' : store.inStock);
  return `<div id="${row}"><div id="corePrice_feature_div"><div data-csa-c-buying-option-type="${type}">${plainPrice(store, amount)}</div></div>${stock}${form(product)}${seller(product, store)}</div>`;
}

/** Returns several offers with one row each. */
function accordion({ product, store }: Parts, rows: readonly string[]): string {
  const prices = rows.map((row) => rowPrice(store, row, rowOffer(product, row))).join('');
  const boxes = rows.map((row) => rowBox(store, row, rowOffer(product, row))).join('');
  return `${title(product)}${byline(product, store)}${stars(product, store)}${prices}${bullets(product)}${overview(product, store)}
<div id="buyBoxAccordion"><div id="accordionRows">${boxes}</div></div>`;
}

function contributors(): string {
  return `<div id="bylineInfo">by <span class="author"><a class="a-link-normal" href="/e/1">Ada Writer</a> <span class="contribution">(Author)</span></span>, <span class="author"><a href="/e/2">Ben Drawer</a> <span class="contribution">(Illustrator)</span></span></div>`;
}

function usedBook({ product, store }: Parts): string {
  return `${title(product)}${contributors()}${stars(product, store)}<div id="tmmSwatches"><div class="swatchElement selected"><span class="slot-title">Hardcover</span><span class="slot-price"><span class="a-color-price">${money(store, product.usedPrice)}</span></span></div><div class="swatchElement unselected"><span class="a-color-price">${money(store, 2)}</span></div></div>
<div id="buybox"><div id="usedOnlyBuybox"><div id="usedBuySection">Buy used <span class="a-color-price offer-price">${money(store, product.usedPrice)}</span></div><span id="deliveryMessage">${money(store, 4)} delivery</span>${form(product)}<a id="sellerProfileTriggerId" href="/gp/help/seller/at-a-glance.html?ie=UTF8&amp;seller=${product.sellerId}">${product.seller}</a></div></div>
${detailBullets(product)}<div id="bookDescription_feature_div"><noscript><div>About a harbour.</div></noscript></div>
<script>x = {'imageGalleryData' : [{"mainUrl":"https://m.example-cdn.test/images/I/51cover.jpg","dimensions":[300,400]}]};</script>`;
}

function eBook({ product, store }: Parts): string {
  return `${title(product)}${contributors()}${stars(product, store)}<div id="buybox"><span id="kindle-price" class="a-size-medium a-color-price"> ${money(store, product.price)} </span>${form({ ...product, sellerId: '' })}</div>
<span id="digital-list-price">${money(store, product.price * 2)}</span>${detailBullets(product)}
<img id="ebooksImgBlkFront" data-a-dynamic-image="{&quot;https://m.example-cdn.test/images/I/51small._SY100_.jpg&quot;:[100,70],&quot;https://m.example-cdn.test/images/I/51big._SY300_.jpg&quot;:[300,210]}">`;
}

function unavailable({ product, store }: Parts): string {
  return `${title(product)}${byline(product, store)}${stars(product, store)}<div id="availability"></div><div id="outOfStock"><span class="a-color-price a-text-bold">${store.unavailable}</span><br>We don't know when it will be back.</div>${form({ ...product, sellerId: '' })}${bullets(product)}`;
}

function notDelivered({ product, store }: Parts): string {
  return `${title(product)}${byline(product, store)}${stars(product, store)}<div id="availability"><script>var a = "In Stock";</script></div><input type="hidden" name="ASIN" value="${product.asin}">${bullets(product)}`;
}

/** Returns a page without a buy box: its only price is in the line about other sellers' offers. */
function offerLine({ product, store }: Parts): string {
  return `${title(product)}${byline(product, store)}${stars(product, store)}<input type="hidden" name="ASIN" value="${product.asin}">${bullets(product)}
<div id="olp_feature_div"><div class="olp-padding"><a href="/gp/offer-listing/x?condition=used">Used (2) from <span class="a-color-price">${money(store, product.usedPrice)}</span></a><a href="/gp/offer-listing/x">New (3) from <span class="a-color-price">${money(store, product.price)}</span></a> + free shipping</div></div>`;
}

/** Returns an album: the formats have offer lines, and the selected one has no other price. */
function digitalMusic({ product, store }: Parts): string {
  const format = (state: string, name: string, amount: number) =>
    `<li class="swatchElement ${state}"><span class="slot-title">${name}</span><span class="tmm-olp-links"><span class="olp-new olp-link"><a href="/x">4 New from ${money(store, amount)}</a></span></span></li>`;
  return `${title(product)}${contributors()}${stars(product, store)}<input type="hidden" name="ASIN" value="${product.asin}">
<div id="tmmSwatches"><ul>${format('unselected', 'Vinyl', product.price * 4)}${format('selected', 'MP3 Music', product.price)}</ul></div><div>Stream ${money(store, 0)} with a membership</div>`;
}

function clothing({ product, store }: Parts): string {
  const swatches = product.colours.map(
    (colour, at) =>
      `<li data-asin="${variantAsin(product.asin, at)}"><img class="swatch-image" alt="${colour}"><span class="a-price a-text-price apex-pricetopay-value"><span class="a-offscreen">${money(store, 1)}</span></span></li>`,
  );
  return `${title(product)}${byline(product, store)}${stars(product, store)}<div id="corePriceDisplay_desktop_feature_div">${splitPrice(store, product.price, 'priceToPay apex-pricetopay-value')}</div>
<div id="inline-twister-row-color_name"><ul>${swatches.join('')}</ul></div>${form(product)}${availability(store.inStock)}
<div id="productFactsDesktopExpander"><div class="product-facts-detail"><div class="a-col-left"><span>Fabric</span></div><div class="a-col-right"><span>Wool</span></div></div><ul>${product.features.map((feature) => `<li><span class="a-list-item">${escaped(feature)}</span></li>`).join('')}</ul></div>
<img id="landingImage" src="https://m.example-cdn.test/images/I/71front._AC_SX466_.jpg"><div id="altImages"><ul><li class="item imageThumbnail"><img src="https://m.example-cdn.test/images/I/71front._AC_US40_.jpg"></li><li class="item imageThumbnail"><img src="https://m.example-cdn.test/images/I/72back._AC_US40_.jpg"></li></ul></div>`;
}

/** Returns the layout of about 2020. */
function older({ product, store }: Parts): string {
  const { before } = product;
  return `${title(product)}<div id="bylineInfo_feature_div"><a id="bylineInfo" href="/b">${escaped(product.brand)}</a></div>${stars(product, store)}
<div id="price"><table><tr><td><span class="priceBlockStrikePriceString a-text-strike">${before === null ? '' : money(store, before)}</span></td></tr><tr><td><span id="priceblock_ourprice" class="a-color-price">${money(store, product.price * 3)}</span></td></tr><tr><td><span id="priceblock_dealprice" class="a-color-price">${money(store, product.price)}</span></td></tr></table></div>
<div id="availability"><span>${store.inStock}</span></div><div id="merchant-info">Sold by <a href="/gp/help/seller/at-a-glance.html?seller=${product.sellerId}">${product.seller}</a> and Fulfilled by Store.</div>
<div id="variation_color_name"><ul>${product.colours.map((colour, at) => `<li data-defaultasin="${variantAsin(product.asin, at)}" title="Click to select ${colour}"><img alt="${colour}"></li>`).join('')}</ul></div>
<table id="productDetails_techSpec_section_1">${product.specifications.map(([name, value]) => `<tr><th class="prodDetSectionEntry"> ${name} </th><td> \u200e${value} </td></tr>`).join('')}</table>${bullets(product)}${form(product)}${imageData(product)}`;
}

/** Returns the product's page in the layout that its ASIN selects. */
export function productPage(product: MkteProduct): string {
  const store = stores[product.region]!;
  const layout = product.isOffered ? (layouts[product.asin.slice(-3)] ?? modern) : unavailable;
  return shell(product, store, layout({ product, store }));
}

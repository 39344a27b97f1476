import { anyOf, oneOf } from '../patterns.ts';

// Names of regions of pages, and labels of stock and of product numbers, in the languages of shops.

const cartParts = oneOf([
  'total',
  'summary',
  'preview',
  'drawer',
  'dropdown',
  'subtotal',
  'widget',
  'sidebar',
  'content',
  'list',
  'popup',
]);

/** Names of regions of a page that show the cart, or that put a product into it. */
export const cartRegions = anyOf(
  ['mini-?_?(?:cart|basket|bag)', `(?:cart|basket|bag)[_-]?${cartParts}`],
  { flags: 'iu', before: '(?:^|[\\s_-])', after: '(?=$|[\\s_-])' },
);

/** Names of the end of a page, or of one of its parts. */
export const footerRegions = /(?:^|[\s_-])footer(?=$|[\s_-])/iu;

/** Names of regions of a page that show other products. */
export const otherRegions = anyOf(
  [
    'nav(?:bar|igation)?',
    'menu',
    'megamenu',
    'snackbars?',
    'toasts?',
    'related\\w*',
    'recommend\\w*',
    'recomend\\w*',
    'upsells?',
    'cross-?_?sells?',
    'crossselling',
    'similar\\w*',
    'recent(?:ly)?(?:[_-]?view\\w*)?',
    'viewed',
    'also',
    'alsobought',
    'carousel',
    'bestsell\\w*',
    'best-sell\\w*',
    // Not a suggested retail price.
    'suggest(?!ed[_-]?(?:retail|price))\\w*',
    'sponsored',
    'review[s]?',
    'comments?',
    'accessor(?:y|ies)',
    'bundles?',
    'newsletter',
    'history',
    'ähnlich\\w*',
    'empfehl\\w*',
    'alternativ\\w*',
    'poleca\\w*',
    'podobn\\w*',
    'souvis\\w*',
  ],
  { flags: 'iu', before: '(?:^|[\\s_-])', after: '(?=$|[\\s_-])' },
);

/** Names and texts of elements that state whether a product is in stock. */
export const stockNames = anyOf(
  [
    'stock',
    'avail',
    'verf(?:ü|ue)gbar',
    'lieferbar',
    'lager',
    'dispo(?:nib|s\\b)',
    'dostup',
    'skladem',
    'sklad\\b',
    'voorraad',
    'nalich',
    'zaloha',
  ],
  { flags: 'i' },
);

export const stockLabels = anyOf(
  [
    'stock',
    'availability',
    'verfügbarkeit',
    'lieferbarkeit',
    'disponibilit[éàa]',
    'disponibilidad',
    'disponibilidade',
    'beschikbaarheid',
    'dostupnos[ťt]',
    'dostępność',
    'razpoložljivost',
    'наличие',
    'доступность',
    'доступність',
    'наявність',
    'наличност',
    'stok durumu',
    'disponibilitate',
    'elérhetőség',
    'lagerstatus',
    'διαθεσιμότητα',
    'ketersediaan',
    'tình trạng',
    'حالة التوفر',
    'التوفر',
    'availability status',
    '庫存',
    '在庫',
  ],
  { flags: 'iu', before: '^', after: '\\s*[:：]?\\s*' },
);

/** What a shop numbers. */
const numbered = oneOf([
  'product',
  'produkt',
  'catalog',
  'model',
  'style',
  'stock',
  'web',
  'post',
  'lot',
  'listing',
  'ad',
  'anzeigen?',
]);
const numberWords = oneOf(['code', 'id', 'no', 'nr', 'number', 'nummer', '#']);

/** Labels of the number under which a shop sells a product. */
export const skuLabels = anyOf(
  [
    '(?:product |item |web |catalog(?:ue)? )?sku(?: (?:no|number|code|id))?',
    'art(?:ikel|icle|icolo|ículo)?[.\\s-]{0,2}(?:nr|no|n°|nummer|number|code|#)',
    'artikelnummer',
    'artikelnr',
    'bestell[- ]?(?:nr|nummer)',
    '(?:ebay )?(?:item|artikel|objekt)(?:\\s?(?:#|no|number|nummer|code|id))',
    "numéro de l'objet(?: ebay)?",
    `${numbered}[ -]?${numberWords}`,
    'produktnummer',
    'ref(?:erence|erencia|érence|erência)?',
    'réf',
    'c[oó]d(?:igo|ice)?\\.?(?: (?:do |del? )?(?:produto|producto|prodotto|produs|articolo|item))?',
    'kód(?: produktu| tovaru| zboží)?',
    'katalogové číslo',
    'objednací číslo',
    'šifra(?: artikla| izdelka)?',
    'kod produktu',
    'ürün kodu',
    'stok kodu',
    'indeks',
    'код(?: товара)?',
    'артикул',
    'anzeige',
    '商品(?:編號|番号|コード|编号|代碼|型號)',
    '品番',
    '상품번호',
    'tuotekoodi',
    'varenr',
    'varenummer',
    'art nr',
    'bestelnummer',
  ],
  {
    flags: 'iu',
    before: '^',
    // "SKU25289" is a number of its own. Some scripts have no spaces after a label.
    after:
      '(?:(?<=[\\p{Lo}])|(?![\\p{L}\\p{N}]))(?:\\s?\\([\\p{L} ]{1,20}\\))?\\s*\\.?\\s*[:：#–-]*\\s*',
  },
);

/** Names of elements with such a number. */
export const skuNames = anyOf(
  [
    'sku',
    'article(?:[_-]?(?:number|no|nr|code|id))?',
    'artikel(?:nummer|nr)',
    '(?:product|item)[_-]?(?:code|ref|reference|number|sku)',
    'productcode',
    'itemcode',
  ],
  { flags: 'i', before: '(?:^|[\\s_-])', after: '(?:[_-]?(?:value|text))?(?=$|\\s)' },
);

/** Names of elements with the path of categories to a product. */
export const breadcrumbNames = /bread-?crumb/i;

/** Texts of links that lead back, beside the path of categories. */
export const backWords = anyOf(
  [
    'back',
    'return',
    'zurück',
    'retour',
    'terug',
    'volver',
    'voltar',
    'indietro',
    'tillbaka',
    'tilbage',
    'tilbake',
    'takaisin',
    'wróć',
    'powrót',
    'zpět',
    'späť',
    'назад',
    'вернуться',
    'geri',
    'kembali',
  ],
  { flags: 'iu', before: '^', after: '(?!\\p{L})' },
);

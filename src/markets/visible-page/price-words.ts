import { anyOf, oneOf } from '../patterns.ts';

// Names of elements with prices, and texts beside prices, in the languages of shops.

/** Names of elements with a price, also of one without a currency. */
export const barePriceNames =
  /price|preis|prix|precio|preco|prezzo|prijs|cena|ceny|\bpris\b|harga|tarif/i;

/** Names of elements with a price. An amount without a currency can be a number of products. */
export const priceNames = new RegExp(`${barePriceNames.source}|amount`, 'i');

/** Names of elements with a price that was. */
export const oldPriceNames = anyOf(
  [
    'old',
    'was',
    'before',
    'strike\\w*',
    'non[_-]?sale',
    'struck',
    'crossed',
    'through',
    'rrp',
    'msrp',
    'uvp',
    'compare\\w*',
    'prev(?:ious)?',
    'stara',
    'skreslen\\w*',
    'barre\\w*',
    'tachad\\w*',
    'anterior',
    'antig[oa]',
    'antes',
    'riscad\\w*',
    'streich\\w*',
    'durchgestrichen',
    'doorgestreept',
    'przekre\\w*',
    'puvodn\\w*',
    'povodn\\w*',
    'listino',
  ],
  { flags: 'i', before: '(?:^|[\\s_-]|price)', after: '(?=$|[\\s_-]|price)' },
);

const untaxedNameWords = ['excl\\w*', 'without(?:[_-]?tax)?', 'exc?-?tax', 'netto'];

/** Names of elements with a price without tax. */
export const untaxedNames = anyOf(untaxedNameWords, {
  flags: 'i',
  before: '(?:^|[\\s_-]|price)',
  after: '(?=$|[\\s_-]|price)',
});

/** Names of elements with a price of something else. */
export const otherPriceNames = anyOf(
  [
    'sav(?:e|ing|ings)',
    'discount-(?:amount|value)',
    'shipping',
    'delivery',
    'unit',
    'per-unit',
    'unitprice',
    'install?ments?',
    'monthly',
    'financ\\w*',
    ...untaxedNameWords,
    'quantity',
    'qty',
    'deposit',
    'threshold',
    'points?',
    'min',
    'max',
    'from',
    'price[_-]to',
    'coupon',
    'total',
    'klarna\\w*',
    'afterpay\\w*',
    'clearpay\\w*',
    'affirm\\w*',
    'member\\w*',
    'club',
    'loyalty',
    'subscri\\w*',
    'omnibus\\w*',
    'lowest',
    'parcela\\w*',
    'payment[_-]?discount\\w*',
    'tax-?amount',
    'total-tax',
    'pix',
    'boleto',
  ],
  { flags: 'i', before: '(?:^|[\\s_-]|price)', after: '(?=$|[\\s_-]|price)' },
);

export const weakOldNames = anyOf(
  ['regular', 'list', 'original', 'normal', 'full', 'retail', 'market', 'base', 'standard'],
  // "with-list-price" is a price beside its list price.
  { flags: 'i', before: '(?:^|(?<!with|has)[\\s_-])', after: '(?=$|[\\s_-]|price)' },
);

const beforeListPrice = oneOf([
  'regular',
  'list',
  'original',
  'normal',
  'full',
  '(?:suggested[_-]?)?retail',
  'market',
  'standard',
]);
const afterListPrice = oneOf([
  'regular',
  'original',
  'normal',
  'full',
  'retail',
  'market',
  'standard',
]);

/** Names of elements with a price that is the list price of a lower one beside it. */
export const listPriceNames = anyOf(
  [
    `${beforeListPrice}[_-]{0,2}price`,
    `price[_-]{0,2}(?:item[_-]{1,2})?${afterListPrice}(?:price)?`,
  ],
  { flags: 'i', before: '(?:^|(?<!with|has)[\\s_-])', after: '(?=$|[\\s_-])' },
);

/** Texts about what is saved, and about shipping, beside a price and its list price. */
export const besideListPrice = anyOf(
  [
    'sav(?:e|ing|ings)',
    'off',
    'spar\\p{L}*',
    'gespart',
    'économ\\p{L}*',
    'econom\\p{L}*',
    'ahorr\\p{L}*',
    'risparm\\p{L}*',
    'bespa\\p{L}*',
    'besparing',
    'ušet\\p{L}*',
    'oszcz\\p{L}*',
    'скидка',
    'эконом\\p{L}*',
    'выгода',
    'indirim',
    'hemat',
    'shipping',
    'delivery',
    'versand\\p{L}*',
    'livraison',
    'envío',
    'spedizione',
    // A price per unit: "(€ 41,15 / 1 l)"
    '\\/\\s?(?:\\d+\\s?)?\\p{L}+',
    '(?:per|pro|je|par|al|por|za) (?:\\d+ ?)?(?:k?g|[mc]?l|m[²2]?|st(?:ück|k|\\.)?|lit(?:er|re|ro))',
  ],
  { flags: 'iu', before: '(?<!\\p{L})', after: '(?!\\p{L})' },
);

/** Names of elements with the price to pay. */
export const ownPriceNames = anyOf(
  [
    'final',
    'finalprice',
    'current',
    'sales?',
    'special',
    'now',
    'actual',
    'our',
    'main',
    'selling',
    'sell',
    'promo',
    'akce',
    'akcia',
    'product',
  ],
  { flags: 'i', before: '(?:^|[\\s_-])', after: '(?=$|[\\s_-]|price)' },
);

const former = oneOf([
  'was',
  'rrp',
  'msrp',
  'mrp',
  'list price',
  'uvp',
  'unverb(?:indliche|\\.) preisempfehlung',
  'statt',
  'reduced from',
  'reduziert von',
]);

/** Texts before a price that was, or that the manufacturer recommends. */
export const formerPriceWords = anyOf(
  [`(?<!\\p{L})${former}(?!\\p{L})`, '原價', '定價', '市價', '建議售價'],
  { flags: 'iu' },
);

/** Returns the expression of words that are no part of longer ones. */
const wholeWords = (words: readonly string[]) => `(?<!\\p{L})(?:${words.join('|')})(?!\\p{L})`;

/** Amounts that are no price of the product: savings, delivery, deposits, prices without tax. */
const otherAmountWords: readonly string[] = [
  'sav(?:e|ing|ings)',
  'risparmi',
  'économisez',
  'shipping',
  'delivery',
  'versand\\p{L}*',
  'livraison',
  'porto',
  'envío',
  'spedizione',
  'monthly',
  'raten?',
  'install?ments?',
  'mensualit\\p{L}*',
  'cuotas?',
  'deposit',
  '(?:tax|vat) amount',
  'steuerbetrag',
  'starting price',
  'reserve',
  'bids?',
  'excl\\p{L}*',
  'ohne',
  'hors taxes?',
  'HT',
  'bez dph',
  'brez ddv',
  'netto',
  '(?<!reduced )from',
  'ab',
  'à partir',
  'desde',
  'ex\\.? (?:vat|tax)',
  'points?',
  'cashback',
  'voucher',
  'coupon',
  'gutschein',
  'minimum',
  'over',
  'above',
  'more than',
];

/** Prices of some buyers, and of other transactions. */
const buyerWords: readonly string[] = [
  'members?',
  'membership',
  'club',
  'loyalty',
  'vip',
  'subscri\\p{L}*',
  'abo(?:nnement)?',
  'mitglied\\p{L}*',
  'socios?',
  'soci',
  'adhérents?',
  'membres?',
  'gift ?cards?',
  'trade-?in',
  'used',
  'refurbished',
  'gebraucht',
  'occasion',
  'segunda mano',
];

/** Prices with a code. */
const codeWords: readonly string[] = [
  'get it (?:for|at)',
  '(?:use|apply|with|using) (?:the |promo |coupon )?code',
];

/** Instalments. */
const instalmentWords: readonly string[] = [
  'payments',
  'parcelas?',
  'vezes',
  'taksit\\p{L}*',
  'cicilan',
  'angsuran',
  'ansuran',
  'trả góp',
  'splátk\\p{L}*',
  'raty',
  'rata',
  'w ratach',
  'mensualidades',
  'plazos',
  'termijnen',
  'avbetalning',
  'delbetal\\p{L}*',
  'emi',
];

/** Lowest prices of the last 30 days. */
const lowestPriceWords: readonly string[] = [
  'lowest (?:\\p{L}+ )?price',
  'niedrigster (?:\\p{L}+ )?preis',
  'tiefstpreis',
  'prix le plus bas',
  'precio más bajo',
  'prezzo più basso',
  'laagste prijs',
  'najniższ\\p{L}* cen\\p{L}*',
  'nejnižší cen\\p{L}*',
  'najnižš\\p{L}* cen\\p{L}*',
  'lägsta (?:\\p{L}+ )?pris\\p{L}*',
  'laveste pris',
  'cel mai mic preț',
  'legalacsonyabb ár',
  'alin hinta',
];

/** Words for "from" and "up to" that end a text. */
const rangeStarts: readonly string[] = [
  'vanaf',
  'od',
  'från',
  'fra',
  'fr\\.',
  'as low as',
  'starting (?:at|from)',
  'dès',
  'a partir de',
  'a partire da',
  'já a partir de',
  'από',
  'от',
  'від',
  'з',
  'tan bajo como',
  'en düşük',
  'mulai(?: dari)?',
  'dari',
  'bermula',
  'từ',
  'chỉ từ',
  'up to',
  'bis zu',
  'jusqu.à',
  'fino a',
  'hasta',
  'até',
];

/** Words for a reduction that end a text: not in "Discount price". */
const reductions: readonly string[] = [
  'discount',
  'rabatt',
  'remise',
  'descuento',
  'desconto',
  'sconto',
  'korting',
  'скидка',
];

/** Texts before a price of something else. */
export const otherPriceWords = anyOf(
  [
    wholeWords(otherAmountWords),
    wholeWords(buyerWords),
    wholeWords(codeWords),
    wholeWords(instalmentWords),
    'рассрочк|в кредит|платеж',
    wholeWords(lowestPriceWords),
    `(?:^|\\s)(?:${rangeStarts.join('|')})\\s*:?\\s*$`,
    `(?<!\\p{L})(?:${reductions.join('|')})\\s*:?\\s*$`,
    '=\\s*$',
    '保[证證]金',
    '押金',
    '[订訂定]金',
    '月々',
    '月供',
    '分期',
    '分割',
    '会员',
    '會員',
    '会員',
    '券后',
    '券後',
    '最安値',
    'เริ่มต้น',
    'ابتداء',
    'قسط',
    '運\\s?費',
    '免運',
    '宅配',
    '取貨',
    '每期',
    '送料',
    '配送',
    '滿',
  ],
  { flags: 'iu' },
);

/** "Lowest", before the price of a period. */
const lowest = oneOf([
  'lowest',
  'niedrigst',
  'tiefst',
  'plus bas',
  'más bajo',
  'più basso',
  'laagste',
  'najniższ',
  'nejnižší',
  'najnižš',
  'lägst',
  'lavest',
  'legalacsonyabb',
  'mic preț',
]);

/** Texts before a price of several pieces, of instalments, or of some days: "3 for", "4 x". */
export const countedBefore = anyOf(
  [
    // Not "R$ 150 por R$ 120".
    '(?<![\\d.,]|\\p{Sc}\\s?)\\d{1,3}\\s?(?:[x×]|for|für|pour|por|voor|za|за|per)\\s?(?:de|of|à|von|di)?\\s*',
    `${lowest}\\D{0,40}\\d{2}\\D{0,40}`,
    // "From € 50 to € 90"
    '(?<!\\p{L}|reduced )(?:from|von|ab)(?!\\p{L})\\D{0,8}\\d[\\d.,]*\\D{0,8}(?<!\\p{L})(?:to|bis)\\s?:?\\s*',
  ],
  { flags: 'iu', after: '$' },
);

const withWords = oneOf([
  'with',
  'using',
  'via',
  'mit',
  'avec',
  'con',
  'com',
  'met',
  'bei',
  'per',
  'no',
  'na',
  'on',
  'by',
]);
/** What only some buyers have or use. */
const buyerMeans = oneOf([
  'membership',
  'subscription',
  'code',
  'coupon',
  'voucher',
  'gutschein',
  'trade-?in',
  'card',
  'karte',
  'carte',
  'cartão',
  'pix',
  'boleto',
  'transfer(?:encia|ência)?',
  'dep[oó]sito',
  'efectivo',
  'dinheiro',
  'débito',
  'überweisung',
  'vorkasse',
  'virement',
  'bonifico',
  'mercado ?pago',
  'prime',
  'klarna',
  'abo',
]);
const members = oneOf(['members', 'mitglieder', 'membres', 'socios', 'soci', 'leden']);
const withoutTax = oneOf([
  'hors taxes?',
  'HT',
  'bez dph',
  'brez ddv',
  'netto',
  'excl\\p{L}*(?: (?:vat|tax))?',
  'ex\\.? (?:vat|tax)',
]);

/** Texts of a page that hides the price of its product. */
export const hiddenPriceWords = anyOf(
  [
    '(?:click|tap|call|ask) for (?:the )?price',
    '(?:see|view) (?:the )?price in (?:your )?cart',
    'add to cart to see (?:the )?price',
    'preis im warenkorb',
    'prix dans le panier',
  ],
  { flags: 'iu' },
);

/** Texts after a price of a period, of a quantity, of some buyers, or without tax. */
export const periodWords = anyOf(
  [
    '/',
    '起',
    '(?:per|pro|par|al|a(?! partir)|por|je)\\s',
    '(?:mese|month|monat|mois|mes|kg|100 ?(?:g|ml))(?!\\p{L})',
    '(?:off|rabatt|less|korting)(?!\\p{L})',
    '(?:points?|punkte|puntos|pts|credits|coins|miles|taksit)(?!\\p{L})',
    `${withWords} (?:an? |your |the |ihrer? |votre )?(?:\\p{L}+ )?${buyerMeans}(?!\\p{L})`,
    `(?:for|für|pour|para|per|voor) (?:club |our )?${members}(?!\\p{L})`,
    'à vista(?!\\p{L})',
    '(?:\\+|plus) ?(?:vat|tax|gst|hst|iva|tva|mwst|btw|moms|dph)(?!\\p{L})',
    `${withoutTax}(?!\\p{L}|[\\p{L}. ]{0,12}:)`,
  ],
  { flags: 'iu', before: '^\\s*' },
);

const untaxed = oneOf([
  '(?:excl\\.?|excluding|ex\\.?) (?:vat|tax|gst|btw)',
  '(?:zzgl\\.?|ohne|exkl\\.?) (?:mwst|ust|moms)',
  'ekskl\\.? (?:moms|mva)',
  'zonder btw',
  'hors taxes?',
  'HT',
  'sans tva',
  'bez (?:dph|vat|pdv)',
  'brez ddv',
  'sin iva',
  '(?:más|mais|\\+) iva',
  'iva (?:no incluido|esclusa|excluído)',
  'netto',
  'без (?:ндс|пдв)',
  '(?:tax(?:es)?|vat) excl(?:uded|\\.)?',
  'h\\.t\\.',
  'sin impuestos?',
  'impuestos no incluidos',
  'sem impostos?',
  'tasse escl(?:use|\\.)?',
  'imponibile',
  '(?:kdv|vergi(?:ler)?) hariç',
  'بدون (?:ال)?ضريبة',
]);

/** Words that mark a price as excluding tax. */
export const untaxedWords = anyOf([`(?<!\\p{L})${untaxed}(?!\\p{L})`, '税抜', '税別', '未稅'], {
  flags: 'iu',
});

const inclusion = oneOf([
  'incl?\\.?',
  'including',
  'inkl\\.?',
  'inklusive',
  'inclusief',
  'vč\\.?',
  'včetně',
  's',
  'z',
  'sa',
  'con',
  'avec',
  'com',
  'med',
  'cu',
  'mit',
  'с',
]);
const taxName = oneOf([
  'vat',
  'tax',
  'gst',
  'btw',
  'dph',
  'ddv',
  'pdv',
  'iva',
  'tva',
  'moms',
  'mva',
  'mwst',
  'ust',
  'ндс',
]);
const taxed = oneOf([
  `${inclusion} (?:\\d+ ?% )?${taxName}`,
  'iva (?:incluido|inclusa|incluído)',
  '(?:vat|tax) included',
  'TTC',
  'brutto',
]);

/** Words that mark a price as including tax. */
export const taxedWords = anyOf([`(?<!\\p{L})${taxed}(?!\\p{L})`, '税込', '含稅'], { flags: 'iu' });

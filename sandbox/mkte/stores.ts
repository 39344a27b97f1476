/** Formats of a region's store: money, ratings and labels. */
export interface FakeMkteStore {
  host: string;
  language: string;
  currency: string;
  /** Digits after the decimal point. */
  decimals: number;
  point: string;
  thousands: string;
  /** Position of the currency symbol: "$#" or "# €". */
  sign: string;
  rating(rating: string): string;
  ratings(count: string): string;
  inStock: string;
  unavailable: string;
  listPrice: string;
  visit(brand: string): string;
  brandRow: string;
  soldBy: string;
  sponsored: string;
  adPrefix: string;
  next: string;
}

const english = {
  point: '.',
  thousands: ',',
  decimals: 2,
  rating: (rating: string) => `${rating} out of 5 stars`,
  ratings: (count: string) => `${count} ratings`,
  inStock: 'In Stock',
  unavailable: 'Currently unavailable.',
  listPrice: 'List Price:',
  visit: (brand: string) => `Visit the ${brand} Store`,
  brandRow: 'Brand',
  soldBy: 'Sold by',
  sponsored: 'Sponsored',
  adPrefix: 'Sponsored Ad - ',
  next: 'Next',
};

const euro = { point: ',', decimals: 2, currency: 'EUR', sign: '#\u00a0€' };

/** Stores by region code. */
export const stores: Readonly<Record<string, FakeMkteStore>> = {
  us: { ...english, host: 'www.amazon.com', language: 'en-us', currency: 'USD', sign: '$#' },
  uk: { ...english, host: 'www.amazon.co.uk', language: 'en-gb', currency: 'GBP', sign: '£#' },
  ca: { ...english, host: 'www.amazon.ca', language: 'en-ca', currency: 'CAD', sign: '$#' },
  au: { ...english, host: 'www.amazon.com.au', language: 'en-au', currency: 'AUD', sign: '$#' },
  sg: { ...english, host: 'www.amazon.sg', language: 'en-sg', currency: 'SGD', sign: 'S$#' },
  de: {
    ...euro,
    host: 'www.amazon.de',
    language: 'de-de',
    thousands: '.',
    rating: (rating) => `${rating} von 5 Sternen`,
    ratings: (count) => `${count} Sternebewertungen`,
    inStock: 'Auf Lager.',
    unavailable: 'Derzeit nicht verfügbar.',
    listPrice: 'UVP:',
    visit: (brand) => `Besuche den ${brand}-Store`,
    brandRow: 'Marke',
    soldBy: 'Verkäufer',
    sponsored: 'Gesponsert',
    adPrefix: 'Gesponserte Anzeige – ',
    next: 'Weiter',
  },
  fr: {
    ...euro,
    host: 'www.amazon.fr',
    language: 'fr-fr',
    thousands: '\u202f',
    rating: (rating) => `${rating} sur 5 étoiles`,
    ratings: (count) => `${count} évaluations`,
    inStock: 'En stock',
    unavailable: 'Actuellement indisponible.',
    listPrice: 'Prix conseillé :',
    visit: (brand) => `Visiter la boutique ${brand}`,
    brandRow: 'Marque',
    soldBy: 'Vendu par',
    sponsored: 'Sponsorisé',
    adPrefix: 'Annonce sponsorisée – ',
    next: 'Suivant',
  },
  it: {
    ...euro,
    host: 'www.amazon.it',
    language: 'it-it',
    thousands: '.',
    rating: (rating) => `${rating} su 5 stelle`,
    ratings: (count) => `${count} voti`,
    inStock: 'Disponibilità immediata',
    unavailable: 'Attualmente non disponibile.',
    listPrice: 'Prezzo consigliato:',
    visit: (brand) => `Visita lo Store di ${brand}`,
    brandRow: 'Marca',
    soldBy: 'Venditore',
    sponsored: 'Sponsorizzato',
    adPrefix: 'Annuncio sponsorizzato - ',
    next: 'Successivo',
  },
  es: {
    ...euro,
    host: 'www.amazon.es',
    language: 'es-es',
    thousands: '.',
    rating: (rating) => `${rating} de 5 estrellas`,
    ratings: (count) => `${count} valoraciones`,
    inStock: 'En stock',
    unavailable: 'No disponible.',
    listPrice: 'Precio recomendado:',
    visit: (brand) => `Visita la tienda de ${brand}`,
    brandRow: 'Marca',
    soldBy: 'Vendido por',
    sponsored: 'Patrocinado',
    adPrefix: 'Anuncio patrocinado: ',
    next: 'Siguiente',
  },
  jp: {
    host: 'www.amazon.co.jp',
    language: 'ja-jp',
    currency: 'JPY',
    decimals: 0,
    point: '.',
    thousands: ',',
    sign: '￥#',
    rating: (rating) => `5つ星のうち${rating}`,
    ratings: (count) => `${count} レーティング`,
    inStock: '在庫あり。',
    unavailable: '現在在庫切れです。',
    listPrice: '参考価格:',
    visit: (brand) => `${brand}のストアを表示`,
    brandRow: 'ブランド',
    soldBy: '販売元',
    sponsored: 'スポンサー',
    adPrefix: 'スポンサー広告 - ',
    next: '次へ',
  },
};

/** Digits of an amount before and after the decimal point, as a store writes them. */
interface PriceDigits {
  units: string;
  fraction: string;
}

/** Returns the digits of an amount as the store writes them. */
export function digits(store: FakeMkteStore, amount: number): PriceDigits {
  const [units, fraction = ''] = amount.toFixed(store.decimals).split('.') as [string, string?];
  return { units: groupThousands(store, units), fraction };
}

/** Formats a price as the store does. */
export function money(store: FakeMkteStore, amount: number): string {
  const { units, fraction } = digits(store, amount);
  const text = fraction === '' ? units : `${units}${store.point}${fraction}`;
  return store.sign.replace('#', () => text);
}

/** Formats an integer as the store does. */
export function formatInteger(store: FakeMkteStore, count: number): string {
  return groupThousands(store, String(count));
}

function groupThousands(store: FakeMkteStore, digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, store.thousands);
}

/** Formats a rating as the store does. */
export function decimal(store: FakeMkteStore, rating: number): string {
  return rating.toFixed(1).replace('.', store.point);
}

/** Escapes text for HTML. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

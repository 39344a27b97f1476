/** What differs from region to region. */
export interface Region {
  host: string;
  /** ISO code of the store's own currency. */
  currency: string;
  /** Language that a browser of the region names. */
  language: string;
}

/** The regions of the market by code (interface, "What the service does"). */
export const regions: Readonly<Record<string, Region>> = {
  sg: { host: 'www.amazon.sg', currency: 'SGD', language: 'en-SG' },
  jp: { host: 'www.amazon.co.jp', currency: 'JPY', language: 'ja-JP' },
  us: { host: 'www.amazon.com', currency: 'USD', language: 'en-US' },
  uk: { host: 'www.amazon.co.uk', currency: 'GBP', language: 'en-GB' },
  de: { host: 'www.amazon.de', currency: 'EUR', language: 'de-DE' },
  fr: { host: 'www.amazon.fr', currency: 'EUR', language: 'fr-FR' },
  au: { host: 'www.amazon.com.au', currency: 'AUD', language: 'en-AU' },
  it: { host: 'www.amazon.it', currency: 'EUR', language: 'it-IT' },
  es: { host: 'www.amazon.es', currency: 'EUR', language: 'es-ES' },
  ca: { host: 'www.amazon.ca', currency: 'CAD', language: 'en-CA' },
};

/** The store's own currency; null for a region that is not known. */
export function homeCurrency(region: string): string | null {
  return regions[region]?.currency ?? null;
}

/** Headers of every request to a region: no cookies, nothing computed to pass for a browser. */
export function requestHeaders(region: string): Record<string, string> {
  return { accept: 'text/html', 'accept-language': regions[region]?.language ?? 'en' };
}

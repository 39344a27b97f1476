export interface MkteRegion {
  host: string;
  /** ISO code of the store's currency. */
  currency: string;
  /** Value of the `accept-language` header. */
  language: string;
}

/** Regions of the market by code (docs/marketplaces.md). */
export const regions: Readonly<Record<string, MkteRegion>> = {
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

/** Returns the store's currency. Null for an unknown region. */
export function homeCurrency(region: string): string | null {
  return regions[region]?.currency ?? null;
}

/** Returns the cookies of a visitor who selected the store's own language and currency. */
export function visitorPreferences(region: string): Record<string, string> {
  const chosen = regions[region];
  if (chosen === undefined) return {};
  const { currency, language } = chosen;
  const languageCookie = region === 'us' ? 'lc-main' : `lc-acb${region}`;
  return { 'i18n-prefs': currency, [languageCookie]: language.replace('-', '_') };
}

/**
 * Returns the headers of every request to a region, without cookies or computed anti-bot values.
 */
export function requestHeaders(region: string): Record<string, string> {
  return { accept: 'text/html', 'accept-language': regions[region]?.language ?? 'en' };
}

/** Labels before the brand that name a part of a site. */
const parts: ReadonlySet<string> = new Set(['www', 'm', 'shop', 'store']);
/** Labels before the top-level domain that form a suffix with it: "co.uk", "com.my". */
const suffixes: ReadonlySet<string> = new Set([
  'co',
  'com',
  'net',
  'org',
  'gov',
  'edu',
  'or',
  'ne',
]);

interface Name {
  /** Label of a country or language: "de" of "de.kiln.example". Empty if there is none. */
  country: string;
  /** Name of the site: "kiln". */
  brand: string;
  /** Public suffix: "com", "co.uk". */
  suffix: string;
}

function nameOf(host: string): Name | null {
  const labels = host.toLowerCase().replace(/\.$/, '').split('.');
  // IP addresses and single-label names belong to no country.
  if (labels.length < 2 || /^\d+$/.test(labels.at(-1)!) || host.includes(':')) return null;
  const suffix = [labels.pop()!];
  if (labels.length > 1 && suffixes.has(labels.at(-1)!)) suffix.unshift(labels.pop()!);
  let country = '';
  while (
    labels.length > 1 &&
    (parts.has(labels[0]!) || /^[a-z]{2}(?:-[a-z]{2})?$/.test(labels[0]!))
  ) {
    const label = labels.shift()!;
    if (!parts.has(label)) country = label;
  }
  return { country, brand: labels.join('.'), suffix: suffix.join('.') };
}

/**
 * Returns true if two hosts are one site's hosts for different countries: the same name with
 * another suffix ("kiln.com", "kiln.co.uk") or another country label ("us.kiln.com", "kiln.com").
 * Returns false for different names, IP addresses, and hosts that differ in `www.` or `shop.` only.
 */
export function isOtherCountry(requestedHost: string, responseHost: string): boolean {
  const [one, other] = [nameOf(requestedHost), nameOf(responseHost)];
  if (one === null || other === null || one.brand !== other.brand) return false;
  return one.suffix !== other.suffix || one.country !== other.country;
}

const localePrefix = /^\/([a-z]{2})(?:[-_]([a-z]{2}))?(?=\/|$)/i;

/**
 * Returns true if a path is that of another language or country than the requested path: "/fr/a"
 * for "/de/a", "/en-us/a" for "/a" or for "/en-gb/a". Returns false for a language alone, "/fr/a",
 * if the requested path has none.
 */
export function isOtherLocale(requestedPath: string, path: string): boolean {
  const prefix = localePrefix.exec(path);
  if (prefix === null) return false;
  const requested = localePrefix.exec(requestedPath);
  if (requested === null) return prefix[2] !== undefined;
  return prefix[0].toLowerCase() !== requested[0].toLowerCase();
}

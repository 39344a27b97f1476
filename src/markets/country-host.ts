/** Labels in front of a name that say which part or which country of a site it is. */
const parts: ReadonlySet<string> = new Set(['www', 'm', 'shop', 'store']);
/** Two-letter labels behind a dot that are no country of their own: "co.uk", "com.my". */
const suffixes: ReadonlySet<string> = new Set(['co', 'com', 'net', 'org', 'gov', 'edu', 'or', 'ne']);

interface Name {
  /** Country or language in front: "de" of "de.kiln.example"; '' where there is none. */
  country: string;
  /** What is left in the middle: "kiln". */
  brand: string;
  /** "com", "co.uk". */
  suffix: string;
}

function nameOf(host: string): Name | null {
  const labels = host.toLowerCase().replace(/\.$/, '').split('.');
  // An address or a bare name belongs to no country.
  if (labels.length < 2 || /^\d+$/.test(labels.at(-1)!) || host.includes(':')) return null;
  const suffix = [labels.pop()!];
  if (labels.length > 1 && suffixes.has(labels.at(-1)!)) suffix.unshift(labels.pop()!);
  let country = '';
  while (labels.length > 1 && (parts.has(labels[0]!) || /^[a-z]{2}(?:-[a-z]{2})?$/.test(labels[0]!))) {
    const label = labels.shift()!;
    if (!parts.has(label)) country = label;
  }
  return { country, brand: labels.join('.'), suffix: suffix.join('.') };
}

/**
 * Whether a site's answer comes from, or points to, its host for another country than was asked: the same
 * name under another suffix ("kiln.com", "kiln.co.uk") or behind another country ("us.kiln.com",
 * "kiln.com"). Hosts of other names, numeric addresses, and `www.` or `shop.` in front say nothing of countries.
 */
export function isOtherCountry(asked: string, answered: string): boolean {
  const [one, other] = [nameOf(asked), nameOf(answered)];
  if (one === null || other === null || one.brand !== other.brand) return false;
  return one.suffix !== other.suffix || one.country !== other.country;
}

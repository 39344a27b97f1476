const formats = new Map<string, Intl.NumberFormat>();

/**
 * Returns the number format of an option set. It is created on its first use, which takes
 * milliseconds on a phone, and kept. Throws a RangeError for invalid options.
 */
export function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify(options);
  const format = formats.get(key) ?? new Intl.NumberFormat('en-US', options);
  formats.set(key, format);
  return format;
}

/** Returns a function that creates a value on its first call and keeps it. */
export function once<Value>(create: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= create();
    return value;
  };
}

const countries = once(() => new Intl.DisplayNames('en', { type: 'region' }));

/** Capitalizes the first letter of a text. */
export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Formats a count or credits: "12,345". Without Intl, whose first format takes a phone 50 ms. */
export const formatCount = (value: number | bigint): string =>
  String(typeof value === 'bigint' ? value : Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');

/** Formats credits with a sign: "+100", "-40". */
export const formatSignedCount = (value: number | bigint): string =>
  `${value > 0 ? '+' : ''}${formatCount(value)}`;

/** Formats a count with its noun: "1 unit", "2,000 units". */
export const counted = (value: number | bigint, noun: string, plural = `${noun}s`): string =>
  `${formatCount(value)} ${Number(value) === 1 ? noun : plural}`;

/** Formats a number of units: "1 unit", "12,345 units". */
export const formatUnits = (count: number): string => counted(count, 'unit');

/** Formats a number with all its decimals: "1,234.5625". */
export const formatNumber = (value: number): string =>
  numberFormat({ maximumFractionDigits: 20 }).format(value);

/** Formats a share from 0 to 1 as a percentage: "12%", "0.4%". Only all is "100%". */
export function formatPercent(share: number): string {
  const digits = share < 0.1 ? 1 : 2;
  const percent = numberFormat({ maximumSignificantDigits: digits }).format(share * 100);
  return `${share < 1 && percent === '100' ? '99' : percent}%`;
}

/** Smallest percentage that is shown for a part, however small. */
const minPercentage = 0.01;

/**
 * Formats a percentage with up to two decimals: "61.5%". Further decimals are cut off, so that it
 * reaches neither 100 nor a minimum by rounding. Only none is "0%".
 */
export function formatPercentage(percent: number): string {
  const shownPercentage = percent > 0 ? Math.max(percent, minPercentage) : percent;
  const format = numberFormat({ maximumFractionDigits: 2, roundingMode: 'trunc' });
  return `${format.format(shownPercentage)}%`;
}

/** Formats bytes with a decimal unit: "1.2 MB". */
export function formatBytes(bytes: number | bigint): string {
  const names = ['B', 'kB', 'MB', 'GB'];
  let value = Number(bytes);
  let unit = 0;
  while (value >= 1000 && unit < names.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${names[unit]}`;
}

/**
 * Formats a country code: "Indonesia (id)". Names of other places, such as shops, are returned
 * unchanged.
 */
export const regionText = (region: string): string =>
  /^[a-z]{2}$/i.test(region)
    ? `${countries().of(region.toUpperCase()) ?? region} (${region})`
    : region;

/** Returns the start of an id, which distinguishes it from others on a page. */
export const shortId = (id: string): string => id.slice(0, 8);

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const signed = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0, signDisplay: 'exceptZero' });

/** Formats a count or credits with the locale's separators: "12,345". */
export const formatCount = (value: number | bigint): string => whole.format(value);

/** Formats credits with a sign: "+100", "−40". */
export const formatSignedCount = (value: number | bigint): string => signed.format(value);

/** Formats a number of units: "1 unit", "12,345 units". */
export const formatUnits = (count: number): string =>
  count === 1 ? '1 unit' : `${formatCount(count)} units`;

/** Formats a share from 0 to 1 as a percentage: "12%", "0.4%". */
export const formatPercent = (share: number): string =>
  `${new Intl.NumberFormat(undefined, { maximumSignificantDigits: share < 0.1 ? 1 : 2 }).format(share * 100)}%`;

const precise = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });

/** Formats a percentage with up to two decimals: "61.5%". */
export const formatPercentage = (percent: number): string => `${precise.format(percent)}%`;

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

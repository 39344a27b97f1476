const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const signed = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0, signDisplay: 'exceptZero' });

/** A count or credits, with the reader's separators: "12,345". */
export const countText = (value: number | bigint): string => whole.format(value);

/** Credits with a sign: "+100", "−40". */
export const amountText = (value: number | bigint): string => signed.format(value);

/** A share of a whole: "12 %", "0.4 %". */
export const shareText = (share: number): string =>
  `${new Intl.NumberFormat(undefined, { maximumSignificantDigits: share < 0.1 ? 1 : 2 }).format(share * 100)} %`;

/** Bytes as people read them: "1.2 MB". */
export function bytesText(bytes: number | bigint): string {
  const names = ['B', 'kB', 'MB', 'GB'];
  let value = Number(bytes);
  let at = 0;
  while (value >= 1000 && at < names.length - 1) {
    value /= 1000;
    at += 1;
  }
  return `${at === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${names[at]}`;
}

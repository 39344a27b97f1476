/** Expansions of abbreviations in kinds. */
const expansions: Record<string, string> = { pdp: 'product page', pc: 'product page' };

/** Formats a kind: "Variant sold". */
export function kindText(kind: string): string {
  const text = kind
    .split('_')
    .map((word) => expansions[word] ?? word)
    .join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Formats a marketplace: "Marketplace A" for "mkta"; other path words are returned unchanged. */
export function marketText(market: string): string {
  const letter = /^mkt([a-z])$/.exec(market)?.[1];
  return letter ? `Marketplace ${letter.toUpperCase()}` : market;
}

/** Formats a kind on its marketplace: "Variant sold on Marketplace A". */
export const jobTypeText = ({ kind, market }: { kind: string; market: string }): string =>
  `${kindText(kind)} on ${marketText(market)}`;

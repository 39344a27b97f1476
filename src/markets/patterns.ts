/** Options for anyOf(). */
export interface PatternOptions {
  flags: string;
  /** Expression before the alternatives, for example "^". */
  before?: string;
  /** Expression after the alternatives, for example "$". */
  after?: string;
}

/** Returns an expression of one of the alternatives. */
export const oneOf = (alternatives: readonly string[]): string => `(?:${alternatives.join('|')})`;

/** Returns the pattern of texts that match one of the expressions. */
export function anyOf(
  alternatives: readonly string[],
  { flags, before = '', after = '' }: PatternOptions,
): RegExp {
  return new RegExp(`${before}${oneOf(alternatives)}${after}`, flags);
}

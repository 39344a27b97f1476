/**
 * Matches text that holds `search` as it is, in whatever case. The letters' cases are spelled out: engines do
 * not agree on which letters their option for it knows.
 */
export function holdingText(search: string): RegExp {
  return new RegExp(Array.from(search, anyCase).join(''));
}

function anyCase(letter: string): string {
  const cases = new Set([letter, letter.toLowerCase(), letter.toUpperCase()]);
  return cases.size === 1 ? literal(letter) : `(?:${[...cases].map(literal).join('|')})`;
}

/** Text that stands for itself in the dialects of PCRE, Java and JavaScript. */
const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

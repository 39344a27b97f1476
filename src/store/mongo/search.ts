/**
 * Creates a pattern for texts that contain `search`, ignoring case. It spells out the cases, since servers do
 * not agree on the letters that their case-insensitive option covers.
 */
export function createSubstringPattern(search: string): RegExp {
  return new RegExp(Array.from(search, anyCase).join(''));
}

function anyCase(letter: string): string {
  const cases = new Set([letter, letter.toLowerCase(), letter.toUpperCase()]);
  return cases.size === 1 ? escapeLiteral(letter) : `(?:${[...cases].map(escapeLiteral).join('|')})`;
}

/** Escapes text for the regular expressions of PCRE, Java, and JavaScript. */
const escapeLiteral = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

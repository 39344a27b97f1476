/** Maximum characters of a name that is compared. */
const maxNameLength = 500;

/** Returns a text without differences in case, punctuation, and spaces, between two spaces. */
export const plainWords = (words: string): string =>
  ` ${words
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()} `;

/** Returns plainWords() of a name. */
export const plainName = (name: string | null): string =>
  plainWords((name ?? '').slice(0, maxNameLength));

/** Returns the words of a plain name. */
export const separateWords = (name: string): string[] => name.trim().split(' ');

/** Minimum characters of a word by which a name and a title are compared. */
const minWord = 3;

/** Scripts that do not separate words by spaces. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Returns the words of a plain name, or its pairs of characters if it does not separate words. */
function wordsOf(name: string): string[] {
  const separated = separateWords(name);
  const found = unspaced.test(name)
    ? separated.flatMap((word) => [...word].slice(1).map((_, at) => word.slice(at, at + 2)))
    : separated.filter(({ length }) => length >= minWord);
  return found.length > 0 ? found : separated;
}

/** Returns true if a plain name and one of the titles have a word in common. */
export function sharesWord(name: string, titles: readonly string[]): boolean {
  const found = wordsOf(name);
  return titles.some((title) => found.some((word) => title.includes(word)));
}

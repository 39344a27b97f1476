import { namedChoice } from './known-names.ts';

/**
 * Returns the known name that another name most likely stands for: the one that it names in other
 * words, or the one that it misspells. Undefined if none is close.
 */
export function suggest(name: string, names: Iterable<string>): string | undefined {
  const knownNames = [...names];
  const named = namedChoice(name, knownNames);
  if (named !== undefined) return named;
  const lowerCaseName = name.slice(0, maxLength).toLowerCase();
  let best: { name: string; distance: number } | undefined;
  for (const candidate of knownNames) {
    const length = Math.max(lowerCaseName.length, candidate.length);
    const distance = distanceOf(lowerCaseName, candidate.toLowerCase());
    if (
      distance <= Math.min(maxDistance, length * maxShare) &&
      distance < (best?.distance ?? Infinity)
    )
      best = { name: candidate, distance };
  }
  return best?.name;
}

/**
 * Returns the question " Did you mean …?", with a leading space, or '' if no known name is close
 * and none has all words of the name.
 */
export function didYouMean(name: string, names: Iterable<string>): string {
  const knownNames = [...names];
  const named = namedChoice(name, knownNames);
  const longerNames = named === undefined ? namesWithWordsOf(name, knownNames) : [];
  if (longerNames.length > 0) return ` ${questionOf(longerNames)}`;
  const suggestion = named ?? suggest(name, knownNames);
  return suggestion === undefined ? '' : ` ${questionOf([suggestion])}`;
}

/** Maximum names that a question lists. */
const maxQuestionNames = 4;

/** Returns the names with all words of a shorter one, or none if they are too many. */
function namesWithWordsOf(name: string, names: readonly string[]): string[] {
  const words = wordsOf(name.slice(0, maxLength));
  const longerNames = names.filter((candidate) => {
    const candidateWords = wordsOf(candidate);
    if (candidateWords.length <= words.length) return false;
    return words.every((word) => candidateWords.includes(word));
  });
  return words.length > 0 && longerNames.length <= maxQuestionNames ? longerNames : [];
}

const wordsOf = (name: string): string[] => name.toLowerCase().match(/[a-z0-9]+/g) ?? [];

const alternatives = new Intl.ListFormat('en', { type: 'disjunction' });

/** Returns the question which of some names is meant: "Did you mean a, b, or c?". */
export const questionOf = (names: readonly string[]): string =>
  `Did you mean ${alternatives.format(names)}?`;

/** Edits that a misspelled name may be away, and their share of its length. */
const maxDistance = 3;
const maxShare = 0.4;
/** Longer names, which callers can send, are cut: the distance takes quadratic time. */
const maxLength = 64;

/**
 * Returns the edits between two texts: insertions, deletions, replacements, and swaps of
 * neighbours.
 */
function distanceOf(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isEqual = from[row - 1] === to[column - 1];
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (isEqual ? 0 : 1),
        isSwap ? beforeLast[column - 2]! + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[to.length]!;
}

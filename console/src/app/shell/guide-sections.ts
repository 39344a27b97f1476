import { matches } from './matches.ts';

/** A section of the user documentation, as `/docs/guide/search.json` lists it. */
export interface IndexedSection {
  title: string;
  /** Title of its page. */
  page: string;
  /** Address of the section. */
  path: string;
  /** First words of the section. */
  text: string;
}

/**
 * Returns the sections that contain every word of a search term: pages first, then those with
 * the words in their own title, then those with some in the title of their page.
 */
export function findSections(
  sections: readonly IndexedSection[],
  term: string,
  maxCount: number,
): IndexedSection[] {
  const places: ((section: IndexedSection) => string)[] = [
    ({ title, page }) => (title === page ? title : ''),
    ({ title }) => title,
    ({ title, page }) => `${page} ${title}`,
    ({ title, page, text }) => `${page} ${title} ${text}`,
  ];
  const found = new Set<IndexedSection>();
  for (const textOf of places)
    for (const section of sections) if (matches(term, textOf(section))) found.add(section);
  return [...found].slice(0, maxCount);
}

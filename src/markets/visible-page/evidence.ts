import type { Candidate } from '../candidates/candidates.ts';
import type { Element } from '../html/html.ts';

/** Returns the tag and class of an element, for reports: "span.price". */
function pathOf(element: Element | null): string {
  if (element === null) return '';
  const { id, class: classes } = element.attribs;
  if (id) return `${element.name}#${id}`.slice(0, 80);
  const [first] = classes?.trim().split(/\s+/) ?? [];
  return (first ? `${element.name}.${first}` : element.name).slice(0, 80);
}

/** Value of a field in an element of a page. */
export type Evidence = Pick<Candidate, 'field' | 'value' | 'source'> & {
  text: string | null;
  element: Element | null;
  currency?: string | null;
  isMarked?: boolean;
};

/** Returns the candidate that an element of a page states. */
export const pageCandidate = ({
  element,
  currency = null,
  isMarked = false,
  ...evidence
}: Evidence): Candidate => ({
  ...evidence,
  alternatives: [],
  rung: 'page',
  path: pathOf(element),
  offer: null,
  currency,
  isMarked,
});

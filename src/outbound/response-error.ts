import type { PostResponse } from './post.ts';

/** Maximum characters kept of a receiver's response. */
const maxShownLength = 200;

/** Returns the error of a response that is not a success: its status and the start of its text. */
export function formatResponseError({
  status,
  text,
}: Pick<PostResponse, 'status' | 'text'>): string {
  if (status >= 300 && status < 400) return `HTTP ${status}: redirects are not followed`;
  const excerpt = text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters to remove them.
    .replace(/[\s\u0000-\u001f\u007f]+/g, ' ')
    .trim()
    .slice(0, maxShownLength);
  return excerpt === '' ? `HTTP ${status}` : `HTTP ${status}: ${excerpt}`;
}

/** Fault codes of units that depend only on the submitted values or the marketplace's content. */
const finalCodes: ReadonlySet<string> = new Set([
  'page_not_found',
  'page_private',
  'page_region',
  'page_too_large',
  'page_too_complex',
  'invalid',
  'address_refused',
  'robots_disallowed',
]);

/**
 * Returns true if a new job with a failed unit fails again with this code, so that a retry leaves
 * the unit out.
 */
export const isFinalFailure = (code: string): boolean => finalCodes.has(code);

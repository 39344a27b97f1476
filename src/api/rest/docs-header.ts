/**
 * Replaces the relative links of the API reference, which pages of another path take over, by those
 * below the path of the public address.
 */
export const withAbsoluteLinks = (html: string, basePath: string): string =>
  html.replace(/ href="(?=docs|openapi)/g, () => ` href="${basePath}/`);

/** Marks the link of the header that leads to the current page. */
export const markCurrent = (html: string, path: string): string =>
  html.replace(` href="${path}">`, () => ` href="${path}" aria-current="page">`);

const written =
  globalThis.document?.querySelector<HTMLMetaElement>('meta[name=base-path]')?.content ?? '';

/**
 * Path of the address of the service, which the service writes into the page: `/gleaner`, or empty.
 */
export const basePath = written.startsWith('/') ? written : '';

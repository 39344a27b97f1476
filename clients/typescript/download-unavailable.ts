import type * as download from './download.ts';

/**
 * Replaces download.ts in browsers, by the field `browser` of the package. Its functions reject
 * with a TypeError, because a page cannot write files.
 */
const unavailable = async (): Promise<never> => {
  throw new TypeError('Saving files needs Node. In a browser, read the file with open().');
};

export const downloadFile: typeof download.downloadFile = unavailable;
export const downloadFiles: typeof download.downloadFiles = unavailable;

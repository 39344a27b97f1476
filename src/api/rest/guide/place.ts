import { extname } from 'node:path';

// Compiled, every module is in dist, beside the documentation.
const isCompiled = extname(import.meta.url) === '.js';

/** Folder with the Markdown of the documentation. */
export const docsFolder = new URL(`${isCompiled ? '..' : '../../../..'}/docs/`, import.meta.url);

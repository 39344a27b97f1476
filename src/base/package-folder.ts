import { extname } from 'node:path';

// Compiled, every module is in dist.
const isCompiled = extname(import.meta.url) === '.js';
const packageFolder = new URL(isCompiled ? '..' : '../..', import.meta.url);

/** Returns the address of a file or folder of the package: `docs/`, `console/dist/`. */
export const packageUrl = (path: string): URL => new URL(path, packageFolder);

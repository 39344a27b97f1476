import { extname } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };

// Compiled, every module is in dist.
const isCompiled = extname(import.meta.url) === '.js';
const packageFolder = new URL(isCompiled ? '..' : '../..', import.meta.url);

/** Version of the program. */
export const packageVersion: string = manifest.version;

/** Returns the address of a file or folder of the package: `docs/`, `console/dist/`. */
export const packageUrl = (path: string): URL => new URL(path, packageFolder);

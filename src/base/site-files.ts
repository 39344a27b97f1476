import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Declarations of sites (GLEANER_SITES): the files as they were last in force. */
export interface SiteFiles {
  /** Absolute path of a file, or of a folder of files. */
  readonly path: string;
  /** Text of each file by its name. */
  texts: Readonly<Record<string, string>>;
}

/** Maximum files of a folder, and bytes of one. */
const maxFiles = 500;
const maxBytes = 1024 ** 2;

/**
 * Returns the paths of the files: the path itself, or the files `*.json` and `*.jsonc` of the
 * folder.
 */
function pathsOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => /^[^.].*\.jsonc?$/.test(name));
  if (names.length > maxFiles)
    throw new Error(`${path} has ${names.length} files, the maximum is ${maxFiles}`);
  return names.sort().map((name) => join(path, name));
}

/** Returns a text that changes with the files. Throws an Error if they cannot be read. */
export function siteStamp(path: string): string {
  const stamps = pathsOf(path).map((file) => {
    const { mtimeMs, size, ino } = statSync(file);
    return `${file} ${mtimeMs} ${size} ${ino}`;
  });
  return stamps.join('\n');
}

/** Reads the files. Throws an Error for a file that cannot be read or is too large. */
export function readSiteFiles(path: string): SiteFiles {
  const texts = pathsOf(path).map((file) => {
    const { size } = statSync(file);
    if (size > maxBytes) throw new Error(`${file} has ${size} bytes, the maximum is ${maxBytes}`);
    return [basename(file), readFileSync(file, 'utf8').replace(/^\uFEFF/, '')];
  });
  return { path, texts: Object.fromEntries(texts) };
}

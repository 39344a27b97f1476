import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Result for an engine that is unavailable. */
export interface MissingEngine {
  /** Installation hint, a sentence. */
  missing: string;
}

/** Hint for tests that need a browser. */
export const chromiumMissing =
  'no Chromium is installed: apt-get install chromium, or set GLEANER_BROWSER to the path of one';

/** Folder where `deploy/engines.sh` installs engines without a system package. */
export const engineCache = fileURLToPath(new URL('../../.cache/engines', import.meta.url));

/**
 * Returns a started engine, or the reason for skipping its tests. Throws that reason if CI is set,
 * where every engine is required.
 */
export async function findEngine<T extends object>(
  starting: Promise<T | MissingEngine>,
): Promise<T | MissingEngine> {
  const found = await starting;
  if ('missing' in found && process.env.CI) throw new Error(found.missing);
  return found;
}

/**
 * Returns the full path of a program on PATH, in the system's folders, or in the engine cache, or
 * null.
 */
export function findProgram(name: string): string | null {
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    '/usr/local/sbin',
    '/usr/sbin',
    engineCache,
  ];
  for (const folder of folders) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

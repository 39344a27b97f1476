import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Why there is no engine: a sentence for people that says what to install. */
export interface MissingEngine {
  missing: string;
}

/** Where `deploy/engines.sh` puts engines that no package of the system brings. */
export const cachedEngines = fileURLToPath(new URL('../../.cache/engines', import.meta.url));

/**
 * A test's engine, or why its tests are skipped. Under CI (`CI` is set) every engine has to be
 * there: a missing one is an error.
 */
export async function findEngine<T extends object>(
  starting: Promise<T | MissingEngine>,
): Promise<T | MissingEngine> {
  const found = await starting;
  if ('missing' in found && process.env.CI) throw new Error(found.missing);
  return found;
}

/** Full path of a program on PATH, in the system's folders or among the cached engines; else null. */
export function findProgram(name: string): string | null {
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    '/usr/local/sbin',
    '/usr/sbin',
    cachedEngines,
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

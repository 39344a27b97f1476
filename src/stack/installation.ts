import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../base/config.ts';
import { UnknownInstallationError } from '../base/data-refused-error.ts';
import { replaceFile } from '../base/replace-file.ts';
import { secretsFile } from '../links/secrets.ts';
import { resultsFolder, storeFile } from './stack.ts';

/** Name of the file in the data folder that says which installation the folder belongs to. */
export const installationFile = 'installation.json';

type Place = Pick<Config, 'mongoUri' | 'dataDir'>;

/**
 * Checks that the data folder of the embedded stack and its database belong together, before
 * anything is created: a folder that an installation has used must not become a new one because its
 * database was lost or replaced. Throws an UnknownInstallationError, and a DamagedDataError.
 */
export async function requireInstallation({ mongoUri, dataDir }: Place): Promise<void> {
  if (mongoUri !== null || !existsSync(dataDir)) return;
  const { inspectDataFile } = await import('../store/sqlite/installation.ts');
  const path = join(dataDir, storeFile);
  const found = inspectDataFile(path);
  if (found.kind === 'newer') return;
  const folderId = readFolderId(dataDir);
  const traces = findTraces(dataDir, folderId);
  if (found.kind === 'other')
    throw new UnknownInstallationError(path, 'is a database of another program');
  if (found.kind === 'gleaner') {
    const isOther = folderId !== null && found.installationId !== folderId;
    const knowsNoResults = folderId === null && !found.hasJobs && traces.includes(resultsFolder);
    if (isOther || knowsNoResults)
      throw new UnknownInstallationError(
        path,
        `belongs to another installation than ${traces.join(', ')}`,
      );
    return;
  }
  if (traces.length > 0)
    throw new UnknownInstallationError(
      path,
      `is ${found.kind}, but the folder has ${traces.join(', ')}`,
    );
}

/**
 * Checks that a data folder with secrets or results of the distributed stack belongs to the
 * installation of the database, and marks it. Throws an UnknownInstallationError.
 */
export function matchFolder({ dataDir }: Pick<Place, 'dataDir'>, id: string): void {
  const folderId = readFolderId(dataDir);
  const traces = findTraces(dataDir, folderId);
  if (folderId !== null && folderId !== id)
    throw new UnknownInstallationError(
      'The database of MONGODB_URI',
      `belongs to another installation than ${traces.join(', ')} in ${dataDir}`,
    );
  if (traces.length > 0) markInstallation({ dataDir }, id);
}

/** Marks the data folder with the installation of its database. */
export function markInstallation({ dataDir }: Pick<Place, 'dataDir'>, id: string): void {
  if (readFolderId(dataDir) === id) return;
  replaceFile(join(dataDir, installationFile), `${JSON.stringify({ id })}\n`);
}

/** Returns the files of a data folder that an installation has left, besides its database. */
function findTraces(dataDir: string, folderId: string | null): string[] {
  const traces: string[] = [];
  if (folderId !== null) traces.push(installationFile);
  if (existsSync(join(dataDir, secretsFile))) traces.push(secretsFile);
  if (hasResults(join(dataDir, resultsFolder))) traces.push(resultsFolder);
  return traces;
}

function hasResults(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).some((name) => !name.startsWith('.'));
}

/**
 * Returns the id in the marker of a data folder: null without a marker, "" for one that cannot be
 * read.
 */
function readFolderId(dataDir: string): string | null {
  const file = join(dataDir, installationFile);
  if (!existsSync(file)) return null;
  try {
    const { id } = JSON.parse(readFileSync(file, 'utf8')) as { id?: unknown };
    return String(id ?? '');
  } catch {
    return '';
  }
}

import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { ConfigError } from '../base/config-error.ts';
import { openPrivateFolder, restrictFile } from '../base/data-dir.ts';
import { draftPath } from '../base/replace-file.ts';
import { deriveKey } from '../base/sealing.ts';
import { syncFolder } from '../base/sync-folder.ts';

/** Name of the file in the data folder with the generated secrets, one per line, newest first. */
export const secretsFile = 'secrets.txt';

/** Minimum length of a secret, in characters. */
const minLength = 32;

/**
 * Returns the secrets that all keys are derived from, newest first: the configured ones, then the
 * ones in `<data dir>/secrets.txt` (mode 0600). Without any, creates the file. Processes that start
 * concurrently read the same ones. Throws an Error that names the file if it cannot be read or
 * written, a ConfigError if a secret is too short or missing.
 */
export function openSecrets(
  configured: readonly string[] | null,
  dataDir: string,
): readonly string[] {
  const file = join(dataDir, secretsFile);
  if (configured === null) {
    openPrivateFolder(dataDir);
    if (!existsSync(file)) createFile(file);
  }
  return [...(configured ?? []), ...(existsSync(file) ? readFile(file) : [])];
}

function createFile(file: string): void {
  const draft = draftPath(file);
  // Flushed before it gets its name, so that the file is complete after a power loss.
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  });
  try {
    linkSync(draft, file);
    syncFolder(dirname(file));
  } catch (error) {
    // Stryker disable next-line ConditionalExpression: only a file system without hard links fails
    // otherwise
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
}

function readFile(file: string): string[] {
  restrictFile(file);
  const secrets = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (secrets.length > 0 && secrets.every((secret) => secret.length >= minLength)) return secrets;
  throw new ConfigError(
    `${file}: expected secrets of at least ${minLength} characters, one per line; remove it to start with a new one ` +
      '(links made so far stop working, and secrets of destinations must be entered again)',
  );
}

/** Keys that sign links and tokens. */
export interface LinkSecrets {
  newest(): string;
  /** Returns the keys of valid signatures, the newest first. */
  all(): readonly string[];
}

/** Period after which the keys change, in milliseconds: longer than any link is valid. */
const periodMs = 30 * 86_400_000;

/**
 * Derives the keys of signatures from the secrets (HKDF), a new one every 30 days. A signature is
 * valid in its own period and in the next one, and one period early, for processes whose clocks
 * differ.
 */
export function deriveLinkSecrets(
  secrets: readonly string[],
  { now }: Pick<Clock, 'now'>,
): LinkSecrets {
  let period = Number.NaN;
  let keys: string[] = [];
  const all = () => {
    const current = Math.floor(now() / periodMs);
    if (current !== period) {
      period = current;
      keys = [current, current - 1, current + 1].flatMap((each) =>
        secrets.map((secret) => deriveKey(secret, `gleaner links ${each}`).toString('base64url')),
      );
    }
    return keys;
  };
  return { newest: () => all()[0]!, all };
}

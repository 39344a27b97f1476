import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { openPrivateFolder, restrictFile } from '../base/data-dir.ts';
import { syncFolder } from '../base/sync-folder.ts';
import { createSecretFile, newEntry, readSecretFile, type SecretEntry, writeDraft } from './secret-file.ts';

/** Secrets that sign links. */
export interface LinkSecrets {
  /** Returns the secret for new links. */
  newest(): string;
  /** Returns all secrets that verify links, newest first. */
  all(): readonly string[];
  /** Reads the secrets again, in case another process rotated them. */
  refresh(): void;
}

/** Creates constant secrets, for processes that share a configured secret instead of a data folder. */
export function fixedLinkSecrets(secrets: readonly [string, ...string[]]): LinkSecrets {
  return { newest: () => secrets[0], all: () => secrets, refresh: () => {} };
}

/** Name of the file in the data folder. */
export const secretsFile = 'link-secrets.json';
const dayMs = 86_400_000;
const rotateAfterMs = 30 * dayMs;
// Longer than rotateAfterMs and the 7 days of a link, so that no valid link loses its secret.
const retireAfterMs = 40 * dayMs;
const readIntervalMs = 60_000;
const minRefreshIntervalMs = 1000;
/** Consequence of removing the file, for error messages. */
const removal = 'links made so far stop working';
const staleLockMs = 60_000;

/**
 * Opens the secrets in `<data dir>/link-secrets.json` (mode 0600) and creates the file if it does not exist. A secret is
 * rotated after 30 days and retired after 40. Several processes may share the file and always agree on the secrets.
 * Throws an Error that names the file if it cannot be read or written.
 */
export function openLinkSecrets(dataDir: string, clock: Clock): LinkSecrets {
  const file = join(dataDir, secretsFile);
  openPrivateFolder(dataDir);
  createSecretFile(file, clock.now());
  restrictFile(file);
  let entries: SecretEntry[];
  let readAt: number;

  const reload = () => {
    readAt = clock.now();
    entries = readSecretFile(file, removal);
    // Stryker disable next-line ConditionalExpression,EqualityOperator: rotate() checks the same under its lock
    if (ageOf(entries[0]!, clock.now()) <= rotateAfterMs) return;
    rotate(file, clock.now());
    entries = readSecretFile(file, removal);
  };
  reload();

  return {
    newest: () => {
      if (clock.now() - readAt >= readIntervalMs) reload();
      return entries[0]!.secret;
    },
    all: () =>
      entries
        .filter((entry, index) => index === 0 || ageOf(entry, clock.now()) <= retireAfterMs)
        .map((entry) => entry.secret),
    refresh: () => {
      if (clock.now() - readAt >= minRefreshIntervalMs) reload();
    },
  };
}

/** Adds a new secret, unless another process holds the lock and does so. */
function rotate(file: string, now: number): void {
  const lock = `${file}.lock`;
  try {
    // Stryker disable next-line StringLiteral: nobody reads the lock
    writeFileSync(lock, '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    // Stryker disable next-line ConditionalExpression: only a folder that became read-only fails otherwise
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // The lock of a process that died is removed; the next reload rotates.
    // Stryker disable next-line OptionalChaining,ObjectLiteral,BooleanLiteral: another process removes the lock at this moment
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    // Stryker disable next-line EqualityOperator,ObjectLiteral,BooleanLiteral: a matter of a millisecond, or of another process
    if (age > staleLockMs) rmSync(lock, { force: true });
    return;
  }
  try {
    const entries = readSecretFile(file, removal);
    // Stryker disable next-line EqualityOperator: reload() checked the same limit
    if (ageOf(entries[0]!, now) <= rotateAfterMs) return;
    const kept = entries.filter((entry) => ageOf(entry, now) <= retireAfterMs);
    renameSync(writeDraft(file, [newEntry(now), ...kept]), file);
    syncFolder(dirname(file));
  } finally {
    // Stryker disable next-line ObjectLiteral,BooleanLiteral: another process took the lock for stale
    rmSync(lock, { force: true });
  }
}

function ageOf(entry: SecretEntry, now: number): number {
  return now - Date.parse(entry.created_at);
}

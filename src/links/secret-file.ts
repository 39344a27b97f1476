import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '../base/sync-folder.ts';

/** A secret in a file of the data folder. */
export interface SecretEntry {
  secret: string;
  /** ISO 8601. */
  created_at: string;
}

/** Creates a file with one new secret unless it exists. Of several processes one succeeds, and all read its file. */
export function createSecretFile(file: string, now: number): void {
  const draft = writeDraft(file, [newEntry(now)]);
  try {
    linkSync(draft, file);
    syncFolder(dirname(file));
  } catch (error) {
    // Stryker disable next-line ConditionalExpression: only a file system without hard links fails otherwise
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
}

/** Creates a secret from 32 random bytes. */
export function newEntry(now: number): SecretEntry {
  return { secret: randomBytes(32).toString('base64url'), created_at: new Date(now).toISOString() };
}

/** Writes secrets to a new file beside `file`, flushed, and returns its path. */
export function writeDraft(file: string, entries: SecretEntry[]): string {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, `${JSON.stringify({ secrets: entries }, undefined, 2)}\n`, {
    mode: 0o600,
    // Stryker disable next-line StringLiteral: the name is random
    flag: 'wx',
    // Flushed before the rename, so that the file is complete after a power loss.
    flush: true,
  });
  return draft;
}

/**
 * Reads the secrets of a file, newest first. Throws an Error that names the file and the problem; `removal` states the
 * consequence of removing it.
 */
export function readSecretFile(file: string, removal: string): SecretEntry[] {
  const wrong = (why: string) =>
    new Error(`${file}: ${why}; remove it to start with new secrets (${removal})`);
  let parsed: unknown;
  try {
    // Stryker disable next-line StringLiteral: JSON.parse() reads bytes as UTF-8, too
    parsed = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw wrong((error as Error).message);
  }
  const entries = (parsed as { secrets?: SecretEntry[] } | null)?.secrets;
  if (!Array.isArray(entries) || entries.length === 0) throw wrong('holds no secrets');
  for (const entry of entries) {
    if (
      typeof entry?.secret !== 'string' ||
      entry.secret.length < 32 ||
      Number.isNaN(Date.parse(entry.created_at))
    ) {
      throw wrong('holds a secret that is too short or has no date');
    }
  }
  return entries.toSorted((one, other) => Date.parse(other.created_at) - Date.parse(one.created_at));
}

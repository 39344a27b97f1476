import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { ClientEnvironment } from '../../base/config.ts';
import { UsageError } from './exit.ts';

/** A service, and the keys that it is called with. */
export interface Profile {
  url?: string | undefined;
  apiKey?: string | undefined;
  operatorKey?: string | undefined;
}

/** What the configuration file holds. */
export interface ProfileFile {
  /** Profile that is taken where none is named. */
  profile?: string | undefined;
  profiles: Record<string, Profile>;
}

const shape = z.strictObject({
  profile: z.string().optional(),
  profiles: z
    .record(
      z.string().regex(/^[\w.-]+$/),
      z.strictObject({
        url: z.string().optional(),
        apiKey: z.string().optional(),
        operatorKey: z.string().optional(),
      }),
    )
    .default({}),
});

/** Profile that is taken where neither a flag, the environment nor the file names one. */
export const usualProfile = 'default';

/** Address where nothing names one. */
export const usualUrl = 'http://127.0.0.1:8080';

/** Reads the file; without one, there are no profiles. Throws a UsageError that names it. */
export function readProfiles(path: string): ProfileFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { profiles: {} };
    throw new UsageError(`${path}: ${(error as Error).message}`);
  }
  try {
    return shape.parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new UsageError(`${path}: ${why}`);
  }
}

/** Writes the file so that it is whole whenever it is read, and its owner's alone. */
export function writeProfiles(path: string, file: ProfileFile): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const part = `${path}.${process.pid}.part`;
  writeFileSync(part, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  // A part that an earlier try left has kept its mode.
  chmodSync(part, 0o600);
  renameSync(part, path);
}

/** What is wrong with who may read the file; null when nothing is. */
export function modeWarning(path: string): string | null {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || process.platform === 'win32' || (mode & 0o077) === 0) return null;
  return `${path} holds keys and can be read by others (mode ${(mode & 0o777).toString(8)}): chmod 600 ${path}`;
}

/** Where a value comes from. */
export type Source = 'flag' | 'profile' | 'environment' | 'default' | 'none';

/** Settings in force of a command, each with where it comes from. */
export interface ClientSettings {
  profile: string;
  url: { value: string; from: Source };
  apiKey: { value: string | null; from: Source };
  operatorKey: { value: string | null; from: Source };
}

/** Flags that settings go by. */
export interface SettingFlags {
  url?: string | undefined;
  key?: string | undefined;
  profile?: string | undefined;
}

/**
 * Flags before the environment before the file. A profile that a flag names is a flag's: its values stand before
 * the environment's. Throws a UsageError for a profile that is not there, or an address that is none.
 */
export function settingsOf(
  flags: SettingFlags,
  environment: ClientEnvironment,
  file: ProfileFile,
): ClientSettings {
  const name = flags.profile ?? environment.profile ?? file.profile ?? usualProfile;
  const profile = file.profiles[name];
  if (profile === undefined && (flags.profile ?? environment.profile ?? file.profile) !== undefined)
    throw new UsageError(`there is no profile ${name} in ${environment.configFile}`);
  const pick = (flag: string | undefined, given: string | null, kept: string | undefined) => {
    const choices: [string | null | undefined, Source][] = [
      [flag, 'flag'],
      [flags.profile === undefined ? undefined : kept, 'profile'],
      [given, 'environment'],
      [kept, 'profile'],
    ];
    const [value, from] = choices.find(([value]) => value) ?? [null, 'none' as const];
    return { value: value ?? null, from };
  };
  const url = pick(flags.url, environment.url, profile?.url);
  return {
    profile: name,
    url:
      url.value === null
        ? { value: usualUrl, from: 'default' }
        : { value: checkUrl(url.value), from: url.from },
    apiKey: pick(flags.key, environment.apiKey, profile?.apiKey),
    operatorKey: pick(flags.key, environment.operatorKey, profile?.operatorKey),
  };
}

/** An address as it is kept: without a slash at its end. Throws a UsageError. */
export function checkUrl(text: string): string {
  if (!/^https?:\/\/[^\s/]/.test(text) || !URL.canParse(text))
    throw new UsageError(
      `${text} is no address of a service: expected something like https://gleaner.example`,
    );
  return text.replace(/\/+$/, '');
}

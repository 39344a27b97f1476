import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { ClientEnvironment } from '../../base/config.ts';
import { draftPath } from '../../base/replace-file.ts';
import { UsageError } from './exit.ts';

/** Address of a service and the keys for it. */
export interface Profile {
  url?: string | undefined;
  apiKey?: string | undefined;
  operatorKey?: string | undefined;
}

/** Content of the configuration file. */
export interface ProfileFile {
  /** Default profile. */
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

/** Profile used if neither a flag, the environment, nor the file names one. */
export const defaultProfile = 'default';

/** Default address of the service. */
const defaultUrl = 'http://127.0.0.1:8080';

/**
 * Reads the configuration file. Returns no profiles if it does not exist. Throws a UsageError for
 * an invalid file.
 */
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

/** Replaces the configuration file atomically, readable by its owner only. */
export function writeProfiles(path: string, file: ProfileFile): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = draftPath(path);
  writeFileSync(draft, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(draft, path);
}

/** Returns a warning if other users can read the file, or null. */
export function modeWarning(path: string): string | null {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || process.platform === 'win32' || (mode & 0o077) === 0) return null;
  return (
    `Warning: ${path} contains keys and can be read by others ` +
    `(mode ${(mode & 0o777).toString(8)}). Run: chmod 600 ${path}`
  );
}

export type Source = 'flag' | 'profile' | 'environment' | '.env' | 'default' | 'none';

/** Effective settings of a command with their sources. */
export interface ClientSettings {
  profile: string;
  url: { value: string; from: Source };
  apiKey: { value: string | null; from: Source };
  operatorKey: { value: string | null; from: Source };
}

/** Flags that override settings. */
export interface SettingFlags {
  url?: string | undefined;
  key?: string | undefined;
  profile?: string | undefined;
}

/**
 * Resolves settings. Flags take precedence over the environment, which takes precedence over the
 * file; a profile that a flag selects takes precedence over the environment. The key of a profile
 * is sent only to the profile's address, and a `.env` file is used only as a whole: its address
 * with its keys, if nothing else names an address or a key. Throws a UsageError for an unknown
 * profile or invalid address.
 */
export function settingsOf(
  flags: SettingFlags,
  environment: ClientEnvironment,
  file: ProfileFile,
): ClientSettings {
  const name = flags.profile ?? environment.profile ?? file.profile ?? defaultProfile;
  const profile = file.profiles[name];
  if (profile === undefined && (flags.profile ?? environment.profile ?? file.profile) !== undefined)
    throw new UsageError(`No profile "${name}" in ${environment.configFile}`);
  const pick = (
    flag: string | undefined,
    setting: string | null,
    storedValue: string | undefined,
  ) => {
    const choices: [string | null | undefined, Source][] = [
      [flag, 'flag'],
      [flags.profile === undefined ? undefined : storedValue, 'profile'],
      [setting, 'environment'],
      [storedValue, 'profile'],
    ];
    const [value, from] = choices.find(([value]) => value) ?? [null, 'none' as const];
    return { value: value ?? null, from };
  };
  const { dotEnv } = environment;
  const chosen = {
    url: pick(flags.url, environment.url, profile?.url),
    apiKey: pick(flags.key, environment.apiKey, profile?.apiKey),
    operatorKey: pick(flags.key, environment.operatorKey, profile?.operatorKey),
  };
  const isNothingChosen = Object.values(chosen).every(({ value }) => value === null);
  const found = chosen.url.value ?? (isNothingChosen ? dotEnv.url : null);
  const url = found === null ? defaultUrl : checkUrl(found);
  const urlFrom = chosen.url.value === null ? '.env' : chosen.url.from;
  const keyFor = (key: (typeof chosen)['apiKey'], ofDotEnv: string | null) => {
    const isForeign = key.from === 'profile' && url !== checkUrl(profile?.url ?? defaultUrl);
    if (key.value !== null) return isForeign ? none : key;
    const isSameSource = chosen.url.value === null && (isNothingChosen || dotEnv.url === null);
    if (ofDotEnv !== null && isSameSource) return { value: ofDotEnv, from: '.env' as const };
    return none;
  };
  return {
    profile: name,
    url: {
      value: url,
      from: found === null ? 'default' : urlFrom,
    },
    apiKey: keyFor(chosen.apiKey, dotEnv.apiKey),
    operatorKey: keyFor(chosen.operatorKey, dotEnv.operatorKey),
  };
}

const none = { value: null, from: 'none' as const };

/** Returns an address without trailing slashes. Throws a UsageError if it is not an HTTP URL. */
export function checkUrl(text: string): string {
  if (!/^https?:\/\/[^\s/]/.test(text) || !URL.canParse(text))
    throw new UsageError(`"${text}" is not the URL of a service, such as https://gleaner.example`);
  return text.replace(/\/+$/, '');
}

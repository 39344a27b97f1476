import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError } from './config-error.ts';
import { type SettingName, settings } from './settings.ts';

export type Environment = Record<string, string | undefined>;

export interface SecretFile {
  name: SettingName;
  /** Absolute path. */
  path: string;
}

const suffix = '_FILE';

/** Returns true if `<name>_FILE` can name a file with the value of a setting: a secret. */
export function canBeFile(name: SettingName): boolean {
  return 'secret' in settings[name];
}

/**
 * Returns the files that the environment names for secrets, by `<name>_FILE`. Relative paths start
 * at `folder`.
 */
export function listSecretFiles(environment: Environment, folder: string): SecretFile[] {
  return (Object.keys(settings) as SettingName[]).flatMap((name) => {
    const path = environment[name + suffix];
    if (!path) return [];
    if (!canBeFile(name))
      throw new ConfigError(
        `${name}${suffix}=${path}: only secrets are read from files. Set ${name}.`,
      );
    return [{ name, path: resolve(folder, path) }];
  });
}

/**
 * Returns the environment with the secrets of files that `<name>_FILE` names. A line break at the
 * end of a file is not part of its secret. Throws a ConfigError, which names the variable, if a
 * file cannot be read or is empty, or if a secret is also set directly.
 */
export function readSecretFiles(environment: Environment, folder: string): Environment {
  const files = listSecretFiles(environment, folder);
  if (files.length === 0) return environment;
  const secrets: Environment = {};
  for (const { name, path } of files) {
    if (environment[name])
      throw new ConfigError(`${name} and ${name}${suffix} are both set. Remove one of them.`);
    secrets[name] = readSecret(`${name}${suffix}`, path);
  }
  return { ...environment, ...secrets };
}

function readSecret(variable: string, path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${variable}=${path}: the file cannot be read (${code ?? message})`);
  }
  if (text === '') throw new ConfigError(`${variable}=${path}: the file is empty`);
  return text;
}

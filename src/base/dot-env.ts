import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { ConfigError } from './config-error.ts';

/** Settings of a `.env` file. */
export interface DotEnv {
  /** Absolute path. */
  path: string;
  values: Readonly<Record<string, string>>;
  /** Names that the file sets but Gleaner does not have. They are not loaded. */
  ignored: readonly string[];
}

/**
 * Variables that may come from a `.env` file. A file of another program must not change PATH or
 * NODE_OPTIONS.
 */
const isSetting = (name: string) =>
  /^(?:GLEANER|OTEL)_|^(?:MONGODB_URI|NATS_URL)(?:_FILE)?$/.test(name);

/**
 * Reads the `.env` file of a folder. Returns null if there is none. Throws a ConfigError for a file
 * that cannot be read.
 */
export function readDotEnv(folder: string): DotEnv | null {
  const path = resolve(folder, '.env');
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EISDIR') return null;
    throw new ConfigError(`${path}: the file cannot be read (${code ?? message})`);
  }
  const entries = Object.entries(parseEnv(text)) as [string, string][];
  return {
    path,
    values: Object.fromEntries(entries.filter(([name]) => isSetting(name))),
    ignored: entries.map(([name]) => name).filter((name) => !isSetting(name)),
  };
}

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Settings of a live service, which a service for trials must not read: each of them would end its
 * start.
 */
const live = {
  GLEANER_S3_URL: 'http://user:secret@127.0.0.1:9/results',
  GLEANER_BACKUP_TO: 'http://user:secret@127.0.0.1:9/backups',
  GLEANER_SMTP_URL: 'smtp://127.0.0.1:9',
  GLEANER_ORIGINS: '/nowhere/origins.json',
  GLEANER_RETAIN_JOBS_DAYS: 'none',
};

/** Files that poison() writes. */
export const poisoned = ['.env', 'mongodb-uri', 'nats-url'];

/**
 * Writes a `.env` file and files of secrets of a live service to a folder. Returns variables that
 * name the files, and the settings that the `.env` file does not have.
 */
export async function poison(folder: string): Promise<Record<string, string>> {
  await writeFile(join(folder, 'mongodb-uri'), 'mongodb://127.0.0.1:9/live');
  await writeFile(join(folder, 'nats-url'), 'nats://127.0.0.1:9');
  const lines = Object.entries(live).map(([name, value]) => `${name}=${value}`);
  await writeFile(
    join(folder, '.env'),
    `${lines.join('\n')}\nNATS_URL_FILE=${join(folder, 'nats-url')}\n`,
  );
  return {
    MONGODB_URI_FILE: join(folder, 'mongodb-uri'),
    GLEANER_OPERATOR_WEBHOOK_URL: 'not a URL',
  };
}

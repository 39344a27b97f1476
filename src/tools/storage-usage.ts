import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../base/config.ts';
import { openExistingStore } from '../stack/data-folder.ts';
import { storeFile } from '../stack/stack.ts';
import { allOf } from '../store/cursor.ts';
import type { User } from '../store/documents.ts';
import type { Store } from '../store/store.ts';

/** Bytes that a user takes in the result storage. */
export interface UserUsage extends Pick<User, 'id' | 'name'> {
  mode: 'live' | 'test';
  resultBytes: number;
  pageBytes: number;
}

/** Bytes that an installation takes. */
export interface StorageUsage {
  /** Bytes of the data file and its log. Null for MongoDB, which has commands of its own. */
  databaseBytes: number | null;
  /** Users with results or kept pages, the largest first. */
  users: UserUsage[];
}

const pageSize = 500;

/** Reads the usage of an installation. Throws a ConfigError if there is no data. */
export async function readStorageUsage(config: Config): Promise<StorageUsage> {
  const store = await openExistingStore(config);
  try {
    const databaseBytes =
      config.mongoUri === null ? databaseBytesOf(join(config.dataDir, storeFile)) : null;
    return { databaseBytes, users: await readUserUsage(store) };
  } finally {
    await store.close();
  }
}

/**
 * Returns the bytes of each user who has any, from the counts in the store: listing a bucket takes
 * hours.
 */
export async function readUserUsage({
  users,
  jobs,
}: Pick<Store, 'users' | 'jobs'>): Promise<UserUsage[]> {
  const found: UserUsage[] = [];
  for await (const user of allOf((page) => users.list({ role: 'user' }, page), pageSize)) {
    const resultBytes = await jobs.sumBytes(user.id, 'results');
    const pageBytes = await jobs.sumBytes(user.id, 'pages');
    const { id, name, testOf } = user;
    const mode = testOf === null ? 'live' : 'test';
    if (resultBytes + pageBytes > 0)
      found.push({
        id,
        name,
        mode,
        resultBytes,
        pageBytes,
      });
  }
  const total = ({ resultBytes, pageBytes }: UserUsage) => resultBytes + pageBytes;
  return found.sort((one, other) => total(other) - total(one));
}

/** Returns the bytes of a data file with its write-ahead log. */
function databaseBytesOf(path: string): number {
  const files = [path, `${path}-wal`];
  const sizes = files.map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}

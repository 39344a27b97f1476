import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../base/config.ts';
import { compose } from './compose.ts';

test('compose() closes the store if a later part cannot be created', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gleaner-compose-'));
  try {
    const config = loadConfig({
      GLEANER_DATA_DIR: dataDir,
      GLEANER_LOG_LEVEL: 'silent',
      GLEANER_PRICES: '{"unknown_kind": 1}',
    });
    await expect(compose(config, 'serve', () => 'http://gleaner.test')).rejects.toThrow(
      'unknown_kind',
    );
    const files = await readdir(dataDir);
    expect(files).toContain('gleaner.db');
    // SQLite deletes its log with the last connection.
    expect(files).not.toContain('gleaner.db-wal');
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

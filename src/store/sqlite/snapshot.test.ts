import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteStore } from './open.ts';

test.skipIf(process.platform === 'win32')(
  'copyDataFile() names the copy if it cannot be written',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gleaner-snapshot-'));
    const [source, copy] = [join(folder, 'source.db'), join(folder, 'copy.db')];
    await openSqliteStore({ path: source }).close();
    const code = `
      const { copyDataFile } = await import(${JSON.stringify(join(import.meta.dirname, 'snapshot.ts'))});
      try { copyDataFile(...process.argv.slice(1)) } catch (error) { console.log(error.message) }`;
    // No file may have more than 40 KB: enough for the shared memory of the source.
    const limited = `trap '' XFSZ; ulimit -f 40; exec "$0" --input-type=module -e "$1" "$2" "$3"`;
    const program = ['-c', limited, process.execPath, code, source, copy];
    const { stdout, stderr } = spawnSync('bash', program, { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect([stdout, stderr]).toEqual([`SQLite file ${copy}: disk I/O error\n`, '']);
  },
);

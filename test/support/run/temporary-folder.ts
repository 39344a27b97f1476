import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createProcessFolder, removeProcessFolder } from '../../../src/base/process-folder.ts';

/**
 * Gives a test run a folder for its temporary files, which is removed at its end. Tests remove
 * their own files, but not those that they or their processes leave when they are killed. The next
 * run removes the folder of a killed one. The logs of failed tests remain in `KEPT_DIR`.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const folder = await createProcessFolder('tests');
  // Some tests start processes of other users.
  await chmod(folder, 0o1777);
  process.env.KEPT_DIR ??= tmpdir();
  process.env.TMPDIR = folder;
  return () => removeProcessFolder(folder);
}

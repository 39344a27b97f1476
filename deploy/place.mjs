// Location of the project, and the Node that runs it.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root folder of the project. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Whether this is an installed package and not a checkout: npm does not pack the lock file. */
export const isInstalled = !existsSync(join(root, 'package-lock.json'));

/** Path of the Node that runs the service and its tools. */
export const node = isInstalled
  ? join(
      dirname(createRequire(join(root, 'package.json')).resolve('node/package.json')),
      'bin',
      binary('node.exe'),
    )
  : join(root, 'node_modules', '.bin', binary('node.cmd'));

function binary(onWindows) {
  return process.platform === 'win32' ? onWindows : 'node';
}

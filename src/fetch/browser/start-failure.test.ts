import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFailure } from './start-failure.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-start-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** A program that says something and ends. */
async function program(says: string, code: number): Promise<string> {
  const path = join(folder, `says-${code}-${says.length}`);
  await writeFile(path, `#!/bin/sh\ncat >&2 <<'END'\n${says}\nEND\nexit ${code}\n`, { mode: 0o700 });
  return path;
}

test.each([
  [
    '[7:7:0101/120000.1:ERROR:zygote_host_impl_linux.cc:130] No usable sandbox! If this is …',
    /^its sandbox needs user namespaces, .* does not allow them/,
  ],
  ['/usr/lib/b: error while loading shared libraries: libnss3.so: cannot open', /libnss3\.so: cannot open$/],
  ['[7:7:0101/1.1:FATAL:profile.cc(1)] No room.\n[7:8:0101/1.1:ERROR:dbus/bus.cc:4] no bus', /^No room\.$/],
])('what a browser says that does not start is told: %s', async (says, words) => {
  expect(await startFailure(await program(says, 1), [], folder, {})).toMatch(words);
});

test('where it starts, says nothing or is not there, nothing is made up', async () => {
  expect(await startFailure(await program('a warning', 0), [], folder, {})).toBeNull();
  expect(await startFailure(await program('', 1), [], folder, {})).toBeNull();
  expect(await startFailure(join(folder, 'none'), [], folder, {})).toBeNull();
});

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../../test/support/time/until.ts';
import { diagnoseStartFailure } from './start-failure.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-start-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Writes a program that prints an error and exits with a code. */
async function program(output: string, code: number): Promise<string> {
  const path = join(folder, `program-${code}-${output.length}`);
  await writeFile(path, `#!/bin/sh\ncat >&2 <<'END'\n${output}\nEND\nexit ${code}\n`, {
    mode: 0o700,
  });
  return path;
}

test.each([
  [
    '[7:7:0101/120000.1:ERROR:zygote_host_impl_linux.cc:130] No usable sandbox! If this is …',
    /^its sandbox needs user namespaces, .* does not allow for this user/,
  ],
  [
    '/usr/lib/b: error while loading shared libraries: libnss3.so: cannot open',
    /libnss3\.so: cannot open$/,
  ],
  [
    '[7:7:0101/1.1:FATAL:profile.cc(1)] No room.\n[7:8:0101/1.1:ERROR:dbus/bus.cc:4] no bus',
    /^No room\.$/,
  ],
])('diagnoseStartFailure() returns the reason in %s', async (output, words) => {
  expect(await diagnoseStartFailure(await program(output, 1), [], folder, {})).toMatch(words);
});

test('diagnoseStartFailure() ends the processes that a browser leaves', async () => {
  const path = join(folder, 'leaves-a-child');
  const note = join(folder, 'child');
  await writeFile(path, `#!/bin/sh\nsleep 1000 &\necho $! > ${note}\necho broken >&2\nexit 1\n`, {
    mode: 0o700,
  });
  expect(await diagnoseStartFailure(path, [], folder, { PATH: process.env.PATH })).toBe('broken');
  const child = Number(await readFile(note, 'utf8'));
  const hasEnded = () => {
    try {
      process.kill(child, 0);
      return undefined;
    } catch {
      return true;
    }
  };
  await until('the child has ended', hasEnded, { withinMs: 10_000 });
});

test('diagnoseStartFailure() returns null for a browser that starts, prints nothing, or is missing', async () => {
  expect(await diagnoseStartFailure(await program('a warning', 0), [], folder, {})).toBeNull();
  expect(await diagnoseStartFailure(await program('', 1), [], folder, {})).toBeNull();
  expect(await diagnoseStartFailure(join(folder, 'none'), [], folder, {})).toBeNull();
});

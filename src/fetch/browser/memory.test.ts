import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readTreeMemory } from './memory.ts';

describe.skipIf(!existsSync('/proc/self/status'))('readTreeMemory()', () => {
  test('includes child processes', async () => {
    const before = (await readTreeMemory(process.pid))!;
    expect(before).toBeGreaterThan(20 * 1024 ** 2);
    const child = spawn(
      process.execPath,
      [
        '-e',
        'const held = Buffer.alloc(64 * 1024 * 1024, 1); console.log(held.length); process.stdin.resume()',
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    await once(child.stdout, 'data');
    const own = (await readTreeMemory(child.pid!))!;
    expect(own).toBeGreaterThan(64 * 1024 ** 2);
    const together = (await readTreeMemory(process.pid))!;
    expect(together).toBeGreaterThan(own);
    const gone = once(child, 'close');
    child.stdin.end();
    await gone;
    expect(await readTreeMemory(child.pid!)).toBeNull();
  });
});

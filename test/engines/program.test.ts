import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startProgram } from './program.ts';

/** Says a line and then goes on until it is ended. */
const parameters = ['-c', 'echo "ready at 4711"; exec sleep 600'];
const readPort = (line: string) => Number(/^ready at (\d+)$/.exec(line)?.[1]) || null;

test.each(['stop', 'kill'] as const)(
  'a program is there once it is ready, and gone after %s',
  async (way) => {
    const program = await startProgram('sh', parameters, readPort);
    expect(program.said).toBe(4711);
    expect(isThere(program.pid)).toBe(true);
    await program[way]();
    expect(isThere(program.pid)).toBe(false);
    await program[way]();
  },
);

test('a program that ends before it is ready is an error with its last words', async () => {
  const starting = startProgram('sh', ['-c', 'echo "no such folder" >&2; exit 3'], readPort);
  await expect(starting).rejects.toThrow(/no such folder/);
});

test('a program that is not there is an error', async () => {
  await expect(startProgram('/nonexistent/server', [], readPort)).rejects.toThrow(/\/nonexistent\/server/);
});

test('a program is ended when the process that started it is killed', async () => {
  const script = `
    const { startProgram } = await import(${JSON.stringify(new URL('program.ts', import.meta.url).href)});
    const { pid } = await startProgram('sh', ${JSON.stringify(parameters)}, () => true);
    console.log(String(pid));
  `;
  const starter = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(starter.stdout), 'line');
  const pid = Number(line);
  expect(isThere(pid)).toBe(true);
  starter.kill('SIGKILL');
  while (isThere(pid)) await setImmediate();
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

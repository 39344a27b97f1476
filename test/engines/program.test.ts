import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startProgram } from './program.ts';

/** Prints a line and then runs until it is ended. */
const parameters = ['-c', 'echo "ready at 4711"; exec sleep 600'];
const readPort = (line: string) => Number(/^ready at (\d+)$/.exec(line)?.[1]) || null;

test.each(['stop', 'kill'] as const)(
  'startProgram() resolves once the program is ready; %s() ends it',
  async (end) => {
    const program = await startProgram('sh', parameters, readPort);
    expect(program.readyValue).toBe(4711);
    expect(isRunning(program.pid)).toBe(true);
    await program[end]();
    expect(isRunning(program.pid)).toBe(false);
    await program[end]();
  },
);

test('startProgram() rejects with the last output of a program that ends before it is ready', async () => {
  const starting = startProgram('sh', ['-c', 'echo "no such folder" >&2; exit 3'], readPort);
  await expect(starting).rejects.toThrow(/no such folder/);
});

test('startProgram() rejects if the program does not exist', async () => {
  await expect(startProgram('/nonexistent/server', [], readPort)).rejects.toThrow(
    /\/nonexistent\/server/,
  );
});

test('startProgram() ends the program when the process that started it is killed', async () => {
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
  expect(isRunning(pid)).toBe(true);
  starter.kill('SIGKILL');
  while (isRunning(pid)) await setImmediate();
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createIsoTime } from './log.ts';

const module = new URL('./log.ts', import.meta.url).href;

/**
 * Runs a program that logs, with standard error as a pipe or, as far as the program sees, as a
 * terminal.
 */
function runLogger(isTerminal: boolean, prepare = '') {
  const program = `
    import { createRequire } from 'node:module';
    Object.assign(process.stderr, { isTTY: ${isTerminal}, hasColors: () => false });
    const { createLog, addLogFields } = await import(${JSON.stringify(module)});
    ${prepare}
    const log = createLog('info', 'serve');
    log.info({ httpPort: 8080 }, 'started');
    log.debug('hidden');
    log.error({ jobId: 'j1' }, 'unit abandoned');
    process.on('exit', () => {
      const loaded = Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('pino-pretty'));
      console.log(loaded);
    });`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program],
    {
      encoding: 'utf8',
    },
  );
  return { lines: stderr.trimEnd().split('\n'), isFormatterLoaded: stdout.trim() };
}

test('createLog() writes JSON where standard error is no terminal, without loading the formatter', () => {
  const { lines, isFormatterLoaded } = runLogger(false);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 30, role: 'serve', httpPort: 8080, msg: 'started', time: expect.stringMatching(/Z$/) },
    { level: 50, role: 'serve', jobId: 'j1', msg: 'unit abandoned' },
  ]);
  expect(isFormatterLoaded).toBe('false');
});

test('createLog() writes readable lines to a terminal', () => {
  const { lines, isFormatterLoaded } = runLogger(true);
  expect(lines).toEqual([
    expect.stringMatching(/^\[\d\d:\d\d:\d\d\] INFO: serve: started \{"httpPort":8080\}$/),
    expect.stringMatching(/^\[\d\d:\d\d:\d\d\] ERROR: serve: unit abandoned \{"jobId":"j1"\}$/),
  ]);
  expect(isFormatterLoaded).toBe('true');
});

test('addLogFields() adds fields to the lines of later loggers, read for each line', () => {
  const { lines } = runLogger(false, 'let line = 0; addLogFields(() => ({ span_id: ++line }));');
  expect(lines.map((line) => JSON.parse(line).span_id)).toEqual([1, 2]);
});

/** Program that logs many lines and ends, once its standard input is closed. */
const endless = `
  const { createLog } = await import(${JSON.stringify(module)});
  const log = createLog('info', 'serve');
  const line = 'x'.repeat(10_000);
  process.stdin.on('end', () => {
    for (let count = 0; count < 100; count++) log.warn(line);
    setTimeout(() => {
      log.info(line);
      log.warn(line);
      process.exit(7);
    }, 100);
  });
  process.stdin.resume();
  console.log('ready');`;

test.each(['a reader that has gone', 'a reader that does not read', 'a full disk'])(
  'a process ends in spite of %s',
  async (output) => {
    const full = output === 'a full disk' ? openSync('/dev/full', 'w') : null;
    const logger = spawn(process.execPath, ['--input-type=module', '--eval', endless], {
      stdio: ['pipe', 'pipe', full ?? 'pipe'],
    });
    if (full !== null) closeSync(full);
    await once(logger.stdout!, 'data');
    if (output === 'a reader that has gone') {
      logger.stderr!.destroy();
      await once(logger.stderr!, 'close');
    }
    logger.stdin!.end();
    expect(await once(logger, 'exit')).toEqual([7, null]);
  },
);

test('createIsoTime() formats times as Date does, also if the clock is set back', () => {
  const times = [0, 7, 999, 1_000, 1_893_542_399_999, 1_893_542_400_050, 1_893_542_400_051, 999];
  const left = [...times];
  const formatTime = createIsoTime(() => left.shift()!);
  expect(times.map(() => formatTime())).toEqual(
    times.map((time) => `,"time":"${new Date(time).toISOString()}"`),
  );
});

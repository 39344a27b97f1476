import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newApiKey } from '../base/id.ts';
import { Interrupted } from './commands/exit.ts';
import type { CommandInput, CommandOutput, RunOptions } from './io.ts';
import { runCli } from './run.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gleaner-run-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs the command line in the folder, and returns the exit code and both outputs. */
async function run(
  args: readonly string[],
  options: Partial<RunOptions> = {},
): Promise<[number, string, string]> {
  const [stdout, stderr]: CommandOutput[] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout as PassThrough), text(stderr as PassThrough)]);
  const { signal } = new AbortController();
  const given = {
    stdin: Readable.from([]),
    stdout: stdout!,
    stderr: stderr!,
    env: {},
    home: folder,
    signal,
  };
  const code = await runCli(args, { ...given, folder, ...options });
  stdout!.end();
  stderr!.end();
  return [code, ...(await printed)];
}

describe('runCli()', () => {
  test('returns the exit code, and writes results and errors to their streams', async () => {
    expect(await run(['--version'])).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/), '']);
    expect(await run(['job', 'list', '--nope'])).toEqual([
      2,
      '',
      "gleaner: unknown option '--nope'\n",
    ]);
    expect(await run(['job', 'submit', 'mkte', 'pdp_bulk', '--name', '--track', 'a'])).toEqual([
      2,
      '',
      "gleaner: '--name <value>' lacks its value: --track is another option\n",
    ]);
    expect(await run(['job', 'help', 'wait'])).toEqual([
      0,
      expect.stringContaining('Usage: gleaner job wait'),
      '',
    ]);
    expect(await run(['kind', 'list', 'nowhere'])).toEqual([
      2,
      '',
      expect.stringContaining(
        'gleaner: No market "nowhere" (mkta Shopee, mktb Tokopedia, mktc Blibli, ',
      ),
    ]);
  });

  test.each([
    [
      'webhook test',
      "'webhook test'. Commands of webhook: show, set, rotate. Did you mean delivery test or destination test?",
    ],
    ['schedule shw', /: create, list, .*, delete\. Did you mean schedule show\?\n$/],
    ['key sunshine', "'key sunshine'. Commands of key: list, create, revoke"],
    ['submit', "'submit'. Did you mean job submit?"],
    ['jobs', "'jobs'. Did you mean job?"],
    ['prices', "'prices'. Did you mean kind list, rule create, or open?"],
    ['sunshine', "'sunshine'. Run gleaner --help for the commands"],
  ])('names the commands that "%s" could be', async (line, text) => {
    const [code, , error] = await run(line.split(' '));
    expect(code).toBe(2);
    if (typeof text === 'string') expect(error).toBe(`gleaner: unknown command ${text}\n`);
    else expect(error).toMatch(text);
  });

  test('reads paths relative to its folder, in its arguments and its settings', async () => {
    writeFileSync(join(folder, '.env'), 'GLEANER_DATA_DIR=from-file\n');
    const [code, , error] = await run(['audit']);
    expect([code, error]).toEqual([
      2,
      expect.stringContaining(`No Gleaner data in ${join(folder, 'from-file')}.`),
    ]);
    writeFileSync(join(folder, 'service.log'), '{"level":30,"msg":"started"}\n');
    expect(await run(['logs', 'service.log', '--json'])).toEqual([
      0,
      '{"level":30,"msg":"started"}\n',
      '',
    ]);
  });

  test('keeps the folders and variables of concurrent runs apart', async () => {
    const homes = ['ann', 'bob'].map((name) => join(folder, name));
    const set = (home: string) =>
      run(['config', 'set', 'url', `http://${home.slice(-3)}.example`], { home });
    expect(await Promise.all(homes.map(set))).toEqual([
      [0, '', ''],
      [0, '', ''],
    ]);
    const shown = await Promise.all(
      homes.map((home) => run(['config', 'show', '--json'], { home })),
    );
    expect(shown.map(([, out]) => JSON.parse(out).url)).toEqual([
      'http://ann.example',
      'http://bob.example',
    ]);
    const env = { GLEANER_URL: 'http://cleo.example' };
    expect(JSON.parse((await run(['config', 'show', '--json'], { env }))[1]).url).toBe(
      'http://cleo.example',
    );
  });

  test('shows the first characters of a generated key, and none of a chosen one', async () => {
    const generatedKey = newApiKey();
    const env = { GLEANER_API_KEY: generatedKey, GLEANER_OPERATOR_KEY: 'choose-a-key' };
    const [, output] = await run(['config', 'show', '--json'], { env });
    expect(JSON.parse(output)).toMatchObject({
      api_key: `${generatedKey.slice(0, 7)}…`,
      operator_key: '…',
    });
  });

  test('asks for a file where standard input is a terminal', async () => {
    const stdin: CommandInput = Object.assign(Readable.from([]), { isTTY: true });
    const [code, , error] = await run(['logs'], { stdin });
    expect([code, error]).toEqual([2, expect.stringContaining('Missing log.')]);
  });

  test.each([
    [{}, true],
    [{ NO_COLOR: '1' }, false],
  ])('colors what a terminal shows, with the environment %o: %s', async (env, isColored) => {
    const stdout: CommandOutput = Object.assign(new PassThrough(), { isTTY: true });
    const shown = text(stdout as PassThrough);
    expect(
      (await run(['config', 'show'], { stdout, env: { TERM: 'xterm-256color', ...env } }))[0],
    ).toBe(0);
    stdout.end();
    expect((await shown).startsWith('\u001b[2m')).toBe(isColored);
  });
});

describe('a command that is stopped', () => {
  let server: Server;
  beforeEach(async () => {
    // Accepts requests and never responds.
    server = createServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  test('ends with 130, and prints nothing', async () => {
    const stop = new AbortController();
    server.once('request', () => stop.abort(new Interrupted('interrupted')));
    const { port } = server.address() as { port: number };
    const env = { GLEANER_URL: `http://127.0.0.1:${port}`, GLEANER_API_KEY: 'gl_key' };
    expect(await run(['account', 'show'], { env, signal: stop.signal })).toEqual([130, '', '']);
  });
});

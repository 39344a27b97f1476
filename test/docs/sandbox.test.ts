import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/servers/ports.ts';
import { root } from '../support/service/service.ts';
import { until } from '../support/time/until.ts';
import { differences, type Example, parseExamples, remember, runExample } from './example.ts';
import { type Place, startPlace } from './place.ts';

let place: Place;
let port: number;
beforeAll(async () => {
  place = await startPlace();
  port = await freePort();
});
afterAll(() => place?.stop());

/** Starts the receiver of the page, and returns what it has printed so far. */
function startReceiver(page: string) {
  const [command] = /^node -e .*$/m.exec(page)!;
  const child = spawn('bash', ['-c', `exec ${command}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  return {
    printed: () => printed,
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

test('the examples of docs/sandbox.md work with a test key: a price changes, and a rule fires', async () => {
  const page = readFileSync(join(root, 'docs/sandbox.md'), 'utf8').replaceAll('8000', `${port}`);
  const examples = parseExamples(page);
  const createsKey = ({ command }: Example) => command.includes('"mode": "test"');
  const variables = await place.variables();
  const created = await runExample(examples.find(createsKey)!, variables);
  variables.KEY = (created as { api_key: string }).api_key;
  const receiver = startReceiver(page);
  try {
    for (const example of examples) {
      const printed = await runExample(example, variables);
      remember(printed, variables);
      expect(differences(JSON.parse(example.response!), printed), example.command).toEqual([]);
    }
    const message = await until(
      'the message of the rule is received',
      async () =>
        /\{"type":"item\.changed".*?"key":"B0GLN01920".*?\}/.exec(receiver.printed()) ?? undefined,
      { withinMs: 30_000 },
    );
    expect(message[0]).toContain('"series":"first"');
    expect(receiver.printed().match(/"type":"job\.ended"/g)).toHaveLength(2);
  } finally {
    await receiver.stop();
  }
}, 120_000);

import { fstatSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { origins } from './list.ts';
import { startOrigins } from './server.ts';

const usage = `usage: node sandbox/main.ts [--market mkta]... [--misbehaviour none|some] [--latency-ms 0] [--slow-ms 300]
       [--browser-only] [--config-file F]
Starts the fake marketplaces, prints what a GLEANER_ORIGINS file holds as one line of JSON (and writes it to F),
and runs until SIGTERM, SIGINT or the end of a piped standard input.`;

function number(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0)
    throw new Error(`--${name}: ${text} is not a number of milliseconds`);
  return value;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      market: { type: 'string', multiple: true },
      misbehaviour: { type: 'string', default: 'some' },
      'latency-ms': { type: 'string', default: '0' },
      'slow-ms': { type: 'string', default: '300' },
      'browser-only': { type: 'boolean', default: false },
      'config-file': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return console.log(usage);
  const { misbehaviour } = values;
  if (misbehaviour !== 'none' && misbehaviour !== 'some')
    throw new Error(`--misbehaviour: ${misbehaviour}?`);
  const running = await startOrigins({
    origins: origins.filter(({ market }) => values.market?.includes(market) ?? true),
    misbehaviour,
    latencyMs: number('latency-ms', values['latency-ms']),
    slowMs: number('slow-ms', values['slow-ms']),
    browserOnly: values['browser-only'],
  });
  const config = JSON.stringify(running.config);
  const file = values['config-file'];
  if (file !== undefined) {
    await writeFile(`${file}.part`, config);
    await rename(`${file}.part`, file);
  }
  console.log(config);
  const stop = () => void running.stop().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  const input = fstatSync(0, { throwIfNoEntry: false });
  if (input?.isFIFO() || input?.isSocket())
    process.stdin.once('end', stop).once('error', stop).resume();
}

main().catch((error: unknown) => {
  console.error(`${(error as Error).message}\n${usage}`);
  process.exit(2);
});

import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { Fault } from '../../contract/fault.ts';
import { type ConversionLimits, type Conversions, createConversions } from './conversions.ts';

let conversions: Conversions;
afterEach(() => conversions.close());

const open = (limits: Partial<ConversionLimits> = {}) => {
  conversions = createConversions(limits);
};

/** Returns a conversion to this content, and counts it. */
const made: string[] = [];
const to = (content: string) => async () => {
  made.push(content);
  const bytes = (async function* () {
    for (const character of content) yield Buffer.from(character);
  })();
  return { contentType: 'text/plain', fileName: `${content}.txt`, bytes };
};
afterEach(() => void made.splice(0));

test('open() runs a conversion once, also for concurrent calls', async () => {
  open();
  const both = await Promise.all([
    conversions.open('a', to('lamp')),
    conversions.open('a', to('lamp')),
  ]);
  const again = await conversions.open('a', to('lamp'));
  for (const stored of [...both, again]) {
    expect(stored).toMatchObject({ contentType: 'text/plain', fileName: 'lamp.txt', bytes: 4 });
    expect(await text(stored!.read())).toBe('lamp');
    expect(await text(stored!.read({ start: 1, end: 2 }))).toBe('am');
  }
  expect(made).toEqual(['lamp']);
});

test('open() returns null for a conversion that is too large, and does not try it again', async () => {
  open({ maxBytes: 3 });
  expect(await conversions.open('a', to('lamp'))).toBeNull();
  expect(await conversions.open('a', to('lamp'))).toBeNull();
  expect((await conversions.open('b', to('mug')))?.bytes).toBe(3);
  expect(made).toEqual(['lamp', 'mug']);
});

test('open() rejects with the error of a conversion, and tries it again', async () => {
  open();
  const busy = new Fault('rate_limited', 'Too many conversions.');
  await expect(conversions.open('a', () => Promise.reject(busy))).rejects.toBe(busy);
  expect((await conversions.open('a', to('lamp')))?.bytes).toBe(4);
});

test('removes the conversions that were used least recently, except for streams that read them', async () => {
  open({ maxTotalBytes: 8 });
  const first = await conversions.open('a', to('lamp'));
  const reading = first!.read();
  await new Promise((resolve) => reading.once('open', resolve));
  await conversions.open('b', to('vase'));
  await conversions.open('a', to('lamp'));
  await conversions.open('c', to('bowl'));
  await conversions.open('a', to('lamp'));
  await conversions.open('b', to('vase'));
  expect(made).toEqual(['lamp', 'vase', 'bowl', 'vase']);
  await conversions.open('a', to('lamp'));
  expect(await text(reading)).toBe('lamp');
});

test('removes a conversion some time after its last use', async () => {
  open({ keepMs: 0 });
  await conversions.open('a', to('lamp'));
  await new Promise((resolve) => setTimeout(resolve, 0));
  await new Promise((resolve) => setImmediate(resolve));
  await conversions.open('a', to('lamp'));
  expect(made).toEqual(['lamp', 'lamp']);
});

import { expect, test } from 'vitest';
import { createStallMemory, recordUnits, unitInProgress } from './stall-watch.ts';

const unit = (index: number) => ({ jobId: 'job', batchId: 'batch', attempt: 1, index });

test('each unit is in progress alone, until the microtasks that read its page end', async () => {
  const memory = createStallMemory();
  const begin = recordUnits(memory);
  const seen: (number | undefined)[][] = [];
  const read = async (index: number) => {
    await begin(unit(index));
    const during: (number | undefined)[] = [];
    for (let microtask = 0; microtask < 3; microtask += 1) {
      during.push(unitInProgress(memory)?.index);
      await null;
    }
    seen.push(during);
  };
  await Promise.all([read(0), read(1), read(2)]);
  expect(seen).toEqual([
    [0, 0, 0],
    [1, 1, 1],
    [2, 2, 2],
  ]);
  await new Promise(setImmediate);
  expect(unitInProgress(memory)).toBeNull();
});

import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { handClock } from '../fixture/gateway.ts';
import { shopMessage } from '../fixture/shop.ts';
import { createAnswerCache } from './answer-cache.ts';

const lengths = { processingMs: 120_000, completedMs: 86_400_000 };
const schema = shopMessage('Progress');

describe('createAnswerCache()', () => {
  test('keeps at most 64 MB, the most recently used responses', async () => {
    const answers = createAnswerCache(lengths, handClock()).of(schema);
    let made = 0;
    const make = async () => {
      made += 1;
      return { message: create(schema), tag: undefined };
    };
    const ask = (user: number) => answers(`user-${user} /path`, false, make, () => 'x'.repeat(60_000));
    for (let user = 0; user < 1_000; user += 1) await ask(user);
    expect(made).toBe(1_000);
    await ask(999);
    expect(made).toBe(1_000);
    await ask(0);
    expect(made).toBe(1_001);
  });

  test('counts what long keys take', async () => {
    const answers = createAnswerCache(lengths, handClock()).of(schema);
    let made = 0;
    const make = async () => {
      made += 1;
      return { message: create(schema), tag: undefined };
    };
    const ask = (call: number) => answers(`${call} ${'k'.repeat(100_000)}`, false, make, () => '{}');
    for (let call = 0; call < 500; call += 1) await ask(call);
    await ask(0);
    expect(made).toBe(501);
  });
});

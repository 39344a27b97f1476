import { describe, expect, test } from 'vitest';
import { linkSignals, onAbort } from './abort.ts';

describe('onAbort()', () => {
  test('calls every listener once when the signal aborts', () => {
    const controller = new AbortController();
    const called: string[] = [];
    onAbort(controller.signal, () => called.push('first'));
    onAbort(controller.signal, () => called.push('second'));
    expect(called).toEqual([]);
    controller.abort();
    controller.abort();
    expect(called).toEqual(['first', 'second']);
  });

  test('does not call a removed listener, even if another listener removes it', () => {
    const controller = new AbortController();
    const called: string[] = [];
    onAbort(controller.signal, () => removeLast());
    onAbort(controller.signal, () => called.push('removed before'))();
    onAbort(controller.signal, () => called.push('kept'));
    const removeLast = onAbort(controller.signal, () => called.push('removed meanwhile'));
    controller.abort();
    expect(called).toEqual(['kept']);
  });
});

describe('linkSignals()', () => {
  test('aborts with the reason of the first source that aborts', () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const { signal } = linkSignals(one.signal, other.signal);
    expect(signal.aborted).toBe(false);
    other.abort('other');
    one.abort('one');
    expect(signal.reason).toBe('other');
  });

  test('starts aborted if a source is aborted', () => {
    const { signal } = linkSignals(new AbortController().signal, AbortSignal.abort('before'));
    expect(signal.reason).toBe('before');
  });

  test('ignores its sources after release()', () => {
    const source = new AbortController();
    const { signal, release } = linkSignals(source.signal);
    release();
    source.abort();
    expect(signal.aborted).toBe(false);
  });
});

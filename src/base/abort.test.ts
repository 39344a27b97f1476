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

  test('does not call a listener that was removed, also by another listener', () => {
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

  test('is aborted from the start when a source is', () => {
    const { signal } = linkSignals(new AbortController().signal, AbortSignal.abort('before'));
    expect(signal.reason).toBe('before');
  });

  test('follows nothing once it is released', () => {
    const source = new AbortController();
    const { signal, release } = linkSignals(source.signal);
    release();
    source.abort();
    expect(signal.aborted).toBe(false);
  });
});

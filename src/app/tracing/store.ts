import type { Store } from '../../store/store.ts';
import { attribute } from '../../telemetry/attributes.ts';
import { inSpan, recordedSpan } from '../../telemetry/trace.ts';

type Method = (...parameters: readonly unknown[]) => unknown;

/** Names of the methods that return streams. */
type StreamName = {
  [Name in keyof Store]: Store[Name] extends (...parameters: never[]) => AsyncIterable<unknown>
    ? Name
    : never;
}[keyof Store];

/** Methods without a span: a stream of documents is no single step. */
const streams: Readonly<Record<StreamName, true>> = { auditAccounts: true, readBatches: true };

/**
 * Wraps a store so that each of its steps within a recorded span has a span. Steps of background loops, which have no
 * caller, are not recorded.
 */
export function traceStore(store: Store): Store {
  const system = store.engine.toLowerCase();
  const traced = (name: string, method: Method): Method => {
    const attributes = { [attribute.dbSystem]: system, [attribute.dbOperation]: name };
    return (...parameters) => {
      if (recordedSpan() === undefined) return method(...parameters);
      return inSpan(name, { kind: 'client', attributes }, async () => method(...parameters));
    };
  };
  return Object.fromEntries(
    Object.entries(store).map(([name, value]) => {
      const isStep = typeof value === 'function' && !(name in streams);
      return [name, isStep ? traced(name, value as Method) : value];
    }),
  ) as unknown as Store;
}

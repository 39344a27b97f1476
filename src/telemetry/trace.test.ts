import { context, propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Fault } from '../contract/fault.ts';
import { currentTrace, inSpan, outsideSpans, recordedSpan } from './trace.ts';

test('inSpan() only runs the function without the SDK, and sends no context', async () => {
  const seen = await inSpan('step', {}, async () => ({
    trace: currentTrace(),
    span: recordedSpan(),
  }));
  expect(seen).toEqual({ trace: {}, span: undefined });
});

describe('with the SDK', () => {
  const exporter = new InMemorySpanExporter();
  beforeEach(() => {
    exporter.reset();
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
    );
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  });
  afterEach(() => {
    trace.disable();
    context.disable();
    propagation.disable();
  });

  test('inSpan() continues the given trace, and nested spans are its children', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await inSpan('outer', { parent: { traceparent } }, () => inSpan('inner', {}, async () => {}));
    const [inner, outer] = exporter.getFinishedSpans();
    expect(outer!.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
    expect(inner!.parentSpanContext?.spanId).toBe(outer!.spanContext().spanId);
    expect(inner!.spanContext().traceId).toBe('0af7651916cd43dd8448eb211c80319c');
  });

  test('inSpan() starts a new trace for an empty or malformed parent, also within a span', async () => {
    await inSpan('outer', {}, async () => {
      await inSpan('empty', { parent: {} }, async () => {});
      await inSpan('malformed', { parent: { traceparent: '00-zz' } }, async () => {});
    });
    const spans = exporter.getFinishedSpans();
    expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(3);
  });

  test('inSpan() marks the span of a failed step with the code of the fault', async () => {
    const fault = new Fault('page_blocked', 'robot check');
    await expect(inSpan('step', {}, () => Promise.reject(fault))).rejects.toBe(fault);
    const [span] = exporter.getFinishedSpans();
    expect(span!.attributes).toEqual({ 'error.type': 'page_blocked' });
    expect(span!.status).toEqual({ code: SpanStatusCode.ERROR, message: 'robot check' });
  });

  test('outsideSpans() hides the active span', async () => {
    await inSpan('step', {}, async () => {
      expect(recordedSpan()).toBeDefined();
      expect(outsideSpans(recordedSpan)).toBeUndefined();
    });
  });
});

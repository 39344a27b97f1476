import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { addLogFields } from '../base/log.ts';
import {
  clearDiagnostics,
  createResource,
  type ProcessDescription,
  reportDiagnostics,
} from './resource.ts';

/*
 * The OpenTelemetry SDK for traces. This module is imported only by processes that export traces,
 * because the SDK takes several megabytes of memory.
 */

/** Traces of a process. */
export interface Tracing {
  /** Exports the last spans, and stops. */
  close(): Promise<void>;
}

/** Maximum duration of the last export, in milliseconds. */
const closeMs = 2_000;

/**
 * Starts to record spans and to export them over OTLP. The SDK reads its own `OTEL_*` variables,
 * such as the sampler, the exporter's headers, and the batch size. Loggers created afterwards add
 * the trace and the span to each line.
 */
export function openTracing({ log, ...description }: ProcessDescription): Tracing {
  reportDiagnostics(log);
  const provider = new BasicTracerProvider({
    resource: createResource(description),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  addLogFields(() => {
    const span = trace.getActiveSpan()?.spanContext();
    if (span === undefined) return {};
    return { trace_id: span.traceId, span_id: span.spanId };
  });
  return {
    async close() {
      const ending = new AbortController();
      const late = new Promise((resolve) => {
        const timer = setTimeout(resolve, closeMs);
        ending.signal.addEventListener('abort', () => clearTimeout(timer));
      });
      const ended = provider
        .shutdown()
        .catch((error) => log.warn({ err: error }, 'telemetry: shutdown failed'));
      await Promise.race([ended, late]);
      ending.abort();
      addLogFields(undefined);
      trace.disable();
      context.disable();
      propagation.disable();
      clearDiagnostics();
    },
  };
}

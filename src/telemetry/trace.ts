import {
  type Attributes,
  type Context,
  context,
  INVALID_SPAN_CONTEXT,
  type ProxyTracerProvider,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { Fault } from '../contract/fault.ts';
import { attribute, schemaUrl } from './attributes.ts';

/*
 * Spans through OpenTelemetry's API, which records nothing unless src/telemetry/tracing.ts is
 * loaded. Code outside of this folder creates spans only with these functions.
 */

/** W3C trace context: the headers `traceparent` and `tracestate`. Empty outside of a span. */
export type TraceContext = Readonly<Record<string, string>>;

export interface SpanOptions {
  /** Default: a step within the process. */
  kind?: 'client' | 'consumer' | 'internal' | 'producer' | 'server';
  attributes?: Attributes;
  /** Context of the parent in another process. Default: the active span. */
  parent?: TraceContext;
  /** Returns the low-cardinality type of an error. Default: the code of its fault. */
  errorType?(error: unknown): string;
}

const kinds = {
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
  producer: SpanKind.PRODUCER,
  server: SpanKind.SERVER,
};

/** Starts a span, which the caller must end. Returns it with a context in which it is active. */
export function startSpan(
  name: string,
  { kind = 'internal', attributes = {}, parent }: SpanOptions = {},
): { span: Span; active: Context } {
  const outer = parent === undefined ? context.active() : propagation.extract(ROOT_CONTEXT, parent);
  // Read for each span: the provider changes when the SDK starts.
  const tracer = trace.getTracerProvider().getTracer('gleaner', undefined, { schemaUrl });
  const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, outer);
  return { span, active: trace.setSpan(outer, span) };
}

/** Span that records nothing. */
const noSpan = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/**
 * Returns true if spans are recorded. Otherwise, spans and contexts would be created for nothing.
 */
export function recordsSpans(): boolean {
  const provider = trace.getTracerProvider() as ProxyTracerProvider;
  return provider.getDelegateTracer('gleaner') !== undefined;
}

/** Runs `run` in a span that ends with it. An error marks the span as failed. */
export function inSpan<T>(
  name: string,
  options: SpanOptions,
  run: (span: Span) => Promise<T>,
): Promise<T> {
  return recordsSpans() ? recordSpan(name, options, run) : run(noSpan);
}

async function recordSpan<T>(
  name: string,
  options: SpanOptions,
  run: (span: Span) => Promise<T>,
): Promise<T> {
  const { span, active } = startSpan(name, options);
  try {
    return await context.with(active, run, undefined, span);
  } catch (error) {
    const type = options.errorType?.(error) ?? Fault.from(error).code;
    failSpan(span, type, error instanceof Error ? error.message : undefined);
    throw error;
  } finally {
    span.end();
  }
}

/** Marks a span as failed. */
export function failSpan(span: Span, type: string, message?: string): void {
  span.setAttribute(attribute.errorType, type);
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) });
}

/** Returns the active span if it is recorded. */
export function recordedSpan(): Span | undefined {
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span : undefined;
}

/** Returns the context of the active span for another process. */
export function currentTrace(): TraceContext {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier;
}

/** Runs `run` outside of any span, for work that outlives its caller. */
export const outsideSpans = <T>(run: () => T): T => context.with(ROOT_CONTEXT, run);

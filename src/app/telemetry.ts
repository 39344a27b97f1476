import type { Config } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import { packageVersion } from '../base/package-folder.ts';
import { jobTypes, knownMarkets } from '../contract/job-types.ts';
import type { Fetcher } from '../fetch/http.ts';
import type { FetchPage } from '../fetch/page.ts';
import { messageAttributes, type Queue } from '../queue/queue.ts';
import { endedStates } from '../store/job-states.ts';
import type { Store } from '../store/store.ts';
import { isStream, wrapMethods } from '../store/wrap.ts';
import { attribute, ownAttribute } from '../telemetry/attributes.ts';
import { openTelemetry, type Telemetry } from '../telemetry/telemetry.ts';
import { currentTrace, failSpan, inSpan, outsideSpans, recordedSpan } from '../telemetry/trace.ts';
import type { Tracing } from '../telemetry/tracing.ts';

/**
 * Wraps a fetcher so that each request to an origin has a span. The request carries no trace
 * context: an origin is a stranger (docs/monitoring.md).
 */
export function traceFetcher(fetcher: Fetcher): Fetcher {
  const traced = (market: string, region: string, fetchPage: FetchPage): FetchPage => {
    return (request) => {
      const { method = 'GET', path } = request;
      const url = new URL(fetcher.originOf(market, region, request));
      const attributes = {
        [attribute.httpMethod]: method,
        [attribute.urlFull]: url.origin + path,
        [attribute.serverAddress]: url.hostname,
        [attribute.serverPort]: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
        [ownAttribute.market]: market,
        [ownAttribute.region]: region,
      };
      return inSpan(method, { kind: 'client', attributes }, async (span) => {
        const response = await fetchPage(request);
        span.setAttribute(attribute.httpStatus, response.status);
        if (response.status >= 400) failSpan(span, String(response.status));
        return response;
      });
    };
  };
  return {
    ...fetcher,
    for: (market, region, signal, share) =>
      traced(market, region, fetcher.for(market, region, signal, share)),
  };
}

/**
 * Wraps a queue so that each publish has a span, whose context travels with the message. A message
 * that is published again keeps its context.
 */
export function traceQueue(queue: Queue): Queue {
  return {
    ...queue,
    publish(message) {
      if (message.trace !== undefined) return queue.publish(message);
      const attributes = messageAttributes(queue, message, 'publish');
      return inSpan(
        `publish ${message.lane}.${message.market}`,
        { kind: 'producer', attributes },
        () => {
          const traced = { ...message, trace: currentTrace() };
          // The in-process queue delivers the message from here, after the caller has continued.
          return outsideSpans(() => queue.publish(traced));
        },
      );
    },
  };
}

/**
 * Wraps a store so that each of its steps within a recorded span has a span. Steps of background
 * loops, which have no caller, are not recorded, and neither are streams.
 */
export function traceStore(store: Store): Store {
  const system = store.engine.toLowerCase();
  return wrapMethods(store, (name, method) => {
    if (isStream(name)) return method;
    const attributes = { [attribute.dbSystem]: system, [attribute.dbOperation]: name };
    return (...parameters) => {
      if (recordedSpan() === undefined) return method(...parameters);
      return inSpan(name, { kind: 'client', attributes }, async () => method(...parameters));
    };
  });
}

/** Returns true if a process exports metrics. */
export const exportsMetrics = ({
  opsPort,
  metricsPushMs,
}: Pick<Config, 'opsPort' | 'metricsPushMs'>): boolean =>
  opsPort !== null || metricsPushMs !== null;

/** Outcomes of requests to origins that are counted. */
const requestOutcomes = ['succeeded', 'refused', 'failed', 'inconclusive'];

/**
 * Creates the series of counters by job type, marketplace, and result, at zero. Of the codes of
 * units, only `ok` has one: most faults never occur for most job types. Contradictions are found on
 * pages of declared sites only.
 */
function startJobSeries({ add }: Pick<Telemetry['metrics'], 'add'>): void {
  for (const { market, kind } of jobTypes) {
    add('gleaner_units_total', { market, kind, code: 'ok' }, 0);
    for (const state of endedStates) add('gleaner_jobs_ended_total', { kind, market, state }, 0);
    add('gleaner_jobs_fields_missing_total', { kind, market }, 0);
  }
  for (const market of knownMarkets)
    for (const outcome of requestOutcomes)
      add('gleaner_origin_requests_total', { market, outcome }, 0);
  for (const field of ['price', 'availability'])
    add('gleaner_contradictions_total', { market: 'sites', field }, 0);
  for (const market of knownMarkets)
    add('gleaner_browser_defects_total', { market, defect: 'cached' }, 0);
  add('gleaner_browser_defects_total', { market: 'sites', defect: 'pending' }, 0);
  for (const result of [...endedStates, 'skipped', 'not_submitted'])
    add('gleaner_schedule_runs_total', { result }, 0);
}

/** Starts to measure if metrics are exported. */
export async function startTelemetry(
  config: Config,
  role: string,
  log: Log,
): Promise<Telemetry | null> {
  if (!exportsMetrics(config)) return null;
  const telemetry = await openTelemetry({
    role,
    version: packageVersion,
    log,
    pushMs: config.metricsPushMs,
  });
  startJobSeries(telemetry.metrics);
  telemetry.observe({
    gleaner_build_info: async () => [{ labels: { version: packageVersion, role }, value: 1 }],
  });
  return telemetry;
}

/**
 * Starts to export traces if they are configured; otherwise the SDK is not even loaded. Call it
 * before compose(), whose logger adds the active trace to its lines.
 */
export async function startTracing(
  config: Config,
  role: string,
  log: Log,
): Promise<Tracing | null> {
  if (!config.exportsTraces) return null;
  const { openTracing } = await import('../telemetry/tracing.ts');
  return openTracing({ role, version: packageVersion, log });
}

import manifest from '../../package.json' with { type: 'json' };
import type { Config } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import type { Telemetry } from '../telemetry/sdk.ts';
import type { Tracing } from '../telemetry/tracing.ts';

/** Returns true if a process exports metrics. */
export const exportsMetrics = ({
  opsPort,
  metricsPushMs,
}: Pick<Config, 'opsPort' | 'metricsPushMs'>): boolean => opsPort !== null || metricsPushMs !== null;

const { version } = manifest;

/** Starts the SDK if metrics are exported; otherwise it is not even loaded. */
export async function startTelemetry(config: Config, role: string, log: Log): Promise<Telemetry | null> {
  if (!exportsMetrics(config)) return null;
  const { openTelemetry } = await import('../telemetry/sdk.ts');
  const telemetry = openTelemetry({ role, version, log, pushMs: config.metricsPushMs });
  telemetry.observe({ gleaner_build_info: async () => [{ labels: { version, role }, value: 1 }] });
  return telemetry;
}

/**
 * Starts to export traces if they are configured; otherwise the SDK is not even loaded. Call it before
 * compose(), whose logger adds the active trace to its lines.
 */
export async function startTracing(config: Config, role: string, log: Log): Promise<Tracing | null> {
  if (!config.exportsTraces) return null;
  const { openTracing } = await import('../telemetry/tracing.ts');
  return openTracing({ role, version, log });
}

import type { Telemetry } from '../telemetry/sdk.ts';
import { createAuditCheck } from './audit-check.ts';
import { auditInProcess } from './audit-process.ts';
import type { Program } from './compose.ts';

/** Audits the store repeatedly, and exports the results. Resolves after the signal aborts. */
export async function startAudits(
  { context, config }: Program,
  processId: string,
  observe: Telemetry['observe'],
  stopping: AbortSignal,
): Promise<void> {
  const { auditIntervalMs: intervalMs, workerMemoryBytes: memoryBytes } = config.limits;
  const { store, clock, log } = context;
  const { environment } = config;
  const audit = (signal: AbortSignal) => auditInProcess({ memoryBytes, environment, signal });
  const check = createAuditCheck({ store, clock, log, processId, intervalMs, audit });
  observe(check.gauges);
  await check.follow(stopping);
}

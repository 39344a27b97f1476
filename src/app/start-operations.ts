import { defaultConnectionLimits } from '../base/connections.ts';
import { Fault } from '../contract/fault.ts';
import type { WorkerSlots } from '../worker/pool.ts';
import { startAudits } from './audit-check.ts';
import { storeGauges, workerGauges } from './gauges.ts';
import { listening, openOpsPort } from './ops-port.ts';
import { graceMs } from './ports.ts';
import { partsOfRole } from './roles.ts';
import { addLoop, type StartingService } from './starting-service.ts';

/** State of a process that the operations port shows. */
interface ProcessState {
  ready(): Promise<void>;
  /** Returns the slots of the workers, if they have started. */
  slots(): WorkerSlots | undefined;
}

/**
 * Adds the gauges of a role, starts audits, and opens the operations port, if metrics are exported.
 * Returns null if there is no port, or if the default one is in use. The port closes after all
 * others.
 */
export async function startOperations(
  starting: StartingService,
  { ready, slots }: ProcessState,
): Promise<number | null> {
  const { program, role, telemetry, resources } = starting;
  const { config, context, log } = program;
  if (telemetry === null) return null;
  const { observe, scrape } = telemetry;
  const { core, worker } = partsOfRole[role];
  if (core) {
    observe(storeGauges({ ...context, origins: config.origins }));
    addLoop(starting, startAudits(program, starting.id, telemetry, starting.stopping));
  }
  if (worker) observe(workerGauges(slots));
  const { host, opsPort: port } = config;
  if (port === null) return null;
  const opened = openOpsPort({
    host,
    port,
    limits: defaultConnectionLimits,
    log,
    scrape,
    ready,
  });
  try {
    const server = await listening(opened, { host, port, setting: 'GLEANER_OPS_PORT' });
    resources.defer(() => server.close(graceMs));
    return server.port;
  } catch (error) {
    // Several roles may run on one host with the default.
    if (config.environment.GLEANER_OPS_PORT !== undefined) throw error;
    log.warn({ error: Fault.from(error).message }, 'no operations port');
    return null;
  }
}

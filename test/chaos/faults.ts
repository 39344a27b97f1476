import { setTimeout as wait } from 'node:timers/promises';
import type { Engines } from '../support/engines.ts';
import type { FaultyLink } from '../support/link.ts';
import type { ServiceProcess } from '../support/service.ts';
import type { EngineName, InjectedFault } from './plan.ts';

/** A process of the service with its own network to each engine. */
export interface FaultTarget {
  service: ServiceProcess;
  links: Record<EngineName, FaultyLink> | null;
}

/** What faults are applied to, and what is reported while they are. */
export interface FaultStage {
  targets: readonly FaultTarget[];
  engines: Engines;
  say: (line: string) => void;
  /** A process that ended by itself. */
  crashed: (service: ServiceProcess) => void;
  /** Called as each fault begins with the number begun so far. */
  begun: (count: number) => void;
}

/**
 * Applies the faults one after the other and resolves once everything runs and every network is healed. With
 * several processes, a freeze lasts while the next faults are applied.
 */
export async function applyFaults(stage: FaultStage, faults: readonly InjectedFault[]): Promise<void> {
  const frozen = new Map<ServiceProcess, Promise<void>>();
  const started = Date.now();
  for (const [index, fault] of faults.entries()) {
    await wait(fault.pauseMs);
    // A frozen process is first frozen for its time: a kill would end that early, another freeze be part of it.
    if (fault.kind === 'kill' || fault.kind === 'freeze')
      await frozen.get(stage.targets[fault.target]!.service);
    relaunch(stage);
    stage.say(`${((Date.now() - started) / 1000).toFixed(1)} s: ${describe(stage, fault)}`);
    stage.begun(index + 1);
    if (fault.kind === 'freeze') {
      const { service } = stage.targets[fault.target]!;
      frozen.set(
        service,
        freeze(service, fault.lengthMs).finally(() => frozen.delete(service)),
      );
      if (stage.targets.length === 1) await frozen.get(service);
    } else {
      await apply(stage, fault);
    }
  }
  await Promise.all(frozen.values());
  relaunch(stage);
}

async function freeze(service: ServiceProcess, lengthMs: number): Promise<void> {
  service.freeze();
  await wait(lengthMs);
  service.resume();
}

async function apply({ targets, engines }: FaultStage, fault: Exclude<InjectedFault, { kind: 'freeze' }>) {
  if (fault.kind === 'kill') {
    const { service } = targets[fault.target]!;
    await service.kill();
    await wait(fault.lengthMs);
    return service.launch();
  }
  if (fault.kind === 'restart') {
    const engine = engines[fault.engine]!;
    await engine.stop();
    await wait(fault.lengthMs);
    return engine.start();
  }
  const link = targets[fault.target]!.links![fault.engine];
  if (fault.kind === 'delay') link.delay(fault.delayMs);
  else link[fault.kind]();
  await wait(fault.lengthMs);
  link.heal();
}

/** Starts processes again that ended by themselves, and reports them. */
function relaunch({ targets, crashed }: FaultStage): void {
  for (const { service } of targets) {
    if (service.running()) continue;
    crashed(service);
    service.launch();
  }
}

function describe({ targets }: FaultStage, fault: InjectedFault): string {
  const name = (index: number) => `${targets[index]!.service.role} ${index}`;
  const seconds = `${(fault.lengthMs / 1000).toFixed(1)} s`;
  switch (fault.kind) {
    case 'kill':
      return `killed ${name(fault.target)}`;
    case 'freeze':
      return `froze ${name(fault.target)} for ${seconds}`;
    case 'restart':
      return `stopped ${fault.engine} for ${seconds}`;
    case 'delay':
      return `delayed ${fault.engine} for ${name(fault.target)} by ${fault.delayMs} ms for ${seconds}`;
    default:
      return `${fault.kind === 'cut' ? 'reset' : 'silenced'} ${fault.engine} for ${name(fault.target)} for ${seconds}`;
  }
}

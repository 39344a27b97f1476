import { setTimeout as wait } from 'node:timers/promises';
import type { Engines } from '../support/engines/engines.ts';

import type { FaultyProcess } from '../support/engines/restartable.ts';
import type { InjectedFault } from './plan.ts';
import type { FaultTarget } from './targets.ts';

/** Targets and callbacks of applyFaults(). */
export interface FaultContext {
  targets: readonly FaultTarget[];
  engines: Engines;
  print: (line: string) => void;
  /** Called for a process that ended unexpectedly. */
  crashed: (process: FaultyProcess) => void;
  /** Called at the start of each fault with the number of faults started so far. */
  started: (count: number) => void;
}

/**
 * Applies the faults one after the other. Resolves once every process runs and every link is
 * healed. With several processes, the next faults are applied during a freeze.
 */
export async function applyFaults(
  context: FaultContext,
  faults: readonly InjectedFault[],
): Promise<void> {
  const frozen = new Map<FaultyProcess, Promise<void>>();
  const started = Date.now();
  for (const [index, fault] of faults.entries()) {
    await wait(fault.pauseMs);
    // Waits for the end of a freeze: a kill would end it early, and a second freeze would overlap
    // with it.
    if (fault.kind === 'kill' || fault.kind === 'freeze')
      await frozen.get(context.targets[fault.target]!.process);
    await relaunch(context);
    context.print(`${((Date.now() - started) / 1000).toFixed(1)} s: ${describe(context, fault)}`);
    context.started(index + 1);
    if (fault.kind === 'freeze') {
      const { process } = context.targets[fault.target]!;
      frozen.set(
        process,
        freeze(process, fault.lengthMs).finally(() => frozen.delete(process)),
      );
      if (context.targets.length === 1) await frozen.get(process);
    } else {
      await apply(context, fault);
    }
  }
  await Promise.all(frozen.values());
  await relaunch(context);
}

async function freeze(process: FaultyProcess, lengthMs: number): Promise<void> {
  process.freeze();
  await wait(lengthMs);
  process.resume();
}

async function apply(
  { targets, engines }: FaultContext,
  fault: Exclude<InjectedFault, { kind: 'freeze' }>,
) {
  if (fault.kind === 'kill') {
    const { process } = targets[fault.target]!;
    await process.kill();
    await wait(fault.lengthMs);
    return process.launch();
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

/** Restarts and reports processes that ended by themselves. */
async function relaunch({ targets, crashed }: FaultContext): Promise<void> {
  for (const { process } of targets) {
    if (process.running()) continue;
    crashed(process);
    await process.launch();
  }
}

function describe({ targets }: FaultContext, fault: InjectedFault): string {
  const name = (index: number) => `${targets[index]!.process.name} ${index}`;
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

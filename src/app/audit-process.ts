import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import { childEnvironment } from '../base/config.ts';
import { Fault } from '../contract/fault.ts';
import type { Audit } from '../jobs/queries/audit.ts';
import { programs } from './programs.ts';

/** Options for auditInProcess(). */
export interface AuditProcessOptions {
  /** Heap limit of the process, in bytes. */
  memoryBytes: number;
  /** Settings in addition to those of this process. */
  settings?: Record<string, string>;
  /** Ends the process. */
  signal: AbortSignal;
}

/** Lowest priority of the operating system: the audit has time. */
const priority = 19;

/**
 * Runs `gleaner audit` in a process of its own: it reads all ledger entries of an account, and its queries would block
 * the calls of this process. Rejects with `unavailable` if the process fails.
 */
export async function auditInProcess({
  memoryBytes,
  settings = {},
  signal,
}: AuditProcessOptions): Promise<Audit> {
  signal.throwIfAborted();
  const heap = `--max-old-space-size=${Math.round(memoryBytes / 1024 ** 2)}`;
  const child = spawn(process.execPath, [...process.execArgv, heap, programs.main, 'audit', '--json'], {
    env: childEnvironment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  try {
    if (child.pid !== undefined) setPriority(child.pid, priority);
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    signal.throwIfAborted();
    // It exits with 1 both for problems and for some errors.
    if (output === '') throw new Fault('unavailable', `The audit failed: ${errors.trim().slice(-1_000)}`);
    return JSON.parse(output) as Audit;
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

import type { Environment } from '../base/secret-files.ts';
import { Fault } from '../contract/fault.ts';
import type { Audit } from '../jobs/queries/audit.ts';
import { runProgram } from './run-program.ts';

/** Options for auditInProcess(). */
export interface AuditProcessOptions {
  /** Heap limit of the process, in bytes. */
  memoryBytes: number;
  /** Complete environment of the process. */
  environment: Environment;
  /** Ends the process. */
  signal: AbortSignal;
}

/** Lowest priority of the operating system: the audit has time. */
const priority = 19;

/**
 * Runs `gleaner audit` in a process of its own: it reads all ledger entries of an account. Rejects with `unavailable` if
 * the process fails.
 */
export async function auditInProcess(options: AuditProcessOptions): Promise<Audit> {
  const { stdout, stderr } = await runProgram(['audit', '--json'], { priority, ...options });
  // It exits with 1 both for problems and for some errors.
  if (stdout === '') throw new Fault('unavailable', `The audit failed: ${stderr.trim().slice(-1_000)}`);
  return JSON.parse(stdout) as Audit;
}

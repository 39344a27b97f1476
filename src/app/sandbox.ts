import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Log } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import type { SandboxAddresses } from '../fetch/sandbox-pages.ts';
import { programs, readFirstReport } from './programs.ts';

/** Time in which the fake marketplaces must start, in milliseconds. */
const startMs = 20_000;

/** Delay of a slow response, in milliseconds. */
const slowMs = 1_500;

/** The process with the fake marketplaces. */
interface SandboxProcess {
  /** Returns its addresses. Starts it if it does not run: at the first call, and after it ended. */
  addresses(): Promise<SandboxAddresses>;
  stop(): Promise<void>;
}

/** Creates the process. The fake marketplaces end with this process, however it ends. */
export function createSandboxProcess(log: Log): SandboxProcess {
  let child: ChildProcess | null = null;
  let starting: Promise<SandboxAddresses> | null = null;
  let isStopped = false;
  const start = async (): Promise<SandboxAddresses> => {
    // Nothing of the environment, which has the service's secrets. The end of the standard input
    // ends the process.
    const started = spawn(process.execPath, [programs.sandbox, '--slow-ms', `${slowMs}`], {
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child = started;
    started.once('exit', (code, signal) => {
      if (child === started) child = starting = null;
      if (!isStopped) log.warn({ sandboxPid: started.pid, code, signal }, 'sandbox ended');
    });
    const timeout = setTimeout(() => started.kill('SIGKILL'), startMs);
    try {
      const addresses = await Promise.race([
        readFirstReport(started.stdout),
        once(started, 'error').then(([error]) => Promise.reject(error)),
      ]);
      if (addresses === null) throw new Error('it ended without its addresses');
      log.info({ sandboxPid: started.pid }, 'sandbox started');
      return addresses as SandboxAddresses;
    } catch (error) {
      starting = null;
      started.kill('SIGKILL');
      throw new Fault('unavailable', `The sandbox did not start: ${(error as Error).message}`);
    } finally {
      clearTimeout(timeout);
    }
  };
  return {
    addresses: () => {
      if (isStopped) return Promise.reject(new Fault('unavailable', 'The sandbox is stopping.'));
      starting ??= start();
      return starting;
    },
    async stop() {
      isStopped = true;
      const running = child;
      if (running === null || running.pid === undefined) return;
      const ended = once(running, 'exit');
      running.kill('SIGKILL');
      await ended;
    },
  };
}

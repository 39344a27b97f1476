import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MissingEngine } from '../../engines/missing.ts';
import type { RunningProgram } from '../../engines/program.ts';
import { freePort } from '../servers/ports.ts';

/** A process that a test kills, freezes, and restarts. */
export interface FaultyProcess {
  readonly name: string;
  running(): boolean;
  /** Starts the process again with its data at the same address. */
  launch(): void | Promise<void>;
  /** Kills the process. */
  kill(): Promise<void>;
  /** Stops the process, which keeps its memory and connections. */
  freeze(): void;
  /** Ends a freeze. */
  resume(): void;
  /** Returns the output of the process. */
  log(): string;
}

/** An engine that a test can stop and restart with its data at the same address. */
export interface RestartableEngine {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Stops the engine, which keeps its memory and connections, until resume(). */
  freeze(): void;
  resume(): void;
}

/** Result of startOwn(). */
export interface OwnEngine<T> {
  /** The engine as started first. */
  first: T;
  engine: RestartableEngine;
  process: FaultyProcess;
  /** Ends the engine and removes its folder. */
  stop(): Promise<void>;
}

/** Starts an engine with its own folder and port. `name` also names the folder. */
export async function startOwn<T extends RunningProgram>(
  name: string,
  start: (place: { directory: string; port: number }) => Promise<T | MissingEngine>,
): Promise<OwnEngine<T> | MissingEngine> {
  const directory = await mkdtemp(join(tmpdir(), `gleaner-${name}-`));
  const place = { directory, port: await freePort() };
  const remove = () => rm(directory, { recursive: true, force: true });
  const first = await start(place);
  if ('missing' in first) {
    await remove();
    return first;
  }
  let running: T | null = first;
  const engine: RestartableEngine = {
    async start() {
      if (running) return;
      const again = await start(place);
      if ('missing' in again) throw new Error(again.missing);
      running = again;
    },
    async stop() {
      // A frozen process would not handle the signal.
      running?.resume();
      await running?.stop();
      running = null;
    },
    freeze: () => running?.freeze(),
    resume: () => running?.resume(),
  };
  const process: FaultyProcess = {
    name,
    running: () => running?.running() ?? false,
    launch: engine.start,
    async kill() {
      await running?.kill();
      running = null;
    },
    freeze: engine.freeze,
    resume: engine.resume,
    log: () => '',
  };
  return { first, engine, process, stop: () => engine.stop().then(remove) };
}

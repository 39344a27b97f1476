import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Program } from './compose.ts';
import type { ProcessRole } from './roles.ts';

/** A service whose parts start. */
export interface StartingService {
  /** Random id of the process. */
  id: string;
  role: ProcessRole;
  program: Program;
  telemetry: Telemetry | null;
  /** Returns the base URL of the service. */
  publicUrl: () => string;
  /** Shows a line to the operator. */
  say: (line: string) => void;
  /** Aborts when the service stops. */
  stopping: AbortSignal;
  /** Closes the parts when the service stops: the last one to start first. */
  resources: AsyncDisposableStack;
}

/** Adds a loop that runs until the service stops, which waits for its end. */
export function addLoop({ resources }: StartingService, loop: Promise<void>): void {
  resources.defer(() => loop);
}

/**
 * Role of a process. `serve` does everything; any number of `api` and `worker` processes share the
 * engines.
 */
export type ProcessRole = 'serve' | 'api' | 'core' | 'gateway' | 'worker';

/** Components of a role. */
interface RoleParts {
  gateway: boolean;
  core: boolean;
  worker: boolean;
}

/** Components of each role. */
export const partsOfRole: Readonly<Record<ProcessRole, RoleParts>> = {
  serve: { gateway: true, core: true, worker: true },
  api: { gateway: true, core: true, worker: false },
  core: { gateway: false, core: true, worker: false },
  gateway: { gateway: true, core: false, worker: false },
  worker: { gateway: false, core: false, worker: true },
};

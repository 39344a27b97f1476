import { fileURLToPath } from 'node:url';
import { startEngines } from '../../src/tools/engines.ts';

const program = fileURLToPath(new URL('../../test/engines/main.ts', import.meta.url));

/** Starts MongoDB and NATS for a benchmark. They end with this process. */
export const startBenchEngines = () => startEngines({ ...process.env, ENGINES_PROGRAM: program });

// Sets up the project if necessary, then runs one of its tools: `node deploy/run.mjs tsc --noEmit`.

import { run } from './child.mjs';
import { setUp } from './setup.mjs';

setUp();
process.exit(await run(process.argv[2], process.argv.slice(3)));

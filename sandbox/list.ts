import { mkta } from './mkta/index.ts';
import { mktb } from './mktb/index.ts';
import { mktc } from './mktc/index.ts';
import { mktd } from './mktd/index.ts';
import { mkte } from './mkte/index.ts';
import { mktf } from './mktf/index.ts';
import type { Origin } from './origin.ts';

/** Every fake marketplace there is: what sandbox/main.ts, the demo and the benchmarks start. */
export const origins: readonly Origin[] = [mkta, mktb, mktc, mktd, mkte, mktf];

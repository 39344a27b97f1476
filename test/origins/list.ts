import { mkta } from './mkta.ts';
import { mktb } from './mktb.ts';
import { mktc } from './mktc.ts';
import { mktd } from './mktd.ts';
import { mkte } from './mkte.ts';
import { mktf } from './mktf.ts';
import type { Origin } from './origin.ts';

/** Every fake marketplace there is: what test/origins/main.ts, the demo and the benchmarks start. */
export const origins: readonly Origin[] = [mkta, mktb, mktc, mktd, mkte, mktf];

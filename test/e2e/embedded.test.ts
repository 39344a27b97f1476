import { stacks } from '../support/engines.ts';
import { endToEnd } from './suite.ts';

await endToEnd(stacks.find(({ distributed }) => !distributed)!);

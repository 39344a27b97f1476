import { stacks } from '../support/engines/engines.ts';
import { endToEnd } from './suite.ts';

await endToEnd(stacks.find(({ distributed }) => !distributed)!);

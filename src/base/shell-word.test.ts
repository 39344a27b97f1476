import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellWord } from './shell-word.ts';

test.each(['/data/demo-1/origins.json', '/a b/c', "it's", '', '$HOME `id` "x"', "'\\n"])(
  'shellWord() quotes %j for a shell',
  async (text) => {
    const child = spawn('sh', ['-c', `printf %s ${shellWord(text)}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect((await child.stdout.setEncoding('utf8').toArray()).join('')).toBe(text);
  },
);

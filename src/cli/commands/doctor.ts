import { styleText } from 'node:util';
import type { Command } from 'commander';
import type { Diagnosis } from '../../app/doctor.ts';
import { loadConfig } from '../../base/config.ts';
import { counted, plain } from './print.ts';

const marks = { ok: ['ok', 'green'], warning: ['warning', 'yellow'], error: ['ERROR', 'red'] } as const;

/** Adds `doctor`. */
export function addDoctor(program: Command, say: (line: string) => void): void {
  program
    .command('doctor')
    .description('Check Node, browser, ports, disk, engines, clock, and sites, and say what to do')
    .option('--offline', 'send no request to the configured sites')
    .option('--json', 'print JSON Lines')
    .action(async ({ offline, json }: { offline?: true; json?: true }) => {
      const { diagnose } = await import('../../app/doctor.ts');
      const found: Diagnosis[] = [];
      for await (const one of diagnose(loadConfig(), { offline: offline === true })) {
        found.push(one);
        for (const line of json ? [JSON.stringify(one)] : diagnosisLines(one)) say(line);
      }
      const errors = found.filter(({ state }) => state === 'error').length;
      const warnings = found.filter(({ state }) => state === 'warning').length;
      if (!json) say(`\n${counted(errors, 'error')}, ${counted(warnings, 'warning')}`);
      process.exitCode = errors > 0 ? 1 : 0;
    });
}

function diagnosisLines({ name, state, message, remedy }: Diagnosis): string[] {
  const [word, color] = marks[state];
  const mark = styleText(color, word.padEnd(8), { stream: process.stdout });
  return [`${mark}${name}: ${plain(message)}`, ...(remedy === '' ? [] : [`        ${remedy}`])];
}

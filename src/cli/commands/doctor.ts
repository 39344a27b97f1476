import type { Command } from 'commander';
import type { Diagnosis } from '../../app/doctor.ts';
import { onRun } from '../program.ts';
import { UsageError } from './exit.ts';
import { type CheckFlags, runOriginsCheck } from './origins-check.ts';
import { counted, type Display, plain } from './print.ts';

const marks = { ok: ['ok', 'green'], warning: ['warning', 'yellow'], error: ['ERROR', 'red'] } as const;

interface DoctorFlags extends CheckFlags {
  offline?: true;
  origins?: true;
}

const collect = (text: string, all: string[] = []) => [...all, text];

/** Adds `doctor`. */
export function addDoctor(program: Command): void {
  const doctor = program
    .command('doctor [market...]')
    .description('Check Node, browser, ports, disk, engines, clock, and sites, and say what to do')
    .option('--offline', 'send no request to the configured sites')
    .option('--origins', 'check the sites of the markets only, and show what came back')
    .option('--id <market>=<id>', 'id or URL of the page to fetch, with --origins (repeatable)', collect)
    .option('--json', 'print JSON Lines');
  onRun(doctor, async (io, { offline, origins, json, id }: DoctorFlags, markets: string[]) => {
    if (origins) return runOriginsCheck(io, markets, { id, json });
    if (markets.length > 0 || id !== undefined) throw new UsageError('Markets and --id require --origins');
    const { diagnose } = await import('../../app/doctor.ts');
    const found: Diagnosis[] = [];
    for await (const one of diagnose(io.config(), { offline: offline === true })) {
      found.push(one);
      for (const line of json ? [JSON.stringify(one)] : diagnosisLines(one, io.display)) io.say(line);
    }
    const errors = found.filter(({ state }) => state === 'error').length;
    const warnings = found.filter(({ state }) => state === 'warning').length;
    if (!json) io.say(`\n${counted(errors, 'error')}, ${counted(warnings, 'warning')}`);
    return errors > 0 ? 1 : 0;
  });
}

function diagnosisLines({ name, state, message, remedy }: Diagnosis, { paint }: Display): string[] {
  const [word, color] = marks[state];
  const mark = paint(color, word.padEnd(8));
  return [`${mark}${name}: ${plain(message)}`, ...(remedy === '' ? [] : [`        ${remedy}`])];
}

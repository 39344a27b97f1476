import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import { clientEnvironment } from '../../base/config.ts';
import { jobStatuses } from '../../contract/job-status.ts';
import { offeredMarkets, offers } from '../../contract/offers.ts';
import { keyScopes, operatorRoles } from '../../contract/permission.ts';
import { completionScripts } from './completion-scripts.ts';
import { readProfiles } from './profiles.ts';
import { aboutOffer } from './submit/offers.ts';
import { formats } from './submit/rows.ts';

type Complete = (value: string, description: string) => void;

/**
 * Adds `completion <shell>`, which prints a script, and the hidden command that the script calls. Candidates are the
 * declared commands and options, and values that are known without a service. Call it after adding all other commands.
 */
export function addCompletion(program: Command): void {
  const completion = tab(program, { completionCommandName: 'completion' });
  // The script passes the typed words as arguments of this process.
  const kinds = () => {
    const market = offeredMarkets.find((name) => process.argv.includes(name));
    const shown = offers.filter((offer) => market === undefined || offer.market === market);
    return new Map(shown.map((offer) => [offer.kind, aboutOffer(offer)]));
  };
  const values: Readonly<Record<string, () => Iterable<readonly [string, string]>>> = {
    market: () => offeredMarkets.map((market) => [market, ''] as const),
    kind: kinds,
    status: () => jobStatuses.map((state) => [state, ''] as const),
    profile: () =>
      Object.keys(readProfiles(clientEnvironment().configFile).profiles).map((name) => [name, ''] as const),
    format: () => formats.map((format) => [format, ''] as const),
    export: () => [
      ['csv', ''],
      ['jsonl', ''],
    ],
    scopes: () => [...keyScopes, keyScopes.join(',')].map((scopes) => [scopes, ''] as const),
    role: () => operatorRoles.map((role) => [role, ''] as const),
  };
  const handler = (name: string) => {
    const known = values[name];
    return (
      known &&
      ((complete: Complete) => {
        for (const [value, about] of known()) complete(value, about);
      })
    );
  };
  for (const command of completion.commands.values()) {
    for (const [name, option] of command.options) {
      const found = handler(name);
      if (found !== undefined) option.handler = found;
    }
    for (const [name, argument] of command.arguments) {
      const found = handler(name);
      if (found !== undefined) argument.handler = found;
    }
  }
  // The adapter's script for bash requires a function library, evaluates the typed text, and omits files.
  program.commands
    .find((command) => command.name() === 'completion')!
    .description('Print a completion script: bash, zsh, fish, or powershell')
    .action(async (shell: string) => {
      const script = completionScripts[shell];
      if (script === undefined) completion.setup('gleaner', 'gleaner', shell);
      else process.stdout.write(script);
    });
}

// Pages of docs that are tables of declarations: commands.md, marketplaces.md, and settings.md.
import type { Command } from 'commander';
import { settings } from '../src/base/settings.ts';
import { createIo } from '../src/cli/io.ts';
import { createProgram } from '../src/cli/run.ts';
import { services } from '../src/contract/services.ts';
import { originPolicy } from '../src/fetch/policy.ts';
import { resolveJobTypes } from '../src/jobs/job-types.ts';
import { kinds } from '../src/kinds/list.ts';
import { markets } from '../src/markets/list.ts';
import { marketTitle } from '../src/present/names.ts';

/** Returns the text of docs/marketplaces.md. */
export function marketplacesPage(): string {
  const { methods } = resolveJobTypes(services, kinds, markets);
  const jobTypes = new Set(methods.values().map(({ jobType }) => jobType));
  const rows = markets.map((market) => {
    const prices = [...jobTypes]
      .filter((jobType) => jobType?.market === market)
      .map(
        (jobType) =>
          `\`${jobType!.kind.name}\` ${market.prices?.[jobType!.kind.page] ?? jobType!.kind.price}`,
      );
    const policy = originPolicy(market.policy ?? {}, undefined);
    return [
      marketTitle(market.name),
      `\`${market.name}\``,
      market.regions.join(', ') || 'none',
      prices.join(', '),
      policy.requestsPerSecond,
      policy.concurrency,
      policy.robots ? 'respected' : 'ignored',
    ];
  });
  const header = [
    'marketplace',
    'in paths',
    'regions',
    'kinds of jobs and credits per unit',
    'requests per second',
    'concurrent requests',
    'robots.txt',
  ];
  return `# Marketplaces

Each marketplace offers some kinds of jobs. The limits on requests apply per origin unless the origins file sets others
([fetching.md](fetching.md)). \`npm run gen\` writes this page.

${table(header, rows)}
`;
}

/** Returns the text of docs/settings.md. */
export function settingsPage(): string {
  const rows = Object.entries(settings).map(([name, setting]) => {
    const defaultText = setting.default ?? ('generated' in setting ? 'generated' : 'none');
    return [
      `\`${name}\`${'secret' in setting ? ' (secret)' : ''}`,
      `\`${defaultText}\``,
      setting.about,
    ];
  });
  return `# Settings

Every setting is an environment variable; [operate.md](operate.md#settings) explains how to set them. For a first installation you
need \`GLEANER_ORIGINS\`, and for access from other machines \`GLEANER_PUBLIC_URL\`. The standard variables of OpenTelemetry (\`OTEL_…\`) are
described with [metrics](monitoring.md#metrics) and [traces](monitoring.md#traces). \`npm run gen\` writes this page.

${table(['setting', 'default', 'meaning'], rows)}
`;
}

/** Returns the text of docs/commands.md. */
export async function commandsPage(): Promise<string> {
  const { stdin, stdout, stderr } = process;
  const { signal } = new AbortController();
  const program = await createProgram(
    createIo({ stdin, stdout, stderr, env: {}, folder: '.', home: '.', signal }),
  );
  const sections = Map.groupBy(visible(program), (command) => command.helpGroup());
  const texts = [...sections].map(([group, commands]) => {
    const rows = commands
      .flatMap(leaves)
      .map((command) => [`\`${wordsOf(command)}\``, command.description()].map(escapeCell));
    return `## ${group.replace(':', '')}\n\n${table(['command', 'what it does'], rows)}\n`;
  });
  return `# Commands

\`gleaner <command> --help\` describes the options of a command, and [cli.md](cli.md) explains how to use them. \`npm run gen\` writes this page.

${texts.join('\n')}`;
}

const visible = (command: Command): readonly Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((subcommand) => subcommand.name() !== 'help');

/** Returns the commands below a group, or the command itself. */
function leaves(command: Command): Command[] {
  const below = visible(command);
  return below.length === 0 ? [command] : below.flatMap(leaves);
}

/** Returns the name of a command with its arguments: `job show <job>`. */
function wordsOf(command: Command): string {
  const argumentNames = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const names: string[] = [];
  for (let each: Command | null = command; each?.parent; each = each.parent)
    names.unshift(each.name());
  return [...names, ...argumentNames].join(' ');
}

const escapeCell = (text: string) => text.replaceAll('|', '\\|');

function table(header: readonly string[], rows: readonly (readonly unknown[])[]): string {
  return [header, header.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import { clientEnvironment } from '../../base/config.ts';
import { addCommand } from './command.ts';
import { UsageError } from './exit.ts';
import { pairs } from './print.ts';
import {
  checkUrl,
  type Profile,
  readProfiles,
  type Source,
  usualProfile,
  writeProfiles,
} from './profiles.ts';

/** What can be set, and where it is kept. */
const names: Readonly<Record<string, keyof Profile>> = {
  url: 'url',
  'api-key': 'apiKey',
  'operator-key': 'operatorKey',
};

/** Adds `config`. */
export function addConfigCommands(program: Command): void {
  const config = program
    .command('config')
    .description('the configuration file: addresses and keys by profile');
  config
    .command('set <name> <value>')
    .description(
      "keep url, api-key or operator-key in a profile ('' removes it, - reads it), or say which profile is usual",
    )
    .option('--profile <name>', 'profile that it goes to')
    .action(async (name: string, value: string, { profile }: { profile?: string }) => {
      await set(name, value === '-' ? (await readAll(process.stdin)).trim() : value, profile);
    });
  addCommand(config, {
    usage: 'show',
    about: 'show what is in force and where it comes from; of keys only how they begin',
    async run(session) {
      const { profile, url, apiKey, operatorKey } = session.settings;
      const { configFile } = clientEnvironment();
      const key = ({ value }: { value: string | null }) => (value === null ? null : `${value.slice(0, 6)}…`);
      if (session.isJson) {
        const profiles = Object.keys(readProfiles(configFile).profiles);
        const shown = {
          file: configFile,
          profile,
          profiles,
          url: url.value,
          api_key: key(apiKey),
          operator_key: key(operatorKey),
        };
        return session.write(`${JSON.stringify(shown)}\n`);
      }
      const from = (source: Source) => (source === 'none' ? '' : `  (${source})`);
      await session.write(
        pairs([
          ['file', configFile],
          ['profile', profile],
          ['url', `${url.value}${from(url.from)}`],
          ['api-key', `${key(apiKey) ?? 'none'}${from(apiKey.from)}`],
          ['operator-key', `${key(operatorKey) ?? 'none'}${from(operatorKey.from)}`],
        ]),
      );
    },
  });
}

async function set(name: string, value: string, profile: string | undefined): Promise<void> {
  const { configFile } = clientEnvironment();
  const file = readProfiles(configFile);
  if (name === 'profile') {
    if (file.profiles[value] === undefined)
      throw new UsageError(`there is no profile ${value} in ${configFile}`);
    writeProfiles(configFile, { ...file, profile: value });
    return;
  }
  const member = names[name];
  if (member === undefined)
    throw new UsageError(
      `${name} is nothing that can be set: expected ${Object.keys(names).join(', ')} or profile`,
    );
  const into = profile ?? file.profile ?? usualProfile;
  if (!/^[\w.-]+$/.test(into))
    throw new UsageError(`${into} is no name of a profile: expected letters, digits, _ . -`);
  const { [member]: _before, ...rest } = file.profiles[into] ?? {};
  const kept = value === '' ? rest : { ...rest, [member]: member === 'url' ? checkUrl(value) : value };
  writeProfiles(configFile, { ...file, profiles: { ...file.profiles, [into]: kept } });
}

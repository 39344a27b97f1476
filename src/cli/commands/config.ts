import type { Command } from 'commander';
import { keyPrefix } from '../../base/id.ts';
import { onRun } from '../program.ts';
import { addCommand } from './command.ts';
import { UsageError } from './exit.ts';
import {
  checkUrl,
  defaultProfile,
  type Profile,
  readProfiles,
  type Source,
  writeProfiles,
} from './profiles.ts';

/** Settings by their names on the command line. */
const names: Readonly<Record<string, keyof Profile>> = {
  url: 'url',
  'api-key': 'apiKey',
  'operator-key': 'operatorKey',
};

export function addConfigCommands(program: Command): void {
  const config = program
    .command('config')
    .description('Manage the configuration file: addresses and keys by profile');
  const setting = config
    .command('set <name> <value>')
    .description(
      'Set url, api-key, or operator-key of a profile, ' +
        "or the default profile ('' removes a value, - reads it from standard input)",
    )
    .option('--profile <name>', 'profile to change');
  onRun(setting, async (io, { profile }: { profile?: string }, name: string, value: string) => {
    const { configFile } = io.client();
    set(configFile, name, value === '-' ? (await io.readText('-')).trim() : value, profile);
  });
  addCommand(config, {
    usage: 'show',
    about: 'Show the effective settings and their sources; keys are shortened',
    async run(session) {
      const { profile, url, apiKey, operatorKey } = session.settings;
      const { configFile } = session.io.client();
      const key = ({ value }: { value: string | null }) =>
        value === null ? null : `${keyPrefix(value)}…`;
      if (session.isJson) {
        const profiles = Object.keys(readProfiles(configFile).profiles);
        const output = {
          file: configFile,
          profile,
          profiles,
          url: url.value,
          api_key: key(apiKey),
          operator_key: key(operatorKey),
        };
        return session.write(`${JSON.stringify(output)}\n`);
      }
      const from = (source: Source) => (source === 'none' ? '' : `  (${source})`);
      await session.write(
        session.display.pairs([
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

function set(configFile: string, name: string, value: string, profile: string | undefined): void {
  const file = readProfiles(configFile);
  if (name === 'profile') {
    if (file.profiles[value] === undefined)
      throw new UsageError(`No profile "${value}" in ${configFile}`);
    writeProfiles(configFile, { ...file, profile: value });
    return;
  }
  const member = names[name];
  if (member === undefined)
    throw new UsageError(`"${name}" is not a setting (${Object.keys(names).join(', ')}, profile)`);
  const into = profile ?? file.profile ?? defaultProfile;
  if (!/^[\w.-]+$/.test(into))
    throw new UsageError(`"${into}" is not a valid profile name: use letters, digits, _ . -`);
  const profileSettings = { ...file.profiles[into] };
  if (value === '') delete profileSettings[member];
  else profileSettings[member] = member === 'url' ? checkUrl(value) : value;
  writeProfiles(configFile, { ...file, profiles: { ...file.profiles, [into]: profileSettings } });
}

import { readFileSync } from 'node:fs';
import { isMessage } from '@bufbuild/protobuf';
import { TimestampSchema, timestampDate } from '@bufbuild/protobuf/wkt';
import type { Command } from 'commander';
import { loadConfig } from '../base/config.ts';
import { Fault } from '../base/fault.ts';
import { connectClients, restClient } from './client.ts';
import { driftLines } from './drift-lines.ts';

/** Adds the commands that talk to a running service (GLEANER_URL) in the name of a key. */
export function addClientCommands(program: Command, say: (line: string) => void): void {
  const settings = loadConfig().client;
  const show = (value: unknown) => say(JSON.stringify(value, plain));
  const operators = () =>
    connectClients(settings.url, need(settings.operatorKey, 'GLEANER_OPERATOR_KEY')).operators;
  const accounts = () => connectClients(settings.url, need(settings.apiKey, 'GLEANER_API_KEY')).accounts;
  const rest = () => restClient(settings.url, need(settings.apiKey, 'GLEANER_API_KEY'));

  const user = program.command('user').description('users, by the operator key in GLEANER_OPERATOR_KEY');
  user
    .command('create <name>')
    .option('--email <address>', 'address for messages', '')
    .action(async (name, { email }) => show((await operators().createUser({ name, email })).user));
  user.command('list').action(async () => (await operators().listUsers({})).users.forEach(show));

  const key = program.command('key').description('API keys of users, by the operator key');
  key
    .command('create <user-id> [name]')
    .action(async (userId, name = 'cli') => show(await operators().createApiKey({ userId, name })));
  key
    .command('revoke <key-id>')
    .action(async (keyId) => show((await operators().revokeApiKey({ keyId })).key));

  program
    .command('credit <user-id> <amount>')
    .description('add credits to a user')
    .option('--note <text>', 'why', '')
    .action(async (userId, amount, { note }) =>
      show(await operators().grantCredits({ userId, amount: BigInt(amount), note })),
    );

  program
    .command('jobs')
    .description('jobs of every user')
    .option('--status <status>', 'only these', '')
    .action(async ({ status }) => (await operators().listJobs({ status })).jobs.forEach(show));
  program
    .command('approve <job-id...>')
    .description('start waiting jobs')
    .action(async (jobIds: string[]) => {
      for (const jobId of jobIds) show((await operators().approveJob({ jobId })).job);
    });
  program
    .command('reject <job-id...>')
    .description('end waiting jobs')
    .option('--reason <text>', 'shown to the user', '')
    .action(async (jobIds: string[], { reason }) => {
      for (const jobId of jobIds) show((await operators().rejectJob({ jobId, reason })).job);
    });

  const drift = program
    .command('drift')
    .description('fields that go missing from pages, and an example of each to look at')
    .option('--market <market>', 'only of this one', '')
    .option('--all', 'fields without an alarm, too')
    .action(async ({ market, all }) => {
      const { alarms } = await operators().listDriftAlarms({ market, all: all === true });
      if (alarms.length === 0) say('No listed field is missing more often than is usual.');
      for (const line of alarms.flatMap(driftLines)) say(line);
    });
  drift
    .command('accept <market> <page> [field]')
    .description('end alarms: what the newest pages are like is usual from now on')
    .action(async (market, page, field = '') => {
      const { fields } = await operators().acceptDrift({ market, page, field });
      say(fields.length === 0 ? 'There was no such alarm.' : `Ended: ${fields.join(', ')}`);
    });

  program
    .command('account')
    .description("balance, by the user's key in GLEANER_API_KEY")
    .action(async () => show((await accounts().getAccount({})).account));
  program
    .command('ledger')
    .description('newest ledger entries of the account')
    .action(async () => (await accounts().listLedgerEntries({})).entries.forEach(show));
  program
    .command('submit <path> <file>')
    .description(
      "submit a JSON body to a submit path: gleaner submit /v1/mkta/variant_sold_v1/submit body.json ('-': standard input)",
    )
    .action(async (path, file) =>
      show(await rest().call('POST', path, JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8')))),
    );
  program
    .command('watch <path>')
    .description('poll a retrieve path until the job ends')
    .option('--every <seconds>', 'between polls', '2')
    .action(async (path, { every }) => {
      for (;;) {
        const { batches, items, ...answer } = await rest().call('GET', path);
        show({
          ...answer,
          ...(Array.isArray(batches) ? { batches: batches.length } : {}),
          ...(Array.isArray(items) ? { items: items.length } : {}),
        });
        if (!['awaiting_approval', 'initializing', 'processing', 'pending'].includes(String(answer.status)))
          return;
        await new Promise((resolve) => setTimeout(resolve, Number(every) * 1000));
      }
    });
}

function need(key: string | null, name: string): string {
  if (key === null) throw new Fault('unauthenticated', `set ${name}`);
  return key;
}

/** Messages as people write JSON: numbers for integers, ISO times, no type names. */
function plain(name: string, value: unknown): unknown {
  if (name === '$typeName') return undefined;
  if (typeof value === 'bigint') return Number(value);
  return isMessage(value, TimestampSchema) ? timestampDate(value).toISOString() : value;
}

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../support/service/service.ts';
import { createShellCommand, type ShellCommand } from '../support/service/shell-command.ts';
import { parseExamples, runShell, type Variables } from './example.ts';
import { type Place, startPlace } from './place.ts';

const page = readFileSync(join(root, 'docs/cli.md'), 'utf8')
  // No request leaves this machine.
  .replaceAll('https://hooks.example/', 'http://127.0.0.1:9/');
const commands = parseExamples(page).map(({ command }) => command);

let place: Place;
let folder: string;
let gleaner: ShellCommand;
beforeAll(async () => {
  place = await startPlace();
  folder = mkdtempSync(join(tmpdir(), 'gleaner-cli-'));
  gleaner = await createShellCommand(join(folder, 'bin'));
  writeFileSync(
    join(folder, 'products.csv'),
    'shop_domain,product_key\ntoko-7,barang-1001\ntoko-7,barang-1002\n',
  );
  writeFileSync(
    join(folder, 'some-unknown.csv'),
    'shop_domain,product_key\ntoko-7,barang-1003\ntoko-7,barang-1800\n',
  );
  writeFileSync(join(folder, 'items.csv'), 'item_id,shop_id\n20000000001,7001\n20000000002,7001\n');
  writeFileSync(join(folder, 'asins.csv'), 'asin\nB09B8V1LZ3\n');
  writeFileSync(join(folder, 'rows.csv'), 'region,shop_id,item_id\nsg,7002,31000000000\n');
});
afterAll(async () => {
  await gleaner?.close();
  await place?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

const run = (command: string, variables: Variables) => runShell(command, variables, folder);

/**
 * Returns the variables of a reader with an account, a configuration folder, and jobs in the states
 * that the page mentions.
 */
async function readersVariables(): Promise<Variables> {
  const variables: Variables = {
    ...(await place.variables()),
    PATH: `${gleaner.folder}:${process.env.PATH}`,
    XDG_CONFIG_HOME: join(folder, 'config'),
  };
  const asUser = { ...variables, GLEANER_URL: variables.URL!, GLEANER_API_KEY: variables.KEY! };
  const printed = async (command: string) => (await run(command, asUser)).trim();
  const waiting = 'gleaner job submit mkta variant_sold items.csv --set country=id';
  variables.JOB = await printed('gleaner job submit mktb pdp_bulk products.csv --wait');
  variables.WAITING_JOB = await printed(waiting);
  variables.OTHER_WAITING_JOB = await printed(waiting);
  const asOperator = {
    ...variables,
    GLEANER_URL: variables.URL!,
    GLEANER_OPERATOR_KEY: variables.OPERATOR_KEY!,
  };
  variables.USER_ID = (await run('gleaner user create cara', asOperator)).trim();
  await run('gleaner user credit "$USER_ID" 1000', { ...asOperator, USER_ID: variables.USER_ID });
  return variables;
}

test('the commands of docs/cli.md work, and its spending script returns the charged credits', async () => {
  const variables = await readersVariables();
  const spend = commands.findIndex((command) => command.includes('ledger list --export jsonl'));
  expect(spend).toBeGreaterThan(0);
  for (const command of commands.slice(0, spend)) await run(command, variables);

  // A refund, and jobs with a cost that were never charged: rejected ones, and those awaiting
  // approval.
  await run('gleaner job submit mktb pdp_bulk some-unknown.csv --wait || [ $? = 7 ]', variables);
  await run('gleaner job wait "$WAITING_JOB"', variables);
  const balance = Number(JSON.parse(await run('gleaner account show --json', variables)).balance);
  expect(Number(await run(commands[spend]!, variables))).toBe(10_000 - balance);

  for (const command of commands.slice(spend + 1)) await run(command, variables);
}, 600_000);

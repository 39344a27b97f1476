import type { Command } from 'commander';
import { formatBytes } from '../../present/text.ts';
import type { StorageUsage, UserUsage } from '../../tools/storage-usage.ts';
import { onRun } from '../program.ts';
import type { Display, PrintedColumn } from './print.ts';

const columns: PrintedColumn<UserUsage>[] = [
  { name: 'USER', text: ({ id }) => id },
  { name: 'NAME', text: ({ name, mode }) => (mode === 'test' ? `${name} (test)` : name) },
  { name: 'RESULTS', text: ({ resultBytes }) => formatBytes(resultBytes), isNumber: true },
  { name: 'KEPT PAGES', text: ({ pageBytes }) => formatBytes(pageBytes), isNumber: true },
];

/** Adds the command `storage`. */
export function addStorage(program: Command): void {
  const storage = program
    .command('storage')
    .description('Show how much storage the database, results, and kept pages take, by user')
    .option('--json', 'print JSON');
  onRun(storage, async (io, { json }: { json?: true }) => {
    const { readStorageUsage } = await import('../../tools/storage-usage.ts');
    const found = await readStorageUsage(io.config());
    io.say(json ? JSON.stringify(jsonOf(found)) : textOf(found, io.display).trimEnd());
  });
}

const sumOf = (users: readonly UserUsage[], part: 'resultBytes' | 'pageBytes') =>
  users.reduce((sum, user) => sum + user[part], 0);

function textOf({ databaseBytes, users }: StorageUsage, { pairs, table }: Display): string {
  const totals = pairs([
    ['database', databaseBytes === null ? '' : formatBytes(databaseBytes)],
    ['results', formatBytes(sumOf(users, 'resultBytes'))],
    ['kept pages', formatBytes(sumOf(users, 'pageBytes'))],
  ]);
  return users.length === 0 ? totals : `${totals}\n${table(columns, users)}`;
}

function jsonOf({ databaseBytes, users }: StorageUsage) {
  return {
    database_bytes: databaseBytes,
    result_bytes: sumOf(users, 'resultBytes'),
    page_bytes: sumOf(users, 'pageBytes'),
    users: users.map(({ id, name, mode, resultBytes, pageBytes }) => ({
      id,
      name,
      mode,
      result_bytes: resultBytes,
      page_bytes: pageBytes,
    })),
  };
}

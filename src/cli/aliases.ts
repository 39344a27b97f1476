/**
 * Former commands, and what they are now. Arguments of a form: `<job>` a reference to a job, `<id>`
 * a UUID, another name any argument; `[options]` no argument but options; `--flag` an option
 * anywhere. The first form that fits applies.
 */
const aliases: readonly (readonly [former: string, command: string])[] = [
  ['submit', 'job submit'],
  ['jobs --all', 'job list --user all'],
  ['jobs', 'job list'],
  ['job <job>', 'job show <job>'],
  ['watch', 'job wait'],
  ['results', 'job results'],
  ['failures', 'job failures'],
  ['download', 'job download'],
  ['changes', 'job changes'],
  ['quality', 'job show --quality'],
  ['retry', 'job retry'],
  ['cancel', 'job cancel'],
  ['release', 'job release'],
  ['delete-files', 'job delete-files'],
  ['approve', 'job approve'],
  ['reject', 'job reject'],
  ['kinds', 'kind list'],
  ['prices', 'kind list'],
  ['history <market> <region> <key>', 'item history <market> <region> <key>'],
  ['history', 'item list'],
  ['schedules list --all', 'schedule list --user all'],
  ['schedules', 'schedule'],
  ['rules replace <id>', 'rule create --replace <id>'],
  ['rules', 'rule'],
  ['destinations', 'destination'],
  ['webhook log', 'delivery list'],
  ['webhook test', 'delivery test'],
  ['webhook redeliver', 'delivery redeliver'],
  ['deliveries test', 'delivery test --user all'],
  ['deliveries', 'delivery list --user all'],
  ['balance', 'account show'],
  ['account --export', 'account export'],
  ['account [options]', 'account show'],
  ['ledger --all', 'ledger list --user all'],
  ['ledger [options]', 'ledger list'],
  ['usage', 'account usage'],
  ['keys', 'key'],
  ['key list <id>', 'key list --user <id>'],
  ['key create <id>', 'key create --user <id>'],
  ['users', 'user list'],
  ['credit', 'user credit'],
  ['origins check', 'doctor --origins'],
  ['origins', 'status origins'],
  ['work', 'status work'],
  ['settings', 'status settings'],
  ['drift [options]', 'drift list'],
  ['audit-log [options]', 'audit-log list'],
];

/** Returns the arguments of a run with the command that a former one is now. */
export function withoutAlias(commandLine: readonly string[]): string[] {
  const isOperator = commandLine.includes('--operator');
  const args = isOperator
    ? [...commandLine.filter((arg) => arg !== '--operator'), '--user', 'all']
    : [...commandLine];
  for (const [former, command] of aliases) {
    const found = match(former.split(' '), args);
    if (found === undefined) continue;
    const words = command.split(' ').map((word) => found.values.get(word) ?? word);
    return [...words, ...found.rest];
  }
  return args;
}

const argumentForms: Readonly<Record<string, RegExp>> = {
  '<job>': /^(\d{1,18}|[0-9a-f-]{36}|\/.*)$/i,
  '<id>': /^[0-9a-f-]{36}$/i,
};

/**
 * Returns the values of the arguments of a form, and the other arguments; undefined if the form
 * does not fit.
 */
function match(form: readonly string[], args: readonly string[]) {
  const values = new Map<string, string>();
  let rest = [...args];
  for (const word of form) {
    if (word.startsWith('--')) {
      if (!rest.includes(word)) return undefined;
      rest.splice(rest.indexOf(word), 1);
      continue;
    }
    const next = rest[0];
    if (!fitsWord(word, next)) return undefined;
    if (word === '[options]') continue;
    if (word.startsWith('<')) values.set(word, next!);
    rest = rest.slice(1);
  }
  return { values, rest };
}

/** Returns true if the next argument, if any, may stand at a word of a form. */
function fitsWord(word: string, next: string | undefined): boolean {
  if (word === '[options]')
    return next === undefined || (next.startsWith('-') && !/^(?:-h|--help)$/.test(next));
  if (next === undefined) return false;
  return word.startsWith('<') ? fits(word, next) : next === word;
}

const fits = (name: string, text: string) => (argumentForms[name] ?? /^[^-]/).test(text);

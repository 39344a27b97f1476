import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { type KeyScope, keyScopes, type OperatorRole, operatorRoles } from '../../contract/permission.ts';
import { integer } from './command.ts';
import { UsageError } from './exit.ts';

/** Options of a new user's key. */
export interface KeyFlags {
  expires?: string;
  scopes?: string;
  creditCeiling?: string;
  test?: true;
}

/** Declarations of KeyFlags. */
export const keyOptions = [
  ['--expires <time>', 'expiry: a date such as 2030-01-31, or days such as 90d'],
  ['--scopes <scopes>', 'what the key may be used for: read, submit, or read,submit (default)'],
  ['--credit-ceiling <n>', 'maximum credits that the key may spend in total'],
  ['--test', 'a test key, whose jobs use the sandbox and cost nothing'],
] as const;

/** Declaration of the role of an operator's key. */
export const roleOption = [
  '--role <role>',
  "role of an operator's key: viewer, approver, or admin (default)",
] as const;

/** Returns the fields of a request for a key. Throws a UsageError for an invalid option. */
export function keyRequest({ expires, scopes, creditCeiling, test }: KeyFlags): {
  expiresAt?: ReturnType<typeof timestampFromDate>;
  scopes: KeyScope[];
  creditCeiling?: bigint;
  mode: '' | 'test';
} {
  return {
    ...expiryOf(expires),
    scopes: scopes === undefined ? [] : scopesOf(scopes),
    mode: test === true ? 'test' : '',
    ...(creditCeiling === undefined
      ? {}
      : { creditCeiling: BigInt(integer('--credit-ceiling', creditCeiling, 0)) }),
  };
}

/** Returns the role; '' if the option is absent. Throws a UsageError for another text. */
export function roleOf(text: string | undefined): OperatorRole | '' {
  if (text === undefined) return '';
  const role = operatorRoles.find((known) => known === text);
  if (role === undefined) throw new UsageError(`--role: "${text}" is not ${operatorRoles.join(', ')}`);
  return role;
}

function scopesOf(text: string): KeyScope[] {
  return text.split(',').map((name) => {
    const scope = keyScopes.find((known) => known === name.trim());
    if (scope === undefined) throw new UsageError(`--scopes: "${name}" is not ${keyScopes.join(' or ')}`);
    return scope;
  });
}

function expiryOf(text: string | undefined): { expiresAt?: ReturnType<typeof timestampFromDate> } {
  if (text === undefined) return {};
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const date = days === undefined ? new Date(text) : new Date(Date.now() + Number(days) * 86_400_000);
  if (Number.isNaN(date.getTime()))
    throw new UsageError(
      `--expires: "${text}" is not a date such as 2030-01-31 or a number of days such as 90d`,
    );
  return { expiresAt: timestampFromDate(date) };
}

import { type DescMethod, getOption } from '@bufbuild/protobuf';
import {
  Access,
  access as accessOption,
  type OperatorRole as RequiredRole,
  operator_role as roleOption,
  Scope,
  scope as scopeOption,
} from '../../gen/gleaner/options/v1/options_pb.ts';

/** Scopes of a user's API key. */
export const keyScopes = ['read', 'submit'] as const;

/** Scope of a user's API key. */
export type KeyScope = (typeof keyScopes)[number];

/** Roles of an operator's API key. Each includes the previous ones. */
export const operatorRoles = ['viewer', 'approver', 'admin'] as const;

/** Role of an operator's API key. */
export type OperatorRole = (typeof operatorRoles)[number];

/** Permissions of an API key, or of the session that stands for it. */
export interface Permissions {
  role: 'user' | 'operator';
  /** Scopes of a user's key. Empty for an operator's key. */
  scopes: readonly KeyScope[];
  /** Role of an operator's key. Null for a user's key. */
  operatorRole: OperatorRole | null;
}

/**
 * Permissions that a method requires, as declared by its options
 * (proto/gleaner/options/v1/options.proto).
 */
interface Requirement {
  access: Access;
  scope: Scope;
  operatorRole: RequiredRole;
}

const scopesOf: Readonly<Record<Scope, readonly KeyScope[] | null>> = {
  [Scope.UNSPECIFIED]: null,
  [Scope.ANY]: [],
  [Scope.READ]: ['read'],
  [Scope.SUBMIT]: ['submit'],
  [Scope.FULL]: keyScopes,
};

const undeclared = 'This call does not declare which keys allow it, so none does.';
const requirements = new WeakMap<DescMethod, Requirement>();

/**
 * Returns the scopes that a method requires of a user's key, or null if it declares none, so that
 * no key allows it.
 */
export function requiredScopes(method: DescMethod): readonly KeyScope[] | null {
  return scopesOf[requirementOf(method).scope] ?? null;
}

/**
 * Returns the minimum role that a method requires of an operator's key, or null if it declares
 * none.
 */
export function requiredRole(method: DescMethod): OperatorRole | null {
  return operatorRoles[requirementOf(method).operatorRole - 1] ?? null;
}

/**
 * Returns one sentence that says why a key does not allow a call, or null if it does. Every call of
 * the service is checked here, and the console disables what this function refuses.
 */
export function refusalOf(method: DescMethod, permissions: Permissions): string | null {
  const { access } = requirementOf(method);
  const { role } = permissions;
  if (access === Access.PUBLIC) return null;
  if (access === Access.USER && role !== 'user' && requiredRole(method) === null)
    return 'This call needs the key of a user.';
  if (access === Access.OPERATOR && role !== 'operator')
    return 'This call needs the key of an operator.';
  if (access === Access.UNSPECIFIED) return undeclared;
  if (role === 'user') return scopeRefusal(method, permissions);
  return roleRefusal(method, permissions);
}

function scopeRefusal(method: DescMethod, { scopes }: Permissions): string | null {
  const required = requiredScopes(method);
  if (required === null) return undeclared;
  if (required.every((scope) => scopes.includes(scope))) return null;
  const names = required.map((scope) => `'${scope}'`).join(' and ');
  const needed = required.length > 1 ? `the scopes ${names}` : `the scope ${names}`;
  return `This call needs a key with ${needed}; this key has '${scopes.join("', '")}'.`;
}

function roleRefusal(method: DescMethod, { operatorRole }: Permissions): string | null {
  const required = requiredRole(method);
  if (required === null) return undeclared;
  const rank = operatorRole === null ? -1 : operatorRoles.indexOf(operatorRole);
  if (rank >= operatorRoles.indexOf(required)) return null;
  return (
    `This call needs an operator key with the role '${required}'; ` +
    `this key has the role '${operatorRole}'.`
  );
}

/**
 * Returns the permissions that a method requires. Reading its options each time would take
 * microseconds.
 */
export function requirementOf(method: DescMethod): Requirement {
  const cached = requirements.get(method);
  if (cached !== undefined) return cached;
  const requirement = {
    access: getOption(method.parent, accessOption),
    scope: getOption(method, scopeOption),
    operatorRole: getOption(method, roleOption),
  };
  requirements.set(method, requirement);
  return requirement;
}

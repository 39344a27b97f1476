import { type DescMethod, getOption } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { shopService } from '../../gateway/fixture/shop.ts';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { Access, access, job, Step } from '../../gen/gleaner/options/v1/options_pb.ts';
import { SessionService } from '../../gen/gleaner/session/v1/session_pb.ts';
import {
  type KeyScope,
  keyScopes,
  type OperatorRole,
  operatorRoles,
  refusalOf,
  requiredRole,
  requiredScopes,
} from './permission.ts';
import { services } from './services.ts';

const methods: readonly DescMethod[] = services.flatMap((service) => service.methods);
const userKey = (...scopes: KeyScope[]) => ({ role: 'user', scopes, operatorRole: null }) as const;
const operatorKey = (operatorRole: OperatorRole) => ({ role: 'operator', scopes: [], operatorRole }) as const;
const allowed = (names: readonly DescMethod[], key: Parameters<typeof refusalOf>[1]) =>
  names.filter((method) => refusalOf(method, key) === null).map(({ name }) => name);

describe('every method', () => {
  test.each(methods.map((method) => [`${method.parent.name}.${method.name}`, method] as const))(
    '%s declares which keys allow it',
    (_, method) => {
      const callers = getOption(method.parent, access);
      expect(callers).not.toBe(Access.UNSPECIFIED);
      if (callers === Access.USER || callers === Access.ANY_KEY)
        expect(requiredScopes(method)).not.toBeNull();
      if (callers === Access.OPERATOR || callers === Access.ANY_KEY)
        expect(requiredRole(method)).not.toBeNull();
    },
  );

  test('that changes a job needs the scope submit, and every other one of a market needs the scope read', () => {
    for (const method of methods) {
      const { step } = getOption(method, job);
      if (step === Step.UNSPECIFIED) continue;
      const changes = step === Step.SUBMIT || step === Step.TERMINATE;
      expect(requiredScopes(method), method.name).toEqual([changes ? 'submit' : 'read']);
    }
  });

  test('of operators that viewers may call has a name that says that it reads, and returns no data of a user', () => {
    const userData = ['ExportUser', 'ListRecords', 'ExportRecords'];
    const named = OperatorService.methods.filter(
      ({ name }) => /^(Get|List|Export)[A-Z]/.test(name) && !userData.includes(name),
    );
    expect(allowed(OperatorService.methods, operatorKey('viewer'))).toEqual(named.map(({ name }) => name));
  });
});

describe('refusalOf()', () => {
  test('refuses a method that declares nothing to every key', () => {
    const keys = [userKey(...keyScopes), ...operatorRoles.map(operatorKey)];
    for (const method of shopService.methods)
      expect(
        keys.map((key) => refusalOf(method, key)),
        method.name,
      ).not.toContain(null);
    expect(refusalOf(shopService.methods[0]!, userKey(...keyScopes))).toBe(
      'This call does not declare which keys allow it, so none does.',
    );
  });

  test('allows a read-only key to read jobs, but neither to submit nor to manage the account', () => {
    expect(allowed(JobService.methods, userKey('read'))).toEqual(
      JobService.methods
        .map(({ name }) => name)
        .filter((name) => !/^(Release|Retry|Cancel|Delete)/.test(name)),
    );
    expect(allowed(AccountService.methods, userKey('read'))).toEqual([
      'GetAccount',
      'ListLedgerEntries',
      'ExportLedger',
      'GetUsage',
      'ListPrices',
      'ListApiKeys',
      'ListDeliveries',
    ]);
  });

  test('allows a submit-only key to change jobs and to see the balance and the prices', () => {
    expect(allowed(JobService.methods, userKey('submit'))).toEqual(['ReleaseJob', 'RetryJob', 'CancelJob']);
    expect(allowed(AccountService.methods, userKey('submit'))).toEqual(['GetAccount', 'ListPrices']);
  });

  test('allows every call of users to a key with both scopes, and no call of operators', () => {
    const key = userKey('read', 'submit');
    expect(allowed(JobService.methods, key)).toHaveLength(JobService.methods.length);
    expect(allowed(AccountService.methods, key)).toHaveLength(AccountService.methods.length);
    expect(allowed(OperatorService.methods, key)).toEqual([]);
  });

  test('allows approvers to decide on jobs and to read results, in addition to what viewers may do', () => {
    const viewer = allowed(OperatorService.methods, operatorKey('viewer'));
    const added = allowed(OperatorService.methods, operatorKey('approver')).filter(
      (name) => !viewer.includes(name),
    );
    expect(added).toEqual([
      'ApproveJob',
      'RejectJob',
      'CreateFileLink',
      'StreamResults',
      'ListRecords',
      'ExportRecords',
    ]);
  });

  test('allows admins every call of operators, and no call of users', () => {
    expect(allowed(OperatorService.methods, operatorKey('admin'))).toHaveLength(
      OperatorService.methods.length,
    );
    expect(allowed([...JobService.methods, ...AccountService.methods], operatorKey('admin'))).toEqual([]);
  });

  test('allows every key to sign in and out', () => {
    for (const key of [userKey('read'), userKey('submit'), operatorKey('viewer')])
      expect(allowed(SessionService.methods, key)).toHaveLength(SessionService.methods.length);
  });

  test('names what the call needs and what the key has', () => {
    const { createApiKey, setWebhook } = AccountService.method;
    expect(refusalOf(JobService.method.cancelJob, userKey('read'))).toBe(
      "This call needs a key with the scope 'submit'; this key has 'read'.",
    );
    expect(refusalOf(setWebhook, userKey('submit'))).toBe(
      "This call needs a key with the scopes 'read' and 'submit'; this key has 'submit'.",
    );
    expect(refusalOf(OperatorService.method.grantCredits, operatorKey('approver'))).toBe(
      "This call needs an operator key with the role 'admin'; this key has the role 'approver'.",
    );
    expect(refusalOf(createApiKey, operatorKey('admin'))).toBe('This call needs the key of a user.');
    expect(refusalOf(OperatorService.method.getUser, userKey('read'))).toBe(
      'This call needs the key of an operator.',
    );
  });
});

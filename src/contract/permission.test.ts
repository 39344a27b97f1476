import { type DescMethod, getOption } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { shopService } from '../../gateway/fixture/shop.ts';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { Access, access, job, Step } from '../../gen/gleaner/options/v1/options_pb.ts';
import { ScheduleService } from '../../gen/gleaner/schedule/v1/schedule_pb.ts';
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
import { marketServices, services } from './services.ts';

const methods: readonly DescMethod[] = services.flatMap((service) => service.methods);
const userKey = (...scopes: KeyScope[]) => ({ role: 'user', scopes, operatorRole: null }) as const;
const operatorKey = (operatorRole: OperatorRole) =>
  ({ role: 'operator', scopes: [], operatorRole }) as const;
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

  test('requires the scope submit for changes to jobs, and the scope read for every other call of a market', () => {
    for (const method of methods) {
      const { step } = getOption(method, job);
      if (step === Step.UNSPECIFIED) continue;
      const changes = step === Step.SUBMIT || step === Step.TERMINATE;
      expect(requiredScopes(method), method.name).toEqual([changes ? 'submit' : 'read']);
    }
  });

  test('lets operators use every step of a job but its submission, and only approvers read results', () => {
    const roles: Partial<Record<Step, OperatorRole>> = {
      [Step.READ]: 'approver',
      [Step.DATA]: 'approver',
      [Step.LIST]: 'viewer',
      [Step.TERMINATE]: 'admin',
    };
    for (const method of methods) {
      const { step } = getOption(method, job);
      if (step !== Step.UNSPECIFIED)
        expect(requiredRole(method), method.name).toBe(roles[step] ?? null);
    }
  });

  test('lets viewers call only methods whose names say that they read, and that return no data of a user', () => {
    const userData = ['ExportUser', 'ListRecords', 'ExportRecords'];
    const named = OperatorService.methods.filter(
      ({ name }) => /^(Get|List|Export)[A-Z]/.test(name) && !userData.includes(name),
    );
    expect(allowed(OperatorService.methods, operatorKey('viewer'))).toEqual(
      named.map(({ name }) => name),
    );
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
        .filter((name) => !/^(Release|Retry|Reread|Cancel|Delete)/.test(name)),
    );
    expect(allowed(AccountService.methods, userKey('read'))).toEqual([
      'GetAccount',
      'ListLedgerEntries',
      'ExportLedger',
      'GetUsage',
      'ListApiKeys',
      'ListDeliveries',
    ]);
  });

  test('allows a submit-only key to change jobs and to see the balance', () => {
    expect(allowed(JobService.methods, userKey('submit'))).toEqual([
      'ReleaseJob',
      'RetryJob',
      'RereadJob',
      'CancelJob',
    ]);
    expect(allowed(AccountService.methods, userKey('submit'))).toEqual(['GetAccount']);
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
    expect(added).toEqual(['ApproveJob', 'RejectJob', 'CreateFileLink']);
    const reads = allowed(JobService.methods, operatorKey('viewer'));
    const results = allowed(JobService.methods, operatorKey('approver')).filter(
      (name) => !reads.includes(name),
    );
    expect(results).toEqual(['StreamResults', 'ExportRecords', 'ListRecords']);
  });

  test('allows admins every call of operators, and of users those that neither submit nor spend', () => {
    expect(allowed(OperatorService.methods, operatorKey('admin'))).toHaveLength(
      OperatorService.methods.length,
    );
    const refused = JobService.methods.filter(
      (method) => refusalOf(method, operatorKey('admin')) !== null,
    );
    expect(refused.map(({ name }) => name)).toEqual(['DeleteFiles']);
    expect(allowed(ScheduleService.methods, operatorKey('admin'))).toEqual([
      'ListSchedules',
      'PreviewSchedule',
      'GetSchedule',
      'PauseSchedule',
      'ResumeSchedule',
      'ListScheduleRuns',
    ]);
    const submits = marketServices
      .flatMap((service) => service.methods)
      .filter((method) => getOption(method, job).step === Step.SUBMIT);
    expect(allowed([...AccountService.methods, ...submits], operatorKey('admin'))).toEqual([]);
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
    expect(refusalOf(createApiKey, operatorKey('admin'))).toBe(
      'This call needs the key of a user.',
    );
    expect(refusalOf(OperatorService.method.getUser, userKey('read'))).toBe(
      'This call needs the key of an operator.',
    );
  });
});

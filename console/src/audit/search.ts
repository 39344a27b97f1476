import type { DescMethod } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { Access } from '../../../gen/gleaner/options/v1/options_pb.ts';
import { requirementOf } from '../../../src/contract/permission.ts';
import { services } from '../../../src/contract/services.ts';
import { methodText } from '../../../src/present/names.ts';

/** Selection of the audit log; '' for any. */
export interface AuditSearch {
  actorId: string;
  target: string;
  action: string;
  outcome: string;
  /** First day, such as "2030-01-31". */
  since: string;
  /** Last day. */
  until: string;
}

/** Selects every entry. */
export const emptySearch: AuditSearch = {
  actorId: '',
  target: '',
  action: '',
  outcome: '',
  since: '',
  until: '',
};

/**
 * Returns the filter of a search. Days are local, and the last one is part of the period. A text
 * that is no day does not limit it.
 */
export function filterOf({ since, until, ...names }: AuditSearch) {
  const start = midnightOf(since);
  const end = midnightOf(until);
  // By the calendar: a day on which the clocks change has 23 or 25 hours.
  end?.setDate(end.getDate() + 1);
  return {
    ...names,
    ...(start === null ? {} : { since: timestampFromDate(start) }),
    ...(end === null ? {} : { until: timestampFromDate(end) }),
  };
}

/** Returns the start of a local day, or null for another text. */
function midnightOf(day: string): Date | null {
  const date = new Date(`${day}T00:00:00`);
  return Number.isNaN(date.getTime()) ? null : date;
}

/** Outcomes as options. */
export const outcomes = [
  { value: '', label: 'Any outcome' },
  { value: 'ok', label: 'Succeeded' },
  { value: 'forbidden', label: 'Not allowed' },
  { value: 'conflict', label: 'Conflict' },
  { value: 'not_found', label: 'Not found' },
  { value: 'insufficient_credits', label: 'Insufficient credits' },
];

const methods = services.flatMap((service) => service.methods);
const isRead = ({ name }: DescMethod) =>
  /^(Get|List|Export|Retrieve|Preview|Watch)[A-Z]/.test(name);

/** Returns whether the audit log has reads by a method: those of users' data by operators. */
const isRecordedRead = (method: DescMethod) =>
  isRead(method) &&
  (method === OperatorService.method.exportUser || requirementOf(method).access === Access.USER);

/** Returns methods as options, in the order of their texts. */
const optionsOf = (selected: readonly DescMethod[]) =>
  Array.from(new Set(selected.map(({ name }) => name)))
    .map((value) => ({ value, label: methodText(value) }))
    .toSorted((one, other) => one.label.localeCompare(other.label));

/** Actions in the audit log, as groups of options. */
export const actions = [
  { group: 'Changes', items: optionsOf(methods.filter((method) => !isRead(method))) },
  { group: 'Reads by operators', items: optionsOf(methods.filter(isRecordedRead)) },
];

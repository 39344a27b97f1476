import type { Seed } from './seed.ts';

/** Page of the console that tests and screenshots open. */
export interface PageVisit {
  name: string;
  path: string;
  /** `tester`: a user with a live key, in the test account. */
  role: 'operator' | 'user' | 'tester';
  /** Text that the loaded page contains. */
  shows: string;
}

/** Id of nothing. */
const missing = '00000000-0000-4000-8000-000000000000';

/** Returns every page, with content from the seed. */
export const pageVisits = ({
  anna,
  partial,
  held,
  tracked,
  waiting,
  schedule,
  proposed,
  tested,
}: Seed): PageVisit[] => [
  { name: 'overview', path: '/', role: 'operator', shows: 'Paused origins' },
  { name: 'approvals', path: '/approvals', role: 'operator', shows: 'Toko Budi' },
  { name: 'jobs', path: '/jobs', role: 'operator', shows: 'Anna Kirana' },
  { name: 'test-jobs', path: '/jobs?mode=test', role: 'operator', shows: 'Anna Kirana' },
  { name: 'job', path: `/jobs/${partial}`, role: 'operator', shows: 'Details' },
  {
    name: 'job-results',
    path: `/jobs/${partial}?tab=results`,
    role: 'operator',
    shows: 'missing or wrong fields',
  },
  { name: 'job-waiting', path: `/jobs/${waiting}`, role: 'operator', shows: 'Approve' },
  {
    name: 'schedule-of-user',
    path: `/schedules/${proposed}`,
    role: 'operator',
    shows: 'Request of each run',
  },
  { name: 'users', path: '/users', role: 'operator', shows: 'Price Watch' },
  { name: 'user', path: `/users/${anna.id}`, role: 'operator', shows: 'catalogue sync' },
  { name: 'user-missing', path: `/users/${missing}`, role: 'operator', shows: 'All users' },
  {
    name: 'schedule-of-user-missing',
    path: `/schedules/${missing}`,
    role: 'operator',
    shows: 'All approvals',
  },
  { name: 'operators', path: '/operators', role: 'operator', shows: 'first operator' },
  { name: 'all-ledgers', path: '/ledger', role: 'operator', shows: 'Plan of the month' },
  { name: 'origins', path: '/origins', role: 'operator', shows: 'Drift alarms' },
  { name: 'work', path: '/work', role: 'operator', shows: 'Processes' },
  { name: 'notifications', path: '/deliveries', role: 'operator', shows: 'Send test message' },
  { name: 'audit-log', path: '/audit', role: 'operator', shows: 'Create session' },
  { name: 'settings', path: '/settings', role: 'operator', shows: 'GLEANER_DATA_DIR' },
  { name: 'own-overview', path: '/', role: 'user', shows: 'Latest results' },
  { name: 'submit', path: '/submit', role: 'user', shows: 'Shopify stores' },
  { name: 'submit-form', path: '/submit/mkta/variant_sold', role: 'user', shows: 'Add item' },
  {
    name: 'submit-upload',
    path: '/submit/mkta/get_pc_bulk',
    role: 'user',
    shows: 'Drop a CSV file',
  },
  {
    name: 'try',
    path: '/try?market=mkte&item=https://www.mkte.example.co.jp/dp/B0GLN01001',
    role: 'user',
    shows: 'Set KEY to an API key',
  },
  { name: 'own-jobs', path: '/jobs', role: 'user', shows: 'Variant sold' },
  { name: 'own-job', path: `/jobs/${partial}`, role: 'user', shows: 'missing or wrong fields' },
  { name: 'job-details', path: `/jobs/${partial}?tab=details`, role: 'user', shows: 'Duration' },
  { name: 'job-held', path: `/jobs/${held}`, role: 'user', shows: 'Deliveries held' },
  { name: 'schedules', path: '/schedules', role: 'user', shows: 'Evening prices' },
  { name: 'schedule', path: `/schedules/${schedule}`, role: 'user', shows: 'Next runs' },
  { name: 'prices', path: '/prices', role: 'user', shows: 'Credits per unit' },
  { name: 'job-missing', path: `/jobs/${missing}`, role: 'user', shows: 'All jobs' },
  { name: 'schedule-missing', path: `/schedules/${missing}`, role: 'user', shows: 'All schedules' },
  { name: 'history', path: '/history', role: 'user', shows: 'Items of tracked jobs' },
  { name: 'history-item', path: `/history/${tracked}`, role: 'user', shows: 'Observations' },
  { name: 'job-changes', path: `/jobs/${partial}?tab=changes`, role: 'user', shows: 'back again' },
  { name: 'rules', path: '/rules', role: 'user', shows: 'Price falls by' },
  { name: 'ledger', path: '/ledger', role: 'user', shows: 'Plan of the month' },
  { name: 'keys', path: '/keys', role: 'user', shows: 'catalogue sync' },
  { name: 'destinations', path: '/destinations', role: 'user', shows: 'inbox' },
  { name: 'webhook', path: '/webhook', role: 'user', shows: 'Endpoint URL' },
  { name: 'test-overview', path: '/', role: 'tester', shows: 'Latest results' },
  {
    name: 'test-submit-form',
    path: '/submit/mkta/variant_sold',
    role: 'tester',
    shows: 'Add item',
  },
  { name: 'test-own-jobs', path: '/jobs', role: 'tester', shows: 'Test data' },
  { name: 'test-job', path: `/jobs/${tested}`, role: 'tester', shows: 'missing or wrong fields' },
  { name: 'test-keys', path: '/keys', role: 'tester', shows: 'Test data' },
  { name: 'nowhere', path: '/nowhere', role: 'user', shows: 'This page does not exist' },
];

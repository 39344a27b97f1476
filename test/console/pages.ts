import type { Seed } from './seed.ts';

/** A page of the console, as tests and screenshots visit it. */
export interface Visit {
  name: string;
  path: string;
  role: 'operator' | 'user';
  /** Something that it shows once it is there. */
  shows: string;
}

/** Every page, with what the seed put on it. */
export const visits = ({ anna, partial, waiting }: Seed): Visit[] => [
  { name: 'approvals', path: '/approvals', role: 'operator', shows: 'Toko Budi' },
  { name: 'jobs', path: '/jobs', role: 'operator', shows: 'Anna Kirana' },
  { name: 'job', path: `/jobs/${partial}`, role: 'operator', shows: 'Worked on for' },
  { name: 'job-waiting', path: `/jobs/${waiting}`, role: 'operator', shows: 'Approve' },
  { name: 'users', path: '/users', role: 'operator', shows: 'Price Watch' },
  { name: 'user', path: `/users/${anna.id}`, role: 'operator', shows: 'catalogue sync' },
  { name: 'all-ledgers', path: '/ledger', role: 'operator', shows: 'Plan of the month' },
  { name: 'origins', path: '/origins', role: 'operator', shows: 'Drift alarms' },
  { name: 'work', path: '/work', role: 'operator', shows: 'Processes' },
  { name: 'notifications', path: '/deliveries', role: 'operator', shows: 'Send a test' },
  { name: 'settings', path: '/settings', role: 'operator', shows: 'GLEANER_DATA_DIR' },
  { name: 'account', path: '/', role: 'user', shows: 'Usage' },
  { name: 'submit', path: '/submit', role: 'user', shows: 'Marketplace F' },
  { name: 'submit-form', path: '/submit/mkta/variant_sold', role: 'user', shows: 'One more' },
  { name: 'submit-upload', path: '/submit/mkta/get_pc_bulk', role: 'user', shows: 'Drop a CSV file' },
  { name: 'own-jobs', path: '/jobs', role: 'user', shows: 'Variant sold' },
  { name: 'own-job', path: `/jobs/${partial}`, role: 'user', shows: 'Worked on for' },
  { name: 'ledger', path: '/ledger', role: 'user', shows: 'Plan of the month' },
  { name: 'keys', path: '/keys', role: 'user', shows: 'catalogue sync' },
  { name: 'webhook', path: '/webhook', role: 'user', shows: 'Address' },
  { name: 'nowhere', path: '/nowhere', role: 'user', shows: 'There is nothing at this address' },
];

import { expect, test } from 'vitest';
import { findSections, type IndexedSection } from './guide-sections.ts';

const section = (page: string, title: string, text: string): IndexedSection => ({
  title,
  page,
  path: `/docs/guide/${page}#${title}`,
  text,
});

const sections = [
  section('Runbooks', 'Backup overdue', 'Look at the log.'),
  section('Backup', 'Backup', 'How to back up.'),
  section('Operate', 'Start', 'Set up a backup first.'),
  section('Backup', 'Restore', 'Stop the service.'),
  section('Operate', 'Back up', 'Run the backup command.'),
  section('Operate', 'Backup targets', 'A folder or a bucket.'),
];

const titlesOf = (term: string, maxCount = 6) =>
  findSections(sections, term, maxCount).map(({ title }) => title);

test('findSections() lists pages, then titles, then titles of their pages, then texts', () => {
  expect(titlesOf('backup')).toEqual([
    'Backup',
    'Backup overdue',
    'Backup targets',
    'Restore',
    'Start',
    'Back up',
  ]);
  expect(titlesOf('backup', 2)).toEqual(['Backup', 'Backup overdue']);
});

test('findSections() finds words in the title and in the page together', () => {
  expect(titlesOf('Backup restore')).toEqual(['Restore']);
  expect(titlesOf('none')).toEqual([]);
});

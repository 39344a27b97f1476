import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Value } from './connection.ts';
import { openEngine, type SqliteEngine } from './engine.ts';

const select = 'SELECT name, value FROM sequences WHERE name = ?';
const shape = { read: ([name, value]: readonly Value[]) => ({ name, value, inside: [value] }) };
const insert = 'INSERT INTO sequences (name, value) VALUES (?, ?)';

let folder: string;
let engine: SqliteEngine;
let other: SqliteEngine;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gleaner-read-cache-'));
  const path = join(folder, 'data.sqlite');
  engine = openEngine(path);
  other = openEngine(path);
  engine.run(insert, 'a', 1);
});
afterEach(() => {
  engine.close();
  other.close();
  rmSync(folder, { recursive: true });
});

const read = (name = 'a') => engine.cache.document(shape, select, name);

describe('cache', () => {
  test('returns the same document while the file is unchanged', () => {
    const first = read();
    expect(first).toEqual({ name: 'a', value: 1, inside: [1] });
    expect(read()).toBe(first);
    expect(engine.cache.documents(shape, select, 'a')[0]).toBe(first);
  });

  test('caches a miss until something is written', () => {
    expect(read('b')).toBeNull();
    engine.run(insert, 'b', 2);
    expect(read('b')?.value).toBe(2);
  });

  test('sees every kind of write of its own process', () => {
    const update = (value: number) => `UPDATE sequences SET value = ${value} WHERE name = 'a'`;
    const writes: [number, (sql: string) => unknown][] = [
      [2, (sql) => engine.run(sql)],
      [3, (sql) => engine.relaxed.run(sql)],
      [4, (sql) => engine.get(`${sql} RETURNING name`)],
      [5, (sql) => engine.all(`${sql} RETURNING name`)],
      [6, (sql) => engine.document(shape, `${sql} RETURNING name, value`)],
      [7, (sql) => engine.relaxed.documents(shape, `${sql} RETURNING name, value`)],
      [8, (sql) => engine.write(() => engine.run(sql))],
    ];
    for (const [value, write] of writes) {
      read();
      write(update(value));
      expect(read()?.value).toBe(value);
    }
  });

  test('sees commits of another connection, and nothing before them', () => {
    const first = read();
    other.write(() => {
      other.run(`UPDATE sequences SET value = 9 WHERE name = 'a'`);
      expect(read()).toEqual(first);
    });
    expect(read()?.value).toBe(9);
  });

  test('sees commits of another process from the next turn of the event loop', async () => {
    const { path } = engine.get<{ path: string }>(`SELECT file AS path FROM pragma_database_list`)!;
    const foreign = new DatabaseSync(path);
    try {
      for (let value = 2; value < 5; value++) {
        read();
        foreign.exec(`UPDATE sequences SET value = ${value} WHERE name = 'a'`);
        await setImmediate();
        expect(read()?.value).toBe(value);
      }
    } finally {
      foreign.close();
    }
  });

  test('discards what a transaction read before it was rolled back', () => {
    read();
    const rollback = () =>
      engine.write(() => {
        engine.run(`UPDATE sequences SET value = 9 WHERE name = 'a'`);
        expect(read()?.value).toBe(9);
        throw new Error('rolled back');
      });
    expect(rollback).toThrow('rolled back');
    expect(read()?.value).toBe(1);
  });

  test('distinguishes statements', () => {
    read();
    const names = { read: ([name]: readonly Value[]) => name };
    expect(engine.cache.document(names, 'SELECT name FROM sequences WHERE name = ?', 'a')).toBe(
      'a',
    );
  });

  test('freezes shared documents', () => {
    const document = read()!;
    expect(() => Object.assign(document, { value: 2 })).toThrow(TypeError);
    expect(() => document.inside.push(2)).toThrow(TypeError);
  });

  test('rejects reads of a closed file as unavailable', () => {
    engine.close();
    expect(() => read()).toThrow(expect.objectContaining({ code: 'unavailable' }));
  });
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** A test that failed, or a file that failed outside of its tests. */
export interface TestFailure {
  /** Path of the test file, relative to the project. */
  file: string;
  /** Titles from the outermost `describe` to the test; empty for a file. */
  title: string;
  /** First lines of the error. */
  message: string;
  /** Seed named in the title or the error; empty if there is none. */
  seed: string;
  /** Path of a file with the whole error, and with the output of the test file. */
  log: string;
}

/** Result of a run, as run-reporter.ts writes it to `result.json`. */
export interface RunResult {
  passed: number;
  skipped: number;
  failures: TestFailure[];
}

/** Structure of the errors that vitest reports. */
type RunError = Readonly<{ message: string; stack?: string; diff?: string }>;

const root = join(import.meta.dirname, '../../..');
const maxMessageLines = 3;

/**
 * Returns the seed that a title or an error names, such as in "seed 7" and "{ seed: -12, path: …
 * }".
 */
export function seedIn(...texts: string[]): string {
  return /\bseed[ :=]+"?(-?\w+)/.exec(texts.join('\n'))?.[1] ?? '';
}

/**
 * Collects the failed tests of a run with their output, and writes them to the folder
 * `TEST_RUN_DIR`.
 */
export default class RunReporter implements Reporter {
  readonly #folder = process.env.TEST_RUN_DIR ?? join(root, '.cache/test-runs/vitest');
  /** Output of test files by their path. */
  readonly #output = new Map<string, string[]>();
  readonly #result: RunResult = { passed: 0, skipped: 0, failures: [] };

  onTestRunStart(): void {
    mkdirSync(this.#folder, { recursive: true });
  }

  onUserConsoleLog({ content, taskId }: { content: string; taskId?: string }): void {
    // The id of a test begins with the id of its file.
    const fileId = taskId?.split('_')[0] ?? '';
    const lines = this.#output.get(fileId) ?? [];
    lines.push(content);
    this.#output.set(fileId, lines);
  }

  onTestModuleEnd(testModule: TestModule): void {
    for (const test of testModule.children.allTests()) this.#count(test);
    const errors = [...testModule.errors()];
    for (const suite of testModule.children.allSuites()) errors.push(...suite.errors());
    if (errors.length > 0) this.#fail(testModule, '', errors);
    this.#output.delete(testModule.id);
  }

  onTestRunEnd(_modules: unknown, unhandledErrors: readonly RunError[]): void {
    if (unhandledErrors.length > 0) this.#add('', 'unhandled errors', unhandledErrors, []);
    writeFileSync(join(this.#folder, 'result.json'), JSON.stringify(this.#result));
  }

  #count(test: TestCase): void {
    const { state, errors } = test.result();
    if (state === 'passed') this.#result.passed += 1;
    else if (state === 'failed') this.#fail(test.module, test.fullName, errors);
    else this.#result.skipped += 1;
  }

  #fail(testModule: TestModule, title: string, errors: readonly RunError[]): void {
    const file = relative(root, testModule.moduleId);
    this.#add(file, title, errors, this.#output.get(testModule.id) ?? []);
  }

  #add(file: string, title: string, errors: readonly RunError[], output: readonly string[]): void {
    const texts = errors.map(({ message, stack = message, diff = '' }) => `${stack}\n${diff}`);
    const message = stripVTControlCharacters(errors.map((error) => error.message).join('\n'));
    const log = join(this.#folder, `${this.#result.failures.length + 1}.log`);
    writeFileSync(log, [file, title, ...texts, ...output].map(stripVTControlCharacters).join('\n'));
    this.#result.failures.push({
      file,
      title,
      message: message.trim().split('\n').slice(0, maxMessageLines).join('\n'),
      seed: seedIn(title, message),
      log: relative(root, log),
    });
  }
}

import {
  type DescField,
  type DescMessage,
  type DescMethod,
  isFieldSet,
  type Message,
} from '@bufbuild/protobuf';
import { createValidator, type Violation } from '@bufbuild/protovalidate';
import {
  type BytesRules,
  type FieldRules,
  type Int32Rules,
  Int32RulesSchema,
  type Int64Rules,
  Int64RulesSchema,
  type RepeatedRules,
  type StringRules,
} from '../../gen/gleaner/validate/rules_pb.ts';
import { Fault, type Problem } from './fault.ts';
import { isAddress, itemHint } from './item-text.ts';
import { maxProblems, type ProblemText, problemText, quote } from './problem-texts.ts';
import { type Binding, bindingOf, placeOf, restName } from './rest-form.ts';
import { rulesOf } from './rules.ts';

// Patterns come from the project's contract, and the platform's engine is many times faster than
// the validator's.
const validator = createValidator({
  regexMatch: (pattern, text) => compilePattern(pattern).test(text),
});

const patterns = new Map<string, RegExp>();

/** Returns the regular expression of a pattern rule, compiled once. */
function compilePattern(pattern: string): RegExp {
  const cached = patterns.get(pattern);
  if (cached !== undefined) return cached;
  const compiled = new RegExp(pattern, 'u');
  patterns.set(pattern, compiled);
  return compiled;
}

/**
 * Validates a message against the rules of the contract. Returns up to 100 problems in FastAPI's
 * terms, one per `loc`, or none for a valid message. `locationOf` returns the first steps of the
 * `loc` of a top-level field.
 */
export function validateMessage(
  schema: DescMessage,
  message: Message,
  locationOf: (field: DescField) => Problem['loc'] = (field) => ['body', restName(field)],
): Problem[] {
  const result = validator.validate(schema, message);
  if (result.kind === 'valid') return [];
  if (result.kind === 'error') {
    throw new Fault(
      'internal',
      `cannot evaluate the validation rules of ${schema.typeName}: ${result.error.message}`,
      {
        cause: result.error,
      },
    );
  }
  const problems = new Map<string, Problem>();
  for (const violation of result.violations) {
    const problem = toProblem(message, violation, locationOf);
    const key = JSON.stringify(problem.loc);
    if (!problems.has(key)) problems.set(key, problem);
    if (problems.size === maxProblems) break;
  }
  return [...problems.values()];
}

/**
 * Validates a request as validateMessage() does, with each `loc` relative to the method's REST
 * form.
 */
export function problemsOf(method: DescMethod, message: Message): Problem[] {
  let binding: Binding | undefined;
  return validateMessage(method.input, message, (field) => {
    // Computed for invalid requests only.
    binding ??= bindingOf(method);
    return placeOf(binding, field);
  });
}

/**
 * Returns the problems found while reading a message, one per `loc`, and violations of rules
 * elsewhere, in the order of the items. A field that could not be read violates rules as well.
 */
export function mergeProblems(
  found: readonly Problem[],
  violations: readonly Problem[],
): Problem[] {
  const keys = new Map(found.map((problem) => [JSON.stringify(problem.loc), problem]));
  const isCovered = ({ loc }: Problem) =>
    loc.some((_, end) => keys.has(JSON.stringify(loc.slice(0, end + 1))));
  return sortByItem([...keys.values(), ...violations.filter((problem) => !isCovered(problem))]);
}

/**
 * Returns problems in ascending order of the positions in their locations. Fields keep the order of
 * their first problems.
 */
function sortByItem(problems: readonly Problem[], depth = 0): Problem[] {
  const groups = Map.groupBy(problems, ({ loc }) => loc[depth]);
  const here = groups.get(undefined) ?? [];
  groups.delete(undefined);
  const inOrder = [...groups].sort(([a], [b]) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : 0,
  );
  return [...here, ...inOrder.flatMap(([, inside]) => sortByItem(inside, depth + 1))];
}

/**
 * Corrects the locations of the problems in an error thrown by a handler, because handlers locate
 * every field in the body. Returns any other error unchanged.
 */
export function placeProblems(method: DescMethod, thrown: unknown): unknown {
  if (!(thrown instanceof Fault) || thrown.problems.length === 0) return thrown;
  const binding = bindingOf(method);
  const problems = thrown.problems.map((problem) => {
    const [locationOf, name, ...inside] = problem.loc;
    if (locationOf !== 'body') return problem;
    const field = method.input.fields.find((candidate) => restName(candidate) === name);
    if (field) return { ...problem, loc: [...placeOf(binding, field), ...inside] };
    return problem;
  });
  return new Fault(thrown.code, thrown.message, { problems, cause: thrown });
}

function toProblem(
  message: Message,
  violation: Violation,
  locationOf: (field: DescField) => Problem['loc'],
): Problem {
  let loc: Problem['loc'] = ['body'];
  let value: unknown = message;
  let field: DescField | undefined;
  let rules: FieldRules | undefined;
  for (const [depth, step] of violation.field.entries()) {
    if (step.kind === 'field') {
      field = step;
      rules = rulesOf(step);
      loc = depth === 0 ? [...locationOf(step)] : [...loc, restName(step)];
      value = memberOf(value as Message, step);
    } else if (step.kind === 'list_sub') {
      loc.push(step.index);
      value = (value as unknown[])[step.index];
      rules = rules?.type.case === 'repeated' ? rules.type.value.items : undefined;
    } else if (step.kind === 'map_sub') {
      loc.push(String(step.key));
      value = (value as Record<string, unknown>)[String(step.key)];
      rules = undefined;
    }
  }
  return { loc, ...describe(violation, field, rules, value) };
}

function memberOf(message: Message, field: DescField): unknown {
  const values = message as unknown as Record<string, unknown>;
  if (field.oneof === undefined) return values[field.localName];
  const chosen = values[field.oneof.localName] as { case?: string; value?: unknown };
  return chosen.case === field.localName ? chosen.value : undefined;
}

/** Returns the message and type of a violated rule in FastAPI's terms. */
function describe(
  violation: Violation,
  field: DescField | undefined,
  rules: FieldRules | undefined,
  value: unknown,
): ProblemText {
  if (violation.ruleId === 'required') return describeMissing(field, rules);
  const text =
    describeByType(violation, rules, value) ?? problemText.wrong(`Value ${violation.message}`);
  if (field === undefined || typeof value !== 'string') return text;
  const hint = isAddress(value) ? itemHint(field.parent, value) : taskHint(field, value);
  return { ...text, msg: `${text.msg}${hint}` };
}

/** Returns the way from the number of a task to the id of its job, or '' for another value. */
function taskHint(field: DescField, value: string): string {
  const isTask = restName(field) === 'job_id' && /^[0-9]{1,15}$/.test(value);
  return isTask ? `. GET /v1/jobs/${value} returns the job_id of a task` : '';
}

function describeMissing(field: DescField | undefined, rules: FieldRules | undefined): ProblemText {
  if (field?.fieldKind !== 'list' || rules?.type.case !== 'repeated') return problemText.missing();
  const { minItems } = rules.type.value;
  if (minItems > 0n) return problemText.tooFew(minItems, 0);
  return problemText.missing();
}

/** Returns null for a violation of a rule that the field's type does not have. */
function describeByType(
  { ruleId }: Violation,
  rules: FieldRules | undefined,
  value: unknown,
): ProblemText | null {
  const type = rules?.type;
  switch (type?.case) {
    case 'string':
      return describeText(ruleId, type.value, String(value));
    case 'int32':
      return describeNumber(
        type.value,
        isFieldSet(type.value, Int32RulesSchema.field.gte),
        value as number,
      );
    case 'int64':
      return describeNumber(
        type.value,
        isFieldSet(type.value, Int64RulesSchema.field.gte),
        value as bigint,
      );
    case 'repeated':
      if (Array.isArray(value)) return describeList(ruleId, type.value, value.length);
      return null;
    case 'bytes':
      return describeBytes(ruleId, type.value);
    default:
      return null;
  }
}

function describeText(ruleId: string, rules: StringRules, text: string): ProblemText | null {
  if (ruleId === 'string.min_len') return problemText.tooShort(rules.minLen);
  if (ruleId === 'string.max_len') return problemText.tooLong(rules.maxLen);
  if (ruleId === 'string.pattern') return problemText.mismatch(rules.pattern, text);
  if (ruleId === 'string.in') return problemText.notOneOf(rules.in, text);
  if (ruleId.startsWith('string.uuid')) return problemText.notUuid(text);
  if (ruleId.startsWith('string.email'))
    return problemText.wrong(`Value is not a valid email address: ${quote(text)}`);
  return null;
}

function describeNumber(
  { gte, lte }: Int32Rules | Int64Rules,
  hasMinimum: boolean,
  value: number | bigint,
): ProblemText {
  if (hasMinimum && value < gte) return problemText.tooSmall(gte, value);
  return problemText.tooGreat(lte, value);
}

function describeList(
  ruleId: string,
  { minItems, maxItems }: RepeatedRules,
  length: number,
): ProblemText {
  if (ruleId === 'repeated.min_items') return problemText.tooFew(minItems, length);
  return problemText.tooMany(maxItems, length);
}

function describeBytes(ruleId: string, { minLen, maxLen }: BytesRules): ProblemText {
  if (ruleId === 'bytes.min_len')
    return { type: 'bytes_too_short', msg: `Data should have at least ${minLen} bytes` };
  return { type: 'bytes_too_long', msg: `Data should have at most ${maxLen} bytes` };
}

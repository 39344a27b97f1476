import {
  type DescField,
  type DescMessage,
  type DescMethod,
  getOption,
  isFieldSet,
  type Message,
} from '@bufbuild/protobuf';
import { createValidator, type Violation } from '@bufbuild/protovalidate';
import {
  type FieldRules,
  Int32RulesSchema,
  Int64RulesSchema,
  field as rulesOption,
} from '../../gen/buf/validate/validate_pb.ts';
import { default_json as defaultOption } from '../../gen/gleaner/options/v1/options_pb.ts';
import { Fault, type Problem } from './fault.ts';
import { type Binding, bindingOf, restName } from './rest-form.ts';

export { type Binding, bindingOf, restName } from './rest-form.ts';

/** Problems listed in one answer at most (decisions, "422 body"). */
export const maxProblems = 100;

/** Where a field of a request stands, first step of the `loc` of its problems. */
export function placeOf(binding: Binding, field: DescField): Problem['loc'] {
  const name = restName(field);
  if (binding.path.has(field.name)) return ['path', name];
  if (binding.body === '*') return ['body', name];
  return binding.body === field.name ? ['body'] : ['query', name];
}

/** The rules that the contract puts on a field. */
export function rulesOf(field: DescField): FieldRules {
  return getOption(field, rulesOption);
}

/**
 * Tells whether a request without the field is refused: it is required, or its rules refuse the zero
 * that an absent field has, and it declares no default.
 */
export function isRequired(field: DescField): boolean {
  if (getOption(field, defaultOption) !== '') return false;
  const rules = rulesOf(field);
  if (rules.required) return true;
  if (field.oneof !== undefined || field.proto.proto3Optional) return false;
  const { type } = rules;
  switch (type.case) {
    case 'string':
      return (
        type.value.minLen > 0n ||
        type.value.wellKnown.value === true ||
        (type.value.in.length > 0 && !type.value.in.includes('')) ||
        !compile(type.value.pattern).test('')
      );
    case 'int32':
    case 'int64':
      return type.value.gte > 0 || type.value.lte < 0;
    case 'bytes':
      return type.value.minLen > 0n;
    case 'repeated':
      return type.value.minItems > 0n;
    default:
      return false;
  }
}

const patterns = new Map<string, RegExp>();

/** The regular expression of a pattern rule, compiled once. */
function compile(pattern: string): RegExp {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  const compiled = new RegExp(pattern, 'u');
  patterns.set(pattern, compiled);
  return compiled;
}

// Patterns come from our own contract, and the platform's engine is many times faster on them than
// the validator's own.
const validator = createValidator({ regexMatch: (pattern, text) => compile(pattern).test(text) });

/**
 * Checks a message against the rules of the contract: what is wrong with it, up to 100 problems in
 * FastAPI's terms, one per `loc`; empty when all is well. `place` says where a top field stands.
 */
export function validateMessage(
  schema: DescMessage,
  message: Message,
  place: (field: DescField) => Problem['loc'] = (field) => ['body', restName(field)],
): Problem[] {
  const result = validator.validate(schema, message);
  if (result.kind === 'valid') return [];
  if (result.kind === 'error') {
    throw new Fault('internal', `rules of ${schema.typeName} can't be checked: ${result.error.message}`, {
      cause: result.error,
    });
  }
  const problems = new Map<string, Problem>();
  for (const violation of result.violations) {
    const problem = toProblem(message, violation, place);
    const key = JSON.stringify(problem.loc);
    if (!problems.has(key)) problems.set(key, problem);
    if (problems.size === maxProblems) break;
  }
  return [...problems.values()];
}

/** Checks a request of a method: as validateMessage, with each `loc` by the method's REST form. */
export function problemsOf(method: DescMethod, message: Message): Problem[] {
  let binding: Binding | undefined;
  return validateMessage(method.input, message, (field) => {
    // Worked out for a bad request only.
    binding ??= bindingOf(method);
    return placeOf(binding, field);
  });
}

/**
 * What a handler threw, its problems put where their fields stand by the method's REST form: handlers name a
 * field as if all stood in the body. Anything else is given back as it is.
 */
export function placeProblems(method: DescMethod, thrown: unknown): unknown {
  if (!(thrown instanceof Fault) || thrown.problems.length === 0) return thrown;
  const binding = bindingOf(method);
  const problems = thrown.problems.map((problem) => {
    const [place, name, ...inside] = problem.loc;
    if (place !== 'body') return problem;
    const field = method.input.fields.find((known) => restName(known) === name);
    return field ? { ...problem, loc: [...placeOf(binding, field), ...inside] } : problem;
  });
  return new Fault(thrown.code, thrown.message, { problems, cause: thrown });
}

function toProblem(
  message: Message,
  violation: Violation,
  place: (field: DescField) => Problem['loc'],
): Problem {
  let loc: Problem['loc'] = ['body'];
  let value: unknown = message;
  let field: DescField | undefined;
  let rules: FieldRules | undefined;
  for (const [depth, step] of violation.field.entries()) {
    if (step.kind === 'field') {
      field = step;
      rules = rulesOf(step);
      loc = depth === 0 ? [...place(step)] : [...loc, restName(step)];
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

type Said = Pick<Problem, 'msg' | 'type'>;

/** Says a broken rule in FastAPI's words and type. */
function describe(
  violation: Violation,
  field: DescField | undefined,
  rules: FieldRules | undefined,
  value: unknown,
): Said {
  const type = rules?.type;
  if (violation.ruleId === 'required') {
    const least = type?.case === 'repeated' ? type.value.minItems : 0n;
    return field?.fieldKind === 'list' && least > 0n ? said.tooFew(least, 0) : said.missing();
  }
  if (type?.case === 'string') {
    const { minLen, maxLen, pattern } = type.value;
    const text = String(value);
    if (violation.ruleId === 'string.min_len') return said.tooShort(minLen);
    if (violation.ruleId === 'string.max_len') return said.tooLong(maxLen);
    if (violation.ruleId === 'string.pattern') return said.mismatch(pattern, text);
    if (violation.ruleId === 'string.in') return said.notOneOf(type.value.in, text);
    if (violation.ruleId.startsWith('string.uuid')) return said.notUuid(text);
    if (violation.ruleId.startsWith('string.email'))
      return said.wrong(`Value is not a valid email address: ${quote(text)}`);
  }
  if (type?.case === 'int32' || type?.case === 'int64') {
    const { gte, lte } = type.value;
    const given = value as number | bigint;
    const bounded =
      type.case === 'int32'
        ? isFieldSet(type.value, Int32RulesSchema.field.gte)
        : isFieldSet(type.value, Int64RulesSchema.field.gte);
    return bounded && given < gte ? said.tooSmall(gte, given) : said.tooGreat(lte, given);
  }
  if (type?.case === 'repeated' && Array.isArray(value)) {
    const { minItems, maxItems } = type.value;
    return violation.ruleId === 'repeated.min_items'
      ? said.tooFew(minItems, value.length)
      : said.tooMany(maxItems, value.length);
  }
  if (type?.case === 'bytes') {
    if (violation.ruleId === 'bytes.min_len')
      return { type: 'bytes_too_short', msg: `Data should have at least ${type.value.minLen} bytes` };
    return { type: 'bytes_too_long', msg: `Data should have at most ${type.value.maxLen} bytes` };
  }
  return said.wrong(`Value ${violation.message}`);
}

/** Problems in pydantic's types and words, naming the value where there is one. */
export const said = {
  missing: (): Said => ({ type: 'missing', msg: 'Field required' }),
  tooShort: (least: bigint | number): Said => ({
    type: 'string_too_short',
    msg: `String should have at least ${count(least, 'character')}`,
  }),
  tooLong: (most: bigint | number): Said => ({
    type: 'string_too_long',
    msg: `String should have at most ${count(most, 'character')}`,
  }),
  mismatch: (pattern: string, value: string): Said => ({
    type: 'string_pattern_mismatch',
    msg: `String should match pattern '${pattern}', not ${quote(value)}`,
  }),
  notOneOf: (allowed: readonly string[], value: string): Said => ({
    type: 'enum',
    msg: `Input should be ${alternatives(allowed)}, not ${quote(value)}`,
  }),
  notUuid: (value: string): Said => ({
    type: 'uuid_parsing',
    msg: `Input should be a valid UUID, not ${quote(value)}`,
  }),
  tooSmall: (least: bigint | number, value: bigint | number): Said => ({
    type: 'greater_than_equal',
    msg: `Input should be greater than or equal to ${least}, not ${value}`,
  }),
  tooGreat: (most: bigint | number, value: bigint | number): Said => ({
    type: 'less_than_equal',
    msg: `Input should be less than or equal to ${most}, not ${value}`,
  }),
  tooFew: (least: bigint | number, given: number): Said => ({
    type: 'too_short',
    msg: `List should have at least ${count(least, 'item')} after validation, not ${given}`,
  }),
  tooMany: (most: bigint | number, given: number): Said => ({
    type: 'too_long',
    msg: `List should have at most ${count(most, 'item')} after validation, not ${given}`,
  }),
  wrong: (msg: string): Said => ({ type: 'value_error', msg }),
};

/** A value as a message shows it: quoted, cut at 100 characters. */
export function quote(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
}

function count(amount: bigint | number, unit: string): string {
  return `${amount} ${unit}${Number(amount) === 1 ? '' : 's'}`;
}

function alternatives(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  const last = quoted.pop() ?? 'nothing';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}

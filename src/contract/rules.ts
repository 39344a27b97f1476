import { type DescField, getOption, isFieldSet } from '@bufbuild/protobuf';
import { default_json as defaultOption } from '../../gen/gleaner/options/v1/options_pb.ts';
import {
  type FieldRules,
  Int32RulesSchema,
  Int64RulesSchema,
  field as rulesOption,
} from '../../gen/gleaner/validate/rules_pb.ts';

// Reading an option builds a message, and planning a unit needs several (bench/submit.ts).
const rulesOfFields = new WeakMap<DescField, FieldRules>();

/** Returns the validation rules of a field. */
export function rulesOf(field: DescField): FieldRules {
  const cached = rulesOfFields.get(field);
  if (cached !== undefined) return cached;
  const declared = getOption(field, rulesOption);
  rulesOfFields.set(field, declared);
  return declared;
}

/**
 * Returns true if a request without the field is invalid: the field is required, or its rules
 * exclude the zero value of an absent field, and it declares no default.
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
        !new RegExp(type.value.pattern, 'u').test('')
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

/** Returns a bound of an integer field, or undefined if there is none. */
export function boundOf(field: DescField, bound: 'gte' | 'lte'): number | undefined {
  const { type } = rulesOf(field);
  if (type.case === 'int32')
    return isFieldSet(type.value, Int32RulesSchema.field[bound]) ? type.value[bound] : undefined;
  if (type.case === 'int64')
    return isFieldSet(type.value, Int64RulesSchema.field[bound])
      ? Number(type.value[bound])
      : undefined;
  return undefined;
}

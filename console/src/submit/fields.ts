import { type DescField, type DescMessage, getOption, isFieldSet, ScalarType } from '@bufbuild/protobuf';
import {
  Int32RulesSchema,
  Int64RulesSchema,
  field as rulesOption,
} from '../../../gen/buf/validate/validate_pb.ts';
import { comments } from '../../../gen/comments.ts';
import {
  default_json as defaultOption,
  rest_name as restNameOption,
} from '../../../gen/gleaner/options/v1/options_pb.ts';

/** Field of a request, as a form shows it. Values are texts; flags are 'true' and 'false'. */
export interface FieldShape {
  /** Name in REST bodies: "shop_id". */
  name: string;
  /** Description in the contract. */
  description: string;
  type: 'text' | 'choice' | 'integer' | 'flag' | 'file';
  required: boolean;
  /** Allowed values of a choice. */
  choices: readonly string[];
  /** Pattern that texts must match. */
  pattern: RegExp | null;
  /** Maximum length of a text, in characters. */
  maxLength: number | null;
  /** Minimum of an integer. */
  min: number | null;
  /** Maximum of an integer. */
  max: number | null;
  /** Default value as text; '' if there is none. */
  defaultText: string;
}

/** List of units in a request. */
export interface ListShape {
  /** Name in REST bodies: "items". */
  name: string;
  description: string;
  /** Maximum units per request. */
  max: number;
  /** Fields of a unit; null if a unit is a plain text. */
  fields: readonly FieldShape[] | null;
}

/** Fields of a request and its list of units, if it has one. */
export interface RequestShape {
  fields: readonly FieldShape[];
  list: ListShape | null;
}

/** Reads the shape of a request from its descriptor. */
export function readRequestShape(message: DescMessage): RequestShape {
  const lists = message.fields.filter(({ fieldKind }) => fieldKind === 'list');
  return {
    fields: message.fields.filter(({ fieldKind }) => fieldKind !== 'list').map(readField),
    list: lists[0] ? readList(lists[0]) : null,
  };
}

const describe = (field: DescField) => comments[`${field.parent.typeName}.${field.name}`] ?? '';
const restName = (field: DescField) => getOption(field, restNameOption) || field.name;

function readList(field: DescField): ListShape {
  const { type } = getOption(field, rulesOption);
  const max = type.case === 'repeated' ? Number(type.value.maxItems) : 0;
  return {
    name: restName(field),
    description: describe(field),
    max: max || Number.POSITIVE_INFINITY,
    fields: field.message ? field.message.fields.map(readField) : null,
  };
}

function readField(field: DescField): FieldShape {
  const { required, type } = getOption(field, rulesOption);
  const text = type.case === 'string' ? type.value : null;
  const defaultJson = getOption(field, defaultOption);
  return {
    name: restName(field),
    description: describe(field),
    type: fieldType(field, text?.in.length ?? 0),
    required: required || field.scalar === ScalarType.BYTES,
    choices: text?.in ?? [],
    pattern: text?.pattern ? new RegExp(text.pattern) : null,
    maxLength: Number(text?.maxLen ?? 0) || null,
    min: readBound(field, 'gte'),
    max: readBound(field, 'lte'),
    defaultText: defaultJson === '' ? '' : String(JSON.parse(defaultJson)),
  };
}

/** Returns a bound of an integer field; null if the descriptor sets none. */
function readBound(field: DescField, bound: 'gte' | 'lte'): number | null {
  const { type } = getOption(field, rulesOption);
  if (type.case === 'int32')
    return isFieldSet(type.value, Int32RulesSchema.field[bound]) ? type.value[bound] : null;
  if (type.case === 'int64')
    return isFieldSet(type.value, Int64RulesSchema.field[bound]) ? Number(type.value[bound]) : null;
  return null;
}

function fieldType(field: DescField, choices: number): FieldShape['type'] {
  if (choices > 0) return 'choice';
  switch (field.scalar) {
    case ScalarType.BOOL:
      return 'flag';
    case ScalarType.BYTES:
      return 'file';
    case ScalarType.INT32:
    case ScalarType.INT64:
      return 'integer';
    default:
      return 'text';
  }
}

import { type DescField, type DescMessage, getOption } from '@bufbuild/protobuf';
import { form as formOption } from '../../../gen/gleaner/options/v1/options_pb.ts';
import { hasItemText, parseItemText } from '../item-text.ts';
import {
  hasFileUnits,
  hasTextUnits,
  type JobType,
  jobTypes,
  unitFields,
  unitMessage,
} from '../job-types.ts';
import { restName } from '../rest-form.ts';
import { isRequired, rulesOf } from '../rules.ts';

/** Columns that a file of units has. */
export interface UnitColumns {
  /** Job type, for messages: "mkta variant_sold". */
  title: string;
  /** Fields of a unit by their REST names; none if a unit is a string. */
  fields: readonly string[];
  /** Fields that every unit needs. */
  required: readonly string[];
  /** Values that a field takes, by its name. */
  choices: ReadonlyMap<string, readonly string[]>;
  /**
   * Fields that the address of a product stands for; none if the marketplace cannot parse
   * addresses.
   */
  addressFields: readonly string[];
  /** Field of the country or region that an id leaves open; undefined if units have none. */
  regionField: string | undefined;
  /**
   * Parses the id or the address of a product into the fields of a unit. Returns null for other
   * text.
   */
  parseAddress(text: string): Record<string, string> | null;
}

/** Returns the columns of a file with units of a job type. */
export function columnsOf(jobType: JobType): UnitColumns {
  const title = `${jobType.market} ${jobType.kind}`;
  const itemMessage = itemMessageOf(jobType);
  const fields = fieldsOf(jobType, itemMessage);
  const names = fields.map(restName);
  const addressNames = itemMessage === undefined ? null : namesByItemField(itemMessage, names);
  const addressFields = [...(addressNames?.values() ?? [])];
  return {
    title,
    fields: names,
    required: fields.filter(isRequired).map(restName),
    choices: new Map(fields.map((field) => [restName(field), choicesOf(field)])),
    addressFields,
    regionField: addressFields.find((name) => regionNames.includes(name)),
    parseAddress(text) {
      const item = addressNames && parseItemText(itemMessage!, text);
      if (!item) return null;
      return Object.fromEntries(
        Object.entries(item).flatMap(([name, value]) => {
          const unitName = addressNames.get(name);
          return unitName === undefined ? [] : [[unitName, value]];
        }),
      );
    },
  };
}

/** Returns the fields of a unit: its message's fields, or the declared columns of a file. */
function fieldsOf(jobType: JobType, itemMessage: DescMessage | undefined): readonly DescField[] {
  if (!hasFileUnits(jobType)) return unitFields(jobType);
  const { columns } = getOption(jobType.units!, formOption);
  const itemFields = itemMessage?.fields ?? [];
  return columns.map((name) => {
    const field = itemFields.find((itemField) => restName(itemField) === name);
    if (field === undefined) throw new Error(`${jobType.units}: no item has the column ${name}`);
    return field;
  });
}

/** Returns the message that declares how people write the items of the job type's marketplace. */
function itemMessageOf(jobType: JobType): DescMessage | undefined {
  if (hasTextUnits(jobType)) return undefined;
  const ofMarket = jobTypes.filter(({ market }) => market === jobType.market);
  return [jobType, ...ofMarket].map(unitMessage).find(hasItemText);
}

/** Names of the region in requests. */
const regionNames = ['country', 'region', 'site'];

/**
 * Returns the unit's name of each field of an item. Null if units do not identify an item, such as
 * those of a search.
 */
function namesByItemField(
  item: DescMessage,
  unitNames: readonly string[],
): Map<string, string> | null {
  const regionName = unitNames.find((name) => regionNames.includes(name));
  const names = new Map<string, string>();
  for (const field of item.fields) {
    const name = restName(field);
    const unitName = regionNames.includes(name)
      ? regionName
      : unitNames.find((other) => other === name);
    if (unitName !== undefined) names.set(name, unitName);
    else if (isRequired(field)) return null;
  }
  return names;
}

/** Returns the values that a field takes; none if it takes any text. */
export function choicesOf(field: DescField): readonly string[] {
  const { type } = rulesOf(field);
  return type.case === 'string' ? type.value.in : [];
}

import { type DescMessage, getOption } from '@bufbuild/protobuf';
import { item_pattern as patternOption } from '../../gen/gleaner/options/v1/options_pb.ts';

/** Returns true if a message declares how people write the id or the address of its item. */
export const hasItemText = (message: DescMessage): boolean =>
  getOption(message, patternOption) !== '';

/**
 * Parses the id or the address of an item, as people write it, into fields of its message by their
 * REST names. Returns null if the text does not have the form that the message declares.
 */
export function parseItemText(message: DescMessage, text: string): Record<string, string> | null {
  const pattern = getOption(message, patternOption);
  const groups = pattern === '' ? undefined : new RegExp(pattern).exec(text.trim())?.groups;
  if (groups === undefined) return null;
  return Object.fromEntries(Object.entries(groups).filter(([, value]) => value !== undefined));
}

import { Fault } from './fault.ts';

/** Maximum number of objects and arrays in a JSON body, and of fields at the top of a binary one. */
const maxMessages = 120_000;

/** Maximum number of braces, brackets, colons and commas in a JSON body. */
const maxJsonTokens = 1_200_000;

/**
 * Throws `too_large` for a JSON body with more values than any valid request has. Called before the body is parsed:
 * 16 MB of `{},` take seconds and hundreds of megabytes to parse. 50,000 items of eight fields are accepted.
 */
export function checkJsonSize(body: Uint8Array): void {
  let opening = 0;
  let separators = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === 0x7b || byte === 0x5b) opening += 1;
    else if (byte === 0x2c || byte === 0x3a) separators += 1;
  }
  if (opening > maxMessages || opening + separators > maxJsonTokens) throw tooMany();
}

/** Checks like checkJsonSize(), for a binary Protobuf message. Stops at a malformed field, which the parser reports. */
export function checkBinarySize(body: Uint8Array): void {
  let fields = 0;
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = body[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < body.length) {
    fields += 1;
    if (fields > maxMessages) throw tooMany();
    const wireType = varint() & 7;
    if (wireType === 0) varint();
    else if (wireType === 1) at += 8;
    else if (wireType === 2) at += varint();
    else if (wireType === 5) at += 4;
    else return;
  }
}

function tooMany(): Fault {
  return new Fault('too_large', 'The body has more values than a request can have.');
}

/** Returns the fault for a body of more than `limit` bytes. */
export function bodyTooLarge(limit: number): Fault {
  return new Fault('too_large', `The body is larger than ${limit} bytes`);
}

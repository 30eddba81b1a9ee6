/** The values of each field of a protobuf message: numbers of varints and fixed integers, or bytes. */
export type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

/** Decodes one message, whose embedded messages stay bytes. @throws RangeError if it is cut off */
export function fieldsOf(message: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const bytes = (length: number): Buffer => {
    at += length;
    if (at > message.length) throw new RangeError('the message is cut off');
    return message.subarray(at - length, at);
  };
  const valueOf = (wireType: number): bigint | Buffer => {
    switch (wireType) {
      case 0:
        return varint();
      case 1:
        return bytes(8).readBigUInt64LE();
      case 2:
        return bytes(Number(varint()));
      case 5:
        return BigInt(bytes(4).readUInt32LE());
      default:
        throw new RangeError(`wire type ${wireType} is not supported`);
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const values = fields.get(tag >> 3) ?? [];
    values.push(valueOf(tag & 7));
    fields.set(tag >> 3, values);
  }
  return fields;
}

export const messagesIn = (fields: Fields, field: number): Fields[] =>
  (fields.get(field) ?? []).map((value) => fieldsOf(value as Buffer));

export const bytesIn = (fields: Fields, field: number): Buffer =>
  (fields.get(field)?.[0] as Buffer | undefined) ?? Buffer.alloc(0);

export const integerIn = (fields: Fields, field: number): bigint =>
  (fields.get(field)?.[0] as bigint | undefined) ?? 0n;

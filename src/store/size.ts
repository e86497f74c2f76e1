/** In bytes, roughly, what an entry takes: strings at two bytes a character, and the entry itself. */
export function sizeOfEntry (key: string, value: unknown): number {
  return 200 + 2 * key.length + sizeOf(value)
}

function sizeOf (value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength
  const json: string | undefined = JSON.stringify(value)
  return 2 * (json?.length ?? 0)
}

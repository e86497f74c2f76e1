/** In bytes, roughly, what an entry takes: strings at two bytes a character, and the entry itself. */
export function sizeOfEntry(key: string, value: unknown): number {
  return 200 + 2 * key.length + sizeOf(value)
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 2 * value.length
  if (!isObject(value)) return 8
  if (ArrayBuffer.isView(value)) return value.byteLength
  let size = 16
  // Neither by Object.entries, which makes an array of each, nor a list's members by their names, which are made for that.
  if (Array.isArray(value)) {
    for (const member of value) size += 8 + sizeOf(member)
  } else {
    for (const key in value) size += 2 * key.length + sizeOf(value[key])
  }
  return size
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** What one cache holds. */
export const defaultBounds = { maxEntries: 100_000, maxBytes: 64 * 1024 * 1024 }

/** The approximate size of an entry in bytes, at two bytes per character. */
export function sizeOfEntry(key: string, value: unknown): number {
  return 200 + 2 * key.length + sizeOf(value)
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 2 * value.length
  if (typeof value !== 'object' || value === null) return 8
  if (ArrayBuffer.isView(value)) return value.byteLength
  return Object.entries(value).reduce((size, [key, member]) => size + 2 * key.length + sizeOf(member), 16)
}

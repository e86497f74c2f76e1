/** In bytes, roughly, what an entry takes: strings at two bytes a character, and the entry itself. */
export function sizeOfEntry (key: string, value: unknown): number {
  const json: string | undefined = JSON.stringify(value)
  return 200 + 2 * (key.length + (json?.length ?? 0))
}

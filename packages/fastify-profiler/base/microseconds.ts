/** Rounds milliseconds to microseconds. More digits mean nothing, and are slow to write and parse. */
export function toMicroseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}

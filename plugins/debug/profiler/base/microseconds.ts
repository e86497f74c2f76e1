/** Milliseconds as exact as they get. More digits would say nothing, and writing and reading them is dear. */
export function toMicroseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}

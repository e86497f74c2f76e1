/** The name of a label as a heading has it. */
export function titled(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

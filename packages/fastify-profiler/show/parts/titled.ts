/** The name of a label with a capital first letter, for headings. */
export function titled(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

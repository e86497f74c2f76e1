/** The same text, in memory of its own: what is cut out of another one keeps all of that. */
export function ownText (text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}

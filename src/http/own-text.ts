// Bounds memory: 6,000 hosts that were cut out of long targets held 92 MB, since V8 keeps the text that a part came from.
/** The same text, in memory of its own: what is cut out of another one keeps all of that. */
export function ownText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}

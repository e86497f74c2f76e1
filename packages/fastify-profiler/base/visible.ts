// eslint-disable-next-line no-control-regex -- control characters are made visible
const invisible = /\r(?!\n)|[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g

/** Characters that nobody sees, of which some can spell sentences, or that end a line for some readers. */
export const unseen = /[\x7f-\x9f\u2028\u2029\ufff9-\ufffb\p{Default_Ignorable_Code_Point}]/gu

/**
 * Makes invisible characters visible: control characters of ASCII (a CR only without its LF) as their Unicode pictures,
 * others (C1, bidirectional) as \uXXXX. Otherwise text could read differently from what was sent, or control terminals.
 */
export function visible(text: string): string {
  return text.replace(invisible, picture)
}

function picture(character: string): string {
  const code = character.charCodeAt(0)
  if (code === 0x7f) return '\u2421'
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return `\\u${code.toString(16).padStart(4, '0')}`
}

// eslint-disable-next-line no-control-regex -- finding them is what this file is for
const invisible = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]/g

/**
 * Text whose invisible characters are shown: control characters as pictures, those that reorder text as their
 * number, so that what is read is what was sent (a bidirectional override can make code read as other code).
 */
export function visible(text: string): string {
  return text.replace(invisible, picture)
}

function picture(character: string): string {
  const code = character.charCodeAt(0)
  if (code === 0x7f) return '\u2421'
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return `\\u${code.toString(16)}`
}

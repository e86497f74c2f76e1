// eslint-disable-next-line no-control-regex -- control characters are made visible
const invisible = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]/g

/**
 * Makes invisible characters visible: control characters as their Unicode pictures, bidirectional controls as \uXXXX.
 * Otherwise text could read differently from what was sent.
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

import { unseen } from '../base/visible.ts'

/** A value as JSON that controls no terminal, since characters that nobody sees are escaped: `\u009b`. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value ?? null).replace(unseen, characters => characters.split('').map(escaped).join(''))
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

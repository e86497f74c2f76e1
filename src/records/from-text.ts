import type { TSchema } from 'typebox'
import { isNullable, valueOf } from './keywords.ts'

/**
 * Converts text to the JSON value of a field, on the command line, in CSV and in queries: "true" and "false" to a
 * boolean, digits to a number, comma-separated items to an array, and "none" or nothing to null.
 * Text that cannot be converted is returned as it is, and the validator refuses it.
 */
export function fromText(field: TSchema | undefined, text: string): unknown {
  if (isNullable(field) && (text === 'none' || text === '')) return null
  const { type, anyOf = [] } = valueOf(field)
  switch (type) {
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : text)
    case 'integer':
      // A greater number would be rounded.
      return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text
    case 'number':
      return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
    case 'array':
      return text
        .split(',')
        .map(item => item.trim())
        .filter(item => item !== '')
    default:
      return anyOf.map(member => fromText(member, text)).find(value => value !== text) ?? text
  }
}

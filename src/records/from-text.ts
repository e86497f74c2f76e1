import type { TObject } from 'typebox'
import { keywordsOf } from './keywords.ts'

/**
 * Converts text to the JSON value of a field: "true" and "false" to a boolean, and comma-separated items to an array.
 * Text that cannot be converted is returned as it is, and the validator refuses it.
 */
export function fromText({ properties }: TObject, field: string, text: string): unknown {
  switch (keywordsOf(properties[field]).type) {
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : text)
    case 'array':
      return text
        .split(',')
        .map(item => item.trim())
        .filter(item => item !== '')
    default:
      return text
  }
}

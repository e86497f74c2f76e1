import type { TObject } from 'typebox'
import { keywordsOf } from './keywords.ts'

/**
 * What somebody wrote as text, as the JSON value that the field is of: true and false where it is a flag, items between
 * commas where it is a list. What is neither stays text, for the validator to refuse.
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

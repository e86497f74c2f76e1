import type { TSchema } from 'typebox'

/** The JSON Schema keywords that are read from a field. TypeBox's TSchema does not declare them. */
export interface Keywords {
  type?: unknown
  format?: unknown
  description?: unknown
}

/** The keywords of a field's schema, or none if the field does not exist. */
export function keywordsOf(schema: (TSchema & Keywords) | undefined): Keywords {
  return { ...schema }
}

import type { TSchema } from 'typebox'

/** The keywords of JSON Schema that are read of a field; TypeBox's types leave them out of a schema of any kind. */
export interface Keywords {
  type?: unknown
  format?: unknown
  description?: unknown
}

/** The keywords of a field's schema. A field that does not exist has none. */
export function keywordsOf(schema: (TSchema & Keywords) | undefined): Keywords {
  return schema ?? {}
}

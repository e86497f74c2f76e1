import type { TSchema } from 'typebox'

/** The JSON Schema keywords that are read from a field. TypeBox's TSchema does not declare them. */
export interface Keywords {
  type?: unknown
  format?: unknown
  description?: unknown
  readOnly?: unknown
  anyOf?: readonly (TSchema & Keywords)[]
  properties?: Readonly<Record<string, TSchema>>
}

/** Whether a field may be null: it has "null" among its types, or is a union with it. */
export function isNullable(schema: TSchema | undefined): boolean {
  const { type, anyOf = [] } = keywordsOf(schema)
  return [type].flat().includes('null') || anyOf.some(isNullable)
}

/** The keywords of a field's schema, or none if the field does not exist. */
export function keywordsOf(schema: (TSchema & Keywords) | undefined): Keywords {
  return { ...schema }
}

/** The keywords of a field's values that are not null. A union of several schemas besides null stays a union. */
export function valueOf(schema: TSchema | undefined): TSchema & Keywords {
  const { anyOf = [], ...keywords } = keywordsOf(schema)
  const [type] = [keywords.type].flat().filter(name => name !== 'null')
  const values = anyOf.filter(member => member.type !== 'null')
  if (values.length > 1) return { ...keywords, type, anyOf: values }
  return { ...keywords, type, ...values.map(valueOf)[0] }
}

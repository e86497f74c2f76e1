import { type TProperties, type TSchema, Type } from 'typebox'
import { prefix } from './fields.ts'
import { isNullable, type Keywords, valueOf } from './keywords.ts'
import type { Filter } from './record-kind.ts'

/** The formats of columns that people search by their beginning. */
const searched: readonly unknown[] = ['line', 'host', 'language-tag', 'email']

/**
 * The filters of a kind's columns: "name" for its value and "name_prefix" for how it begins. A column can be asked for
 * even if it cannot be written.
 */
export function columnFilters(fields: TProperties, links: Readonly<Record<string, unknown>>): Record<string, Filter> {
  const columns = Object.entries(fields).filter(([name]) => !(name in links))
  return Object.fromEntries(
    columns.flatMap(([name, field]): [string, Filter][] => {
      const { readOnly, ...value } = valueOf(field)
      const whole: [string, Filter] = [name, { schema: isNullable(field) ? orNone(value) : value }]
      if (!searched.includes(value.format)) return [whole]
      return [whole, [`${name}_prefix`, { schema: prefix(`How the ${name} begins. Case is ignored.`), prefixOf: name }]]
    }),
  )
}

/** Asks for null, too, which fromText reads. */
function orNone({ description, ...value }: TSchema & Keywords): TSchema {
  return Type.Union([value, Type.Null()], {
    description: `${String(description)} "none" or nothing finds the records that have none.`,
  })
}

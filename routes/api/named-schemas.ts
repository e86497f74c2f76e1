import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'

/** Keys whose values are data, not schemas. */
const data = new Set(['example', 'examples', 'default', 'enum'])

/** What @fastify/swagger hands over. Its type allows for Swagger 2, too. */
interface Made {
  openapiObject?: FastifyDynamicSwaggerOptions['openapi']
  swaggerObject?: unknown
}

/**
 * Moves every schema with a title from the paths of an OpenAPI document to components.schemas, and refers to it there.
 * A route names a schema by its title, and schemas with the same title have to be the same. Also says how a query
 * writes null.
 */
export function nameSchemas({ openapiObject }: Made) {
  const schemas: Record<string, unknown> = {}
  const paths = named(openapiObject?.paths)
  return Object.assign({}, openapiObject, { paths, components: { ...openapiObject?.components, schemas } })

  function named(part: unknown, isWithinQuery = false): unknown {
    if (Array.isArray(part)) return part.map(item => named(item, isWithinQuery))
    if (typeof part !== 'object' || part === null) return part
    const isQuery = isWithinQuery || ('in' in part && part.in === 'query')
    // A query has text only. fromText() reads null from it.
    if (isQuery && 'type' in part && part.type === 'null') return { const: 'none' }
    const namedIn = ([key, value]: [string, unknown]) => [key, data.has(key) ? value : named(value, isQuery)] as const
    const copy: Record<string, unknown> = Object.fromEntries(Object.entries(part).map(namedIn))
    const { title } = copy
    if (typeof title !== 'string') return copy
    schemas[title] = copy
    return { $ref: `#/components/schemas/${title}` }
  }
}

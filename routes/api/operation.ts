import { camelCase } from '../../src/records/distinct-kinds.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'

/**
 * Names a route in the documentation.
 * @param object what it acts on: the kind's name or, for several records, its plural
 */
export function operation(verb: string, kind: RecordKind, object: string, description: string) {
  const number = object === kind.name ? 'one ' : ''
  return {
    tags: [kind.plural],
    operationId: verb + camelCase(object),
    summary: `${camelCase(verb)} ${number}${object}`,
    description,
  }
}

/** Says who may read these records. */
export function readersOf({ open, plural }: RecordKind): string {
  return open ? `Visitors see only the ${plural} of the site's license. Admins see all.` : 'For admins.'
}

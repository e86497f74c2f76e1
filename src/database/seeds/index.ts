import type { Migration } from 'kysely'
import * as demonstration from './0001-demonstration.ts'

/** The demonstration records, which the embedded database gets on its first start. */
export const seeds: Record<string, Migration> = {
  '0001-demonstration': demonstration,
}

import type { Migrations } from '../migration.ts'
import * as demonstration from './0001-demonstration.ts'

/** The demonstration records, which the embedded database gets on its first start. */
export const seeds: Migrations = {
  '0001-demonstration': demonstration,
}

import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { EntitySegment } from '../cache/entity-segment.ts'
import type { EntityCache } from '../cache/entity-cache.ts'

/** A group that a user belongs to. */
export interface Membership {
  readonly id: string
  readonly name: string
  /** The license that the group belongs to, whose site it may enter. */
  readonly license_id: string
}

const metadata = {
  table: 'user_groups',
  columns: ['id', 'name', 'license_id'],
  key: 'user_id',
  joins: ['groups'],
} as const

/** The groups of a user across all licenses. */
export function membershipsByUser(db: Kysely<Tables>, cache: EntityCache): EntitySegment<readonly Membership[]> {
  return cache.segment(metadata, async userId =>
    Object.freeze(
      await db
        .selectFrom('user_groups')
        .innerJoin('groups', 'groups.id', 'user_groups.group_id')
        .select(metadata.columns)
        .where('user_id', '=', userId)
        .orderBy('id')
        .execute(),
    ),
  )
}

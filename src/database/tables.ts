import type { ColumnType, Generated } from 'kysely'

/** A bigint as text, because a JavaScript number holds only 53 bits. */
type Id = Generated<string>
type Timestamp = ColumnType<Date, Date | undefined, Date>

export interface Tables {
  license_types: { id: Id; type: string }
  licenses: {
    id: Id
    domain: string
    name: string
    protected: Generated<boolean>
    created_at: Timestamp
    updated_at: Timestamp
    type_id: string | null
  }
  /** code is a BCP 47 language tag. */
  languages: { id: Id; code: string; name: string }
  /** position 0 is the license's default language. */
  license_languages: { license_id: string; language_id: string; position: number }
  museums: { id: Id; license_id: string; name: string }
  platforms: { id: Id; name: string }
  license_platforms: { license_id: string; platform_id: string }
  groups: { id: Id; license_id: string; name: string }
  users: { id: Id; email: string; password_hash: string; admin: Generated<boolean> }
  user_groups: { user_id: string; group_id: string }
  /** Sessions that were signed out of, kept until their cookies expire. */
  ended_sessions: { session: string; expires_at: ColumnType<Date, Date, Date> }
  /** Sign-in attempts until a counter expires. All keys with the same hash share a counter. */
  sign_in_attempts: { counter: number; attempts: number; expires_at: ColumnType<Date, Date, Date> }
}

import type { Generated } from 'kysely'

/** A bigint as text, because a JavaScript number holds only 53 bits. */
type Id = Generated<string>

export interface Tables {
  license_types: { id: Id; type: string }
  licenses: {
    id: Id
    domain: string
    name: string
    protected: Generated<boolean>
    created_at: Generated<Date>
    updated_at: Generated<Date>
    type_id: string | null
    /** Null: it has always been valid. */
    valid_from: Generated<Date | null>
    /** When it ceases to be valid. Null: never. */
    valid_until: Generated<Date | null>
    suspended: Generated<boolean>
  }
  /** code is a BCP 47 language tag. */
  languages: { id: Id; code: string; name: string }
  /** position 0 is the license's default language. */
  license_languages: { license_id: string; language_id: string; position: number }
  /** url is the museum's own site. */
  museums: { id: Id; license_id: string; name: string; url: Generated<string | null> }
  platforms: { id: Id; name: string }
  license_platforms: { license_id: string; platform_id: string }
  groups: { id: Id; license_id: string; name: string }
  users: { id: Id; email: string; password_hash: string; admin: Generated<boolean> }
  /** hash is the SHA-256 of the token's bytes. */
  api_tokens: {
    id: Id
    user_id: string
    name: string
    hash: string
    read_only: Generated<boolean>
    created_at: Generated<Date>
    last_used_at: Date | null
    expires_at: Date | null
  }
  /** Links to choose a new password. fingerprint is that of the password when the link was made. */
  password_resets: { user_id: string; hash: string; fingerprint: string; expires_at: Date }
  user_groups: { user_id: string; group_id: string }
  /** Sessions that were signed out of, kept until their cookies expire. */
  ended_sessions: { session: string; expires_at: Date }
  /** Sign-in attempts until a counter expires. All keys with the same hash share a counter. */
  sign_in_attempts: { counter: number; attempts: number; expires_at: Date }
  /** Who changed what. Lines are added and never changed. */
  audit: {
    id: Id
    at: Generated<Date>
    user_id: string | null
    token_id: string | null
    actor: string | null
    via: 'api' | 'command'
    table: string
    record_id: string
    action: 'add' | 'change' | 'remove'
    before: unknown
    after: unknown
  }
}

import { type Kysely, sql } from 'kysely'

/** Creates the table of links by which users choose a new password. Each works once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table password_resets (
      -- A new link replaces the user's last one.
      user_id bigint primary key references users on delete cascade,
      -- SHA-256, in hexadecimal.
      hash text not null unique constraint password_resets_hash_is_a_digest check (hash ~ '^[0-9a-f]{64}$'),
      -- Of the password when the link was made. Another password ends the link.
      fingerprint text not null,
      -- An hour after the link was made.
      expires_at timestamptz not null
    )`.execute(db)
}

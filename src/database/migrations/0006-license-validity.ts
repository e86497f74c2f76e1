import { type Kysely, sql } from 'kysely'

/** Lets a license begin, end and be suspended. Null means always. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table licenses
      add column valid_from timestamptz,
      -- The license is no longer valid at this time.
      add column valid_until timestamptz,
      add column suspended boolean not null default false,
      add constraint licenses_valid_until_is_after_valid_from check (valid_until > valid_from),
      -- The years that ISO 8601 can write, which leaves out the infinite times.
      add constraint licenses_valid_from_has_four_digits
        check (valid_from >= '0001-01-01T00:00:00Z' and valid_from < '10000-01-01T00:00:00Z'),
      add constraint licenses_valid_until_has_four_digits
        check (valid_until >= '0001-01-01T00:00:00Z' and valid_until < '10000-01-01T00:00:00Z')`.execute(db)
}

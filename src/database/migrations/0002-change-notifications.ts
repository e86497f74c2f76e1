import { type Kysely, sql } from 'kysely'

/** The column of each table that is a key of the entity cache. Null if rows are cached under several keys. */
const keys: Record<string, string | null> = {
  license_types: null,
  licenses: 'domain',
  languages: null,
  license_languages: 'license_id',
  museums: 'license_id',
  platforms: null,
  license_platforms: 'license_id',
  groups: 'license_id',
}

/**
 * Makes every statement that changes rows notify the channel portico_changes: with "<table> <key>" for each key that it
 * touched, or with "<table>" if the table has no key column or more than 100 keys were touched.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function notify_change() returns trigger language plpgsql as $$
    declare
      touched text;
      keys text[];
    begin
      if tg_nargs = 0 or tg_op = 'TRUNCATE' then
        perform pg_notify('portico_changes', tg_table_name);
        return null;
      end if;
      touched := case tg_op
        when 'INSERT' then format('select %1$I::text as key from new_rows', tg_argv[0])
        when 'DELETE' then format('select %1$I::text as key from old_rows', tg_argv[0])
        else format('select %1$I::text as key from old_rows union select %1$I::text from new_rows', tg_argv[0])
      end;
      execute format('select array(select distinct key from (%s) as touched limit 101)', touched) into keys;
      if cardinality(keys) > 100 then
        perform pg_notify('portico_changes', tg_table_name);
      else
        perform pg_notify('portico_changes', tg_table_name || ' ' || key) from unnest(keys) as key;
      end if;
      return null;
    end
    $$`.execute(db)
  for (const [table, key] of Object.entries(keys)) await addChangeTriggers(db, table, key)
}

/** Adds triggers that announce a table's changes by its key column, or as a whole if the key is null. */
export async function addChangeTriggers(db: Kysely<unknown>, table: string, key: string | null): Promise<void> {
  const notify = key === null ? sql`notify_change()` : sql`notify_change(${sql.lit(key)})`
  const events = [
    ['insert', 'referencing new table as new_rows'],
    ['update', 'referencing old table as old_rows new table as new_rows'],
    ['delete', 'referencing old table as old_rows'],
    ['truncate', ''],
  ] as const
  for (const [event, referencing] of events) {
    await sql`
      create trigger ${sql.id(`${table}_notify_${event}`)} after ${sql.raw(event)} on ${sql.table(table)} ${sql.raw(referencing)}
      for each statement execute function ${notify}`.execute(db)
  }
}

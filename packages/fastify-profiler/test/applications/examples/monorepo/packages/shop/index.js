import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.POSTGRES_URL })

/** Only this package depends on pg. */
export async function itemsOf(shop) {
  const { rows } = await pool.query('select $1::text as item', [`Poster of ${shop}`]) // query
  return rows
}

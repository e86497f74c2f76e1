import Fastify from 'fastify'
import createKnex from 'knex'
import mysql from 'mysql2/promise'

/** knex on mysql2, and mysql2 by itself. */
const app = Fastify()
const knex = createKnex({ client: 'mysql2', connection: process.env.MYSQL_URL })
const pool = mysql.createPool(process.env.MYSQL_URL)

app.get('/tables', async () => {
  return await knex('information_schema.tables').select('table_name as name').limit(2) // query
})
app.get('/engines', async () => {
  const [rows] = await pool.query('select engine from information_schema.engines where engine = ?', ['MEMORY']) // query
  return rows
})
app.get('/both', async () => {
  return await knex.transaction(async transaction => {
    const [[row]] = await transaction.raw('select 1 as one') // query
    return row
  })
})

console.log(await app.listen({ port: Number(process.env.PORT) }))

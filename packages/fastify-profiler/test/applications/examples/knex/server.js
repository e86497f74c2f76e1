import Fastify from 'fastify'
import createKnex from 'knex'
import mysql from 'mysql2/promise'
import { DataTypes, Sequelize } from 'sequelize'

/** knex and Sequelize on mysql2, and mysql2 by itself. */
const app = Fastify()
const knex = createKnex({ client: 'mysql2', connection: process.env.MYSQL_URL })
const pool = mysql.createPool(process.env.MYSQL_URL)
const sequelize = new Sequelize(new URL('/mysql', process.env.MYSQL_URL).href, { logging: false })
const Museum = sequelize.define('museum', { name: DataTypes.STRING }, { timestamps: false })

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
app.get('/sequelize', async () => {
  return await sequelize.query('select 1 as one', { type: 'SELECT' }) // query
})
app.post('/models', async () => {
  return await sequelize.transaction(async transaction => {
    await sequelize.query('create temporary table museums (id serial, name text)', { transaction }) // query
    const { id } = await Museum.create({ name: 'Louvre' }, { transaction }) // query
    await Museum.update({ name: 'Uffizi' }, { where: { id }, transaction }) // query
    const museums = await Museum.findAll({ transaction }) // query
    await sequelize.query('drop temporary table museums', { transaction }) // query
    return museums
  })
})

console.log(await app.listen({ port: Number(process.env.PORT) }))
